// Builds the program into dist/builds/<id>/ and then makes it the current build.
//
// The id is a hash of everything that a build depends on, so what has not changed is not built again. A
// process that runs an older build keeps its files. With --types it also writes the declarations of the
// library, as `npm pack` needs them; without it, declarations that exist are kept up to date.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const top = import.meta.dirname;

/**
 * A build that was neither current nor in use for this long is removed, in milliseconds.
 *
 * A server touches the folder of its build every hour (`src/cli/process/build-lease.ts`).
 */
const lease = 24 * 60 * 60 * 1000;

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
 * Leaves out the message schemas of the SDK that nothing uses: to make them takes a fifth of a start.
 *
 * A bundler keeps a constant that a call returns, unless a comment says that the call has no other effect.
 *
 * @type {import('esbuild').Plugin}
 */
const usedSchemas = {
  name: 'used-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /sdk\/dist\/esm\/types\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const constant =
        /^((?:export )?const \w+ = )([\s\S]*?);$(?=\n(?:export|const|function|\/))/gm;
      return { contents: text.replace(constant, '$1/* @__PURE__ */ (() => $2)();') };
    });
  },
};

/**
 * Modules of Node.js that load many others, and the functions of them that the program uses.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const lazyFunctions = {
  'node:child_process': ['spawn', 'spawnSync'],
  'node:crypto': [
    'createHash',
    'createHmac',
    'hash',
    'randomBytes',
    'randomUUID',
    'timingSafeEqual',
  ],
  'node:fs/promises': [
    'mkdir',
    'mkdtemp',
    'readdir',
    'readFile',
    'realpath',
    'rename',
    'rm',
    'rmdir',
    'stat',
    'writeFile',
  ],
  'node:stream/consumers': ['text'],
  'node:timers/promises': ['setImmediate', 'setTimeout'],
  'node:zlib': [
    'crc32',
    'deflateRaw',
    'deflateRawSync',
    'deflateSync',
    'inflateRawSync',
    'inflateSync',
  ],
};

/**
 * Loads modules of Node.js when they are first used: a process that does not use them starts sooner.
 *
 * @param {RegExp} filter of their names.
 * @returns {import('esbuild').Plugin}
 */
const lazyModules = (filter) => ({
  name: 'lazy-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter }, ({ path, importer, namespace }) => {
      if (namespace === 'lazy') return { path, external: true };
      return importer.startsWith(join(top, 'src')) ? { path, namespace: 'lazy' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => {
      // `require` of a loaded module takes as long as a small hash.
      const functions = (lazyFunctions[path] ?? []).map(
        (name) =>
          `export const ${name} = (...args) => (loaded ??= require('${path}')).${name}(...args);`,
      );
      return { contents: ['let loaded;', ...functions].join('\n') };
    });
  },
});

/** CommonJS packages in an ES module bundle call `require` for modules of Node.js. */
const requireOfModules =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

/**
 * Bundles a program and its chunks into a folder, and first empties it except for declarations.
 *
 * @param {string | Record<string, string>} entryPoints one file, or files by bundle name.
 * @param {string} outdir
 * @param {string[]} [external] packages that are loaded from where they are installed.
 * @param {string} [banner] the beginning of each file.
 * @returns the source files in the bundle, relative to the repository.
 */
export async function bundle(entryPoints, outdir, external = [], banner = requireOfModules) {
  for (const name of await readdir(outdir).catch(() => [])) {
    if (name !== 'types') await rm(join(outdir, name), { recursive: true });
  }
  // Loaded here: a start that has nothing to build does without it.
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: typeof entryPoints === 'string' ? [entryPoints] : entryPoints,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    // Node supports them; without this, each use of such an expression would compile it again.
    supported: { 'regexp-unicode-property-escapes': true },
    format: 'esm',
    sourcemap: true,
    // Stack traces need only names and lines; the source texts would triple the package.
    sourcesContent: false,
    minifySyntax: true,
    minifyWhitespace: true,
    metafile: true,
    plugins: [
      leaveOut,
      usedSchemas,
      lazyModules(
        /^node:(?:child_process|crypto|fs\/promises|stream\/consumers|timers\/promises)$/,
      ),
    ],
    // The other entry point loads its parts in a way that bundlers cannot follow.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    external,
    logLevel: 'warning',
    absWorkingDir: top,
    banner: { js: banner },
  });
  return Object.keys(metafile.inputs);
}

/**
 * Bundles the program and the library into CommonJS modules: only of these can the next process use the
 * compiled code. esbuild divides a bundle into chunks as ES modules only, so each is converted after that.
 *
 * @param {string} outdir
 * @returns the source files in the bundle, relative to the repository.
 */
async function bundleProgram(outdir) {
  const { build } = await import('esbuild');
  // In the same folder, so that the source maps have the right paths.
  const modules = await mkdtemp(`${outdir}.`);
  try {
    const programs = { cli: 'src/cli/cli.ts', library: 'src/app/library.ts' };
    const inputs = await bundle(programs, modules, [], '');
    // Otherwise an import of these modules would have all their exports as the default one, as in Node.js.
    await writeFile(join(modules, 'package.json'), '{ "type": "commonjs" }\n');
    const files = await readdir(modules, { recursive: true });
    await build({
      entryPoints: files.filter((name) => name.endsWith('.js')).map((name) => join(modules, name)),
      outbase: modules,
      outdir,
      ...commonJs,
      minifySyntax: true,
      minifyWhitespace: true,
    });
    return inputs;
  } finally {
    await rm(modules, { recursive: true });
  }
}

/**
 * The options of CommonJS modules.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
const commonJs = {
  platform: /** @type {const} */ ('node'),
  target: 'node20.19',
  // A `require` takes less time than an `import` in this form.
  supported: { 'regexp-unicode-property-escapes': true, 'dynamic-import': false },
  format: /** @type {const} */ ('cjs'),
  define: { 'import.meta.dirname': '__dirname' },
  sourcemap: true,
  sourcesContent: false,
  logLevel: /** @type {const} */ ('warning'),
  absWorkingDir: top,
};

/**
 * Leaves the search out of the quick part of the program, which loads it for a prompt only.
 *
 * @type {import('esbuild').Plugin}
 */
const separateParts = {
  name: 'separate-parts',
  setup({ onResolve }) {
    onResolve({ filter: /\/stored-index\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './quick-search.cjs', external: true } : undefined,
    );
  },
};

/**
 * Bundles the quick part of the program into two small CommonJS files.
 *
 * @param {string} outdir
 */
async function bundleQuick(outdir) {
  const { build } = await import('esbuild');
  /** @type {import('esbuild').BuildOptions} */
  const options = {
    ...commonJs,
    bundle: true,
    // Every start compiles it, in less time if names are short.
    minify: true,
    // Only needed to write objects of git, which this part never does.
    external: ['isomorphic-git'],
  };
  await build({
    ...options,
    entryPoints: {
      quick: 'src/cli/quick.ts',
      'quick-search': 'src/store/search/stored-index.ts',
    },
    outdir,
    outExtension: { '.js': '.cjs' },
    plugins: [lazyModules(/^node:(?:crypto|zlib)$/), separateParts],
  });
}

/**
 * The options of a bundle for browsers.
 *
 * @satisfies {import('esbuild').BuildOptions}
 */
const forBrowsers = {
  bundle: true,
  // A module would not load from a file.
  format: /** @type {const} */ ('iife'),
  target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
  jsx: /** @type {const} */ ('automatic'),
  jsxImportSource: 'preact',
  minify: true,
  metafile: /** @type {const} */ (true),
  logLevel: /** @type {const} */ ('warning'),
  absWorkingDir: top,
};

/**
 * Leaves the modules of Node.js out of a bundle for browsers, where nothing reads the saved files that need them.
 *
 * @type {import('esbuild').Plugin}
 */
const withoutNode = {
  name: 'without-node',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'without-node' }));
    onLoad({ filter: /.*/, namespace: 'without-node' }, () => ({
      contents: 'module.exports = {};',
    }));
  },
};

/**
 * Bundles the pages for people into a folder: a script, a style sheet and what loads them.
 *
 * @param {string} outdir
 * @returns the source files in the bundle, relative to the repository.
 */
export async function bundlePage(outdir) {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: { page: 'src/server/page/page.tsx', style: 'src/server/page/style.css' },
    outdir,
    ...forBrowsers,
  });
  const copy = await build({
    entryPoints: {
      copy: 'src/server/copy/copy-page.ts',
      'copy-start': 'src/server/copy/copy-start.ts',
    },
    outdir,
    ...forBrowsers,
    plugins: [withoutNode],
  });
  for (const name of ['index.html', 'icon.svg']) {
    await copyFile(join(top, 'src/server/page', name), join(outdir, name));
  }
  const inputs = [metafile, copy.metafile].flatMap((one) => Object.keys(one.inputs));
  return [...inputs, ...(await bundleApp(outdir))];
}

/**
 * Bundles the views for MCP clients into one page with everything in it.
 *
 * @param {string} outdir with the style sheet of the pages.
 * @returns the source files in the bundle, relative to the repository.
 */
async function bundleApp(outdir) {
  const { build } = await import('esbuild');
  const { metafile, outputFiles } = await build({
    entryPoints: ['src/server/page/mcp-app.tsx'],
    write: false,
    ...forBrowsers,
  });
  const script = outputFiles[0]?.text.replaceAll('</script', '<\\/script') ?? '';
  const style = await readFile(join(outdir, 'style.css'), 'utf8');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Memory Bank</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<script>${script}</script>
</body>
</html>
`;
  await writeFile(join(outdir, 'app.html'), html);
  return Object.keys(metafile.inputs);
}

/**
 * Collects the licence texts of the bundled packages.
 *
 * @param {readonly string[]} inputs the files in the bundle.
 */
async function notices(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
  );
  const sections = await Promise.all(
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
  const about = 'dist/ contains code of these packages, each under its own licence.';
  return `${[about, ...sections.sort()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
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
      // Next to a declaration is the compiled file, not the source.
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
 * Checks whether a source has changed since its declarations were written.
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
 * The id of the build of the sources as they are now: a hash of everything that it depends on.
 *
 * @returns {Promise<string>}
 */
async function buildId() {
  const folders = ['src', 'plugins/skills'].map((name) =>
    readdir(join(top, name), { recursive: true, withFileTypes: true }),
  );
  const files = [
    ...(await Promise.all(folders))
      .flat()
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
    ...[
      ...['build.js', 'package.json', 'package-lock.json', 'tsconfig.json'],
      'plugins/opencode.js',
    ].map((name) => join(top, name)),
    // The versions that are installed, which `npm install` may change without the others.
    join(top, 'node_modules/.package-lock.json'),
  ];
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    hash.update(`${file.slice(top.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Builds into a new folder, which gets its name when it is complete.
 *
 * @param {string} folder
 */
async function writeBuild(folder) {
  await mkdir(dirname(folder), { recursive: true });
  // In the same folder, so that the source maps have the right paths.
  const draft = await mkdtemp(`${folder}.`);
  try {
    const inputs = await bundleProgram(draft);
    inputs.push(...(await bundlePage(join(draft, 'page'))));
    await bundleQuick(draft);
    cpSync(join(top, 'plugins/skills'), join(draft, 'skills'), { recursive: true });
    await copyFile(join(top, 'plugins/opencode.js'), join(draft, 'opencode.js'));
    for (const name of ['.', 'chunks']) {
      // Without it, Node.js would look for one in every folder above, for each module.
      await writeFile(join(draft, name, 'package.json'), '{ "type": "commonjs" }\n');
    }
    await writeFile(join(draft, 'THIRD-PARTY.txt'), await notices(inputs));
    // mkdtemp makes a folder for its owner alone; another user may run the program.
    await chmod(draft, 0o755);
    await rename(draft, folder).catch((error) => {
      // Another process has built the same meanwhile.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * Replaces a file in one step, unless it has this content already.
 *
 * @param {string} path
 * @param {string} text
 * @param {number} mode
 */
async function replace(path, text, mode = 0o644) {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, text, { mode });
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(draft, path);
    } catch (error) {
      // Windows refuses while another process reads the file.
      if (attempt === 20) throw error;
      await setTimeout(50);
    }
  }
}

/**
 * Removes the builds that are neither current nor in use, and what a build that was killed has left.
 *
 * @param {string} builds
 * @param {string} current
 */
async function removeOldBuilds(builds, current) {
  for (const name of await readdir(builds)) {
    const path = join(builds, name);
    if (name === current || name.startsWith('.npmignore')) continue;
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > lease) await rm(path, { recursive: true, force: true });
  }
}

/**
 * Makes the build of the sources as they are now the current one, and builds it if it is missing.
 *
 * The two files that programs start with are replaced in one step each, after everything that they
 * load is there.
 *
 * @param {string} outdir
 * @param {boolean} withTypes whether to write declarations that do not exist yet.
 */
export async function make(outdir, withTypes) {
  const id = await buildId();
  const builds = join(outdir, 'builds');
  const folder = join(builds, id);
  if (!existsSync(folder)) await writeBuild(folder);
  const old = await readFile(join(outdir, 'main.cjs'), 'utf8').catch(() => '');
  for (const name of [id, /builds\/(\w+)/.exec(old)?.[1]]) {
    // The lease of the old build begins now; that of the new one keeps other processes from removing it.
    if (name) await utimes(join(builds, name), new Date(), new Date()).catch(() => {});
  }
  const main = await readFile(join(top, 'src/cli/main.cjs'), 'utf8');
  const library = `export * from './builds/${id}/library.js';\n`;
  await replace(join(outdir, 'library.js'), library);
  await replace(
    join(outdir, 'main.cjs'),
    main.replace('= __dirname;', `= join(__dirname, 'builds/${id}');`),
    0o755,
  );
  await replace(
    join(outdir, 'THIRD-PARTY.txt'),
    await readFile(join(folder, 'THIRD-PARTY.txt'), 'utf8'),
  );
  // `npm pack` takes the current build alone.
  await replace(join(builds, '.npmignore'), `/*\n!/${id}\n/*/THIRD-PARTY.txt\n/*/*.cache\n`);
  await removeOldBuilds(builds, id);
  const types = join(outdir, 'types');
  if (!withTypes && !(await areStale(types))) return;
  await rm(types, { recursive: true, force: true });
  await writeTypes('app/library.ts', types);
}

if (process.argv[1] === import.meta.filename) {
  await make(join(top, 'dist'), process.argv.includes('--types'));
}
