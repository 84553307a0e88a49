import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../../src/core/values/json.ts';
import { knowledgeSuite } from '../../suites/knowledge.ts';
import { corpus } from '../../support/corpus.ts';
import { open } from './open.ts';

knowledgeSuite('a plain map', async () => open().call, 100);

/** The entries of a seed-004 file in any of its four historical shapes. */
function entriesOf(
  text: string,
): { key: string; value: string; reason?: string; context?: string }[] {
  const file: unknown = JSON.parse(text);
  const held = isObject(file) && 'entries' in file ? file.entries : file;
  if (Array.isArray(held)) return held.map(({ timestamp, recorded_at, ...entry }) => entry);
  return Object.entries(Object(held)).map(([key, value]) =>
    isObject(value) && typeof value.value === 'string'
      ? { key, ...Object(value) }
      : { key, value: typeof value === 'string' ? value : JSON.stringify(value) },
  );
}

describe.skipIf(corpus === undefined)('real data', () => {
  test.each([
    '_reference-outputs/seed004-z3r0-c001/.claude/memory',
    'z3r0-c001+Claude_Protocol/CP/CP2/.claude/memory',
  ])('the store %s can be entered and found again', async (folder) => {
    const files = readdirSync(join(corpus ?? '', folder)).filter((name) => name.endsWith('.json'));
    const { call } = open();
    let entered = 0;
    for (const file of files) {
      const category = file.replace('.json', '');
      for (const given of entriesOf(readFileSync(join(corpus ?? '', folder, file), 'utf8'))) {
        const entry = { category, ...given };
        const { body } = await call('memory_write', { ...entry, confirm: true });
        if (category === 'bogus') {
          expect(body).toMatchObject({ success: false, error: 'invalid_input' });
          continue;
        }
        expect(body).toMatchObject({ success: true, action: 'created', entry });
        const read = await call('memory_read', { category, key: entry.key });
        expect(read.body.entries).toMatchObject([entry]);
        const search = await call('memory_search', { query: entry.key });
        expect(search.body.results).toContainEqual(
          expect.objectContaining({ category, key: entry.key, value: entry.value }),
        );
        entered += 1;
      }
    }
    expect(entered).toBeGreaterThan(1);
  });
});
