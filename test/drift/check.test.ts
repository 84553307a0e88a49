import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  docKinds,
  type FindingKind,
  textKinds,
  verdicts,
} from '../../src/core/evidence/finding-kinds.ts';
import { table, withPart } from '../support/page.ts';

function rows(kinds: { readonly [name: string]: FindingKind }) {
  return Object.entries(kinds).map(([name, { severity, meaning }]) => {
    return [`\`${name}\``, severity, meaning];
  });
}

it('docs/check.md has each verdict and each kind of finding', async () => {
  const file = resolve(import.meta.dirname, '../../docs/check.md');
  const page = readFileSync(file, 'utf8');
  const first = withPart(
    page,
    'verdicts',
    table(['verdict', 'severity', 'meaning'], rows(verdicts)),
  );
  const both = withPart(first, 'kinds', table(['kind', 'severity', 'meaning'], rows(textKinds)));
  const all = withPart(both, 'claims', table(['claim', 'severity', 'it drifted'], rows(docKinds)));
  await expect(all).toMatchFileSnapshot(file);
});
