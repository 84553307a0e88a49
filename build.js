// Bundles the program into dist/: one start-up file, and chunks that load when they are first needed.
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

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
 * Bundles a program and its chunks into a folder, which is emptied first.
 *
 * @param {string} entryPoint
 * @param {string} outdir
 */
export async function bundle(entryPoint, outdir) {
  await rm(outdir, { recursive: true, force: true });
  await build({
    entryPoints: [entryPoint],
    outdir,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: true,
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [leaveOut],
    // Its other form asks for its parts in a way that no bundler follows.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    logLevel: 'warning',
    absWorkingDir: import.meta.dirname,
    // CommonJS packages in an ES module bundle ask for `require` of node's own modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
}

if (process.argv[1] === import.meta.filename) {
  const outdir = join(import.meta.dirname, 'dist');
  await bundle('src/main.ts', outdir);
  await chmod(join(outdir, 'main.js'), 0o755);
}
