import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { maxBaseBytes } from '../../src/app/hook/digest-base.ts';
import { maxRecentBytes } from '../../src/app/hook/digest-recent.ts';
import { maxFiles, maxMemory } from '../../src/app/hook/digest-writer.ts';
import { maxTreeBytes } from '../../src/store/derived/derived-cleaning.ts';
import type { DerivedKind } from '../../src/store/derived/derived-name.ts';
import { maxReadBytes } from '../../src/store/evidence/saved-readings.ts';
import { maxCommonBytes, maxSavedBytes } from '../../src/store/records/saved-layout.ts';
import { maxValueLength } from '../../src/store/records/saved-records.ts';
import { maxVectorBytes, maxVectors } from '../../src/store/search/meaning/vector-cache.ts';
import { leastLimit, maxPercent } from '../../src/store/search/saved-state.ts';
import { maxWordBytes } from '../../src/store/session/word-vector-signal.ts';
import { amount } from '../support/amount.ts';
import { table, withPart } from '../support/page.ts';

const bytes = (value: number) => amount(value, 'bytes');
const count = (value: number) => amount(value, '');

const ofRecords = `${maxPercent} % of the records, or ${bytes(leastLimit)}`;

/** The limits of each kind of file; a kind without limits does not compile. */
const limits: Record<DerivedKind | 'records-tree', string> = {
  records: `${ofRecords}; never more than ${bytes(maxSavedBytes)}; without values longer than ${bytes(maxValueLength)}`,
  'records-tree': `${ofRecords}; all of them ${bytes(maxTreeBytes)}`,
  brief: `${bytes(maxBaseBytes)}, of a memory with up to ${count(maxFiles)} files and ${bytes(maxMemory)}`,
  recent: bytes(maxRecentBytes),
  words: bytes(maxWordBytes),
  common: bytes(maxCommonBytes),
  checked: bytes(maxReadBytes),
  vectors: `${count(maxVectors)} vectors, ${bytes(maxVectorBytes)}`,
};

it('docs/derived.md has each kind of file, and its limits', async () => {
  const file = resolve(import.meta.dirname, '../../docs/derived.md');
  const page = readFileSync(file, 'utf8');
  const rows = Object.entries(limits).map(([kind, most]) => [`\`${kind}-….index\``, most]);
  for (const [name] of rows) expect(page).toContain(`\n| ${name} |`);
  const listed = withPart(page, 'budgets', table(['file', 'at most'], rows));
  await expect(listed).toMatchFileSnapshot(file);
});
