import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { layouts } from '../git/layouts.ts';
import { table, withPart } from '../support/page.ts';

it('docs/compatibility.md has each layout of a repository that is tried', async () => {
  const file = resolve(import.meta.dirname, '../../docs/compatibility.md');
  const rows = layouts.map(({ name, refused, follow }) => {
    return [name, refused ? `refused; ${refused.told}` : (follow?.told ?? 'works')];
  });
  const page = withPart(
    readFileSync(file, 'utf8'),
    'layouts',
    table(['repository', 'a memory in it'], rows),
  );
  await expect(page).toMatchFileSnapshot(file);
});
