import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };

const file = resolve(import.meta.dirname, '../../docs/dependencies.md');
const [running = '', developing = ''] = readFileSync(file, 'utf8').split('\nDeveloped with');

/** The packages in the first column of a table. */
function listed(text: string): string[] {
  const cells = [...text.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

it.each([
  ['dependencies', running, packageJson.dependencies],
  ['devDependencies', developing, packageJson.devDependencies],
] as const)('docs/dependencies.md has a reason for each of the %s', (_, text, packages) => {
  expect(listed(text).sort()).toEqual(Object.keys(packages).sort());
});
