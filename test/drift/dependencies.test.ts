import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const file = resolve(import.meta.dirname, '../../docs/dependencies.md');
const [running = '', developing = ''] = readFileSync(file, 'utf8').split('\nDeveloped with');

/** Lists the packages in the first column of a table. */
function listed(text: string): string[] {
  const cells = [...text.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

it('docs/dependencies.md has a reason for each package', () => {
  const all = [...listed(running), ...listed(developing)];
  expect(all.sort()).toEqual(Object.keys(packageJson.devDependencies).sort());
});
