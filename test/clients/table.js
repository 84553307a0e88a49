// The table of the docs about the clients that were run.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entries, notRun } from './entries.js';

/** @typedef {import('./sessions.js').Result} Result */

const page = join(import.meta.dirname, '../../docs/tried-clients.md');
const head = '| client | package and version | connects | start | prompt | edit | trust |';

/**
 * Writes the rows of the clients that have run; those of others stay.
 *
 * @param {ReadonlyMap<string, Result>} results
 */
export function writeTable(results) {
  const text = readFileSync(page, 'utf8');
  const old = new Map(text.split('\n').map((line) => [line.split(' | ')[0] ?? '', line]));
  const rows = entries.flatMap((entry) => {
    const result = results.get(entry.client);
    const row = result ? rowOf(entry, result) : old.get(`| ${entry.title}`);
    return row ? [row] : [];
  });
  const refusals = notRun.map(
    ({ title, spec, reason }) => `| ${title} | \`${spec}\` | ${reason} |`,
  );
  const tables = [
    [head, '| --- | --- | --- | --- | --- | --- | --- |', ...rows],
    ['| client | package and version | why it was not run |', '| --- | --- | --- |', ...refusals],
  ];
  let index = 0;
  const next = text.replaceAll(
    /(?<=^<!-- table -->\n)[\s\S]*?(?=^<!-- end -->)/gm,
    () => `\n${tables[index++]?.join('\n')}\n\n`,
  );
  writeFileSync(page, next);
}

/** @param {import('./entries.js').Entry} entry @param {Result} result */
function rowOf(entry, result) {
  /** @param {boolean} isTrue */
  const word = (isTrue) => (isTrue ? 'yes' : '–');
  const cells = [result.connects, result.start, result.prompt, result.edit].map(word);
  return `| ${[entry.title, `\`${entry.spec}\``, ...cells, entry.trusted].join(' | ')} |`;
}
