// `prepack` and `postpack` of `npm pack`: the package has no `prepare` script, which only a clone needs.
//
// npm packs package.json as it is in the folder, so that the script is taken out while it packs. What a run
// that was stopped has left, the next one puts right.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const top = import.meta.dirname;
const file = join(top, 'package.json');
/** package.json as it was, while npm packs. */
const kept = join(top, 'dist/package.json.kept');

/**
 * The text of package.json as the package has it.
 *
 * @param {string} text
 */
export function packedText(text) {
  const { scripts, ...about } = JSON.parse(text);
  const { prepare, ...others } = scripts;
  return `${JSON.stringify({ ...about, scripts: others }, null, 2)}\n`;
}

function restore() {
  if (existsSync(kept)) renameSync(kept, file);
}

/** @param {string} path @param {string} text */
function replace(path, text) {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

if (process.argv[1] === import.meta.filename) {
  restore();
  if (process.argv[2] === 'begin') {
    const text = readFileSync(file, 'utf8');
    replace(kept, text);
    replace(file, packedText(text));
  }
}
