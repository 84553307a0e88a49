// Bundles the program into dist/: its start-up file, the library, and chunks that load when they are
// first needed. With --types also the declarations of the library, as `npm pack` needs them; without
// it those that are there are kept true.
import { execFileSync } from 'node:child_process';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const top = import.meta.dirname;

/**
 * Modules that the bundle would read at every start and never use: the JSON Schema validator of the
 * SDK, which only elicitation needs, and the error texts of zod in fifty languages.
 *
 * @type {import('esbuild').Plugin}
 */
const leaveOut = {
  name: 'leave-out',
  setup({ onLoad }) {
    onLoad({ filter: /sdk\/dist\/esm\/validation\/ajv-provider\.js$/ }, () => ({
      contents: 'export class AjvJsonSchemaValidator {}',
    }));
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * Bundles a program and its chunks into a folder, which is emptied first but for declarations.
 *
 * @param {string | Record<string, string>} entryPoints one file, or files by the name of the bundle.
 * @param {string} outdir
 * @returns the files of the sources that are in the bundle, relative to the repository.
 */
export async function bundle(entryPoints, outdir) {
  for (const name of await readdir(outdir).catch(() => [])) {
    if (name !== 'types') await rm(join(outdir, name), { recursive: true });
  }
  const { metafile } = await build({
    entryPoints: typeof entryPoints === 'string' ? [entryPoints] : entryPoints,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    // Node has had them for long; without this, each use of one would make its expression anew.
    supported: { 'regexp-unicode-property-escapes': true },
    format: 'esm',
    sourcemap: true,
    // A stack needs names and lines only; the text of every source would triple the package.
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
    plugins: [leaveOut],
    // Its other form asks for its parts in a way that no bundler follows.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    logLevel: 'warning',
    absWorkingDir: top,
    // CommonJS packages in an ES module bundle ask for `require` of node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  return Object.keys(metafile.inputs);
}

/**
 * What the licences of bundled packages ask to be told along with them.
 *
 * @param {readonly string[]} inputs the files in the bundle.
 */
async function notices(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
  );
  const told = await Promise.all(
    [...folders].map(async (folder) => {
      const path = join(top, folder);
      const { name, version, license } = JSON.parse(
        await readFile(join(path, 'package.json'), 'utf8'),
      );
      const files = (await readdir(path)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
      const texts = files.sort().map((file) => readFile(join(path, file), 'utf8'));
      const lines = [`${name} ${version} (${license})`, ...(await Promise.all(texts))];
      return lines.map((text) => text.replaceAll('\r\n', '\n').trim()).join('\n\n');
    }),
  );
  const about = 'dist/ holds code of these packages, each under its own licence.';
  return `${[about, ...told.sort()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/**
 * Writes the declarations of a source file, and of those that they import, into a folder.
 *
 * @param {string} name of the file, relative to src/.
 * @param {string} outdir
 */
export async function writeTypes(name, outdir) {
  const folder = await mkdtemp(join(tmpdir(), 'memory-bank-types-'));
  try {
    const config = {
      extends: join(top, 'tsconfig.json'),
      compilerOptions: {
        noEmit: false,
        emitDeclarationOnly: true,
        declaration: true,
        rootDir: join(top, 'src'),
        outDir: folder,
        typeRoots: [join(top, 'node_modules/@types')],
      },
      files: [join(top, 'src', name)],
      include: [],
    };
    const project = join(folder, 'tsconfig.json');
    await writeFile(project, JSON.stringify(config));
    const { resolve } = createRequire(import.meta.url);
    const tsc = join(dirname(resolve('typescript/package.json')), 'bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
    const wanted = [name];
    for (const file of wanted) {
      const text = await readFile(join(folder, file.replace(/\.ts$/, '.d.ts')), 'utf8');
      const target = join(outdir, file.replace(/\.ts$/, '.d.ts'));
      await mkdir(dirname(target), { recursive: true });
      // Beside a declaration lies no source, but what was made of it.
      await writeFile(target, text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
      for (const [, path = ''] of text.matchAll(/from '(\.[^']*\.ts)'/g)) {
        const other = join(dirname(file), path);
        if (!wanted.includes(other)) wanted.push(other);
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Whether a source has changed since its declarations in a folder were written.
 *
 * @param {string} folder
 */
async function areStale(folder) {
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
    const { mtimeMs: written } = await stat(join(folder, file));
    const source = await stat(join(top, 'src', file.replace(/\.d\.ts$/, '.ts'))).catch(() => null);
    if (!source || source.mtimeMs > written) return true;
  }
  return false;
}

/**
 * Makes everything that is in dist/.
 *
 * @param {string} outdir
 * @param {boolean} withTypes whether to write declarations where there are none.
 */
export async function make(outdir, withTypes) {
  const inputs = await bundle({ cli: 'src/cli/cli.ts', library: 'src/app/library.ts' }, outdir);
  await copyFile(join(top, 'src/cli/main.cjs'), join(outdir, 'main.cjs'));
  await chmod(join(outdir, 'main.cjs'), 0o755);
  await writeFile(join(outdir, 'THIRD-PARTY.txt'), await notices(inputs));
  const types = join(outdir, 'types');
  if (!withTypes && !(await areStale(types))) return;
  await rm(types, { recursive: true, force: true });
  await writeTypes('app/library.ts', types);
}

if (process.argv[1] === import.meta.filename) {
  await make(join(top, 'dist'), process.argv.includes('--types'));
}
