import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { entries, notRun } from '../clients/entries.js';

test('the table of tried clients is about the versions that are run', () => {
  const page = readFileSync('docs/tried-clients.md', 'utf8');
  const rows = [...page.matchAll(/^\| ([^|]+) \| `([^`]+)` \|/gm)].map(([, ...cells]) => cells);
  const run = [...entries, ...notRun].map(({ title, spec }) => [title, spec]);
  expect(rows, 'run "npm run test:clients -- --update"').toEqual(run);
});
