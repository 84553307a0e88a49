// `npm run package`: writes the plugins for all clients into dist/plugins/, after `node build.js`.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packedText } from '../pack.js';
import {
  about,
  manifests,
  opencodeProgram,
  programFolder,
  texts,
  withProgram,
  withSkills,
} from './manifests.js';

const top = resolve(import.meta.dirname, '..');

/**
 * Writes the manifests and the skills into an empty folder.
 *
 * @param {string} outdir
 */
export function writePlugins(outdir) {
  rmSync(outdir, { recursive: true, force: true });
  const json = Object.entries(manifests).map(
    ([path, content]) => /** @type {const} */ ([path, `${JSON.stringify(content, null, 2)}\n`]),
  );
  for (const [path, text] of [...json, ...Object.entries(texts)]) {
    mkdirSync(dirname(join(outdir, path)), { recursive: true });
    writeFileSync(join(outdir, path), text);
  }
  for (const plugin of withSkills) {
    cpSync(join(import.meta.dirname, 'skills'), join(outdir, plugin, 'skills'), {
      recursive: true,
    });
  }
}

/**
 * Copies the built program, with its current build only, as the npm package contains it.
 *
 * @param {string} outdir
 */
export function copyProgram(outdir) {
  const [, current] = /builds\/(\w+)/.exec(readFileSync(join(top, 'dist/main.cjs'), 'utf8')) ?? [];
  if (current === undefined) throw new Error('dist/main.cjs names no build; run "node build.js".');
  const files = about.files.map((file) => (file === 'dist/builds' ? `${file}/${current}` : file));
  mkdirSync(outdir, { recursive: true });
  const text = readFileSync(join(top, 'package.json'), 'utf8');
  writeFileSync(join(outdir, 'package.json'), packedText(text));
  for (const file of ['LICENSE', ...files]) {
    // The declarations serve programs that import the library, and the pages serve people; an exception
    // begins with `!`.
    if (!/^(?:dist\/types|docs|\w+\.md|!.*)$/.test(file))
      cpSync(join(top, file), join(outdir, file), {
        recursive: true,
        // The compiled code of this version of Node.js.
        filter: (path) => !path.endsWith('.cache'),
      });
  }
}

if (process.argv[1] === import.meta.filename) {
  const outdir = join(top, 'dist/plugins');
  writePlugins(outdir);
  copyProgram(join(outdir, 'claude-desktop/server'));
  copyProgram(join(outdir, opencodeProgram));
  for (const plugin of withProgram) copyProgram(join(outdir, plugin, programFolder));
  console.log(`The plugins are in ${outdir}.`);
}
