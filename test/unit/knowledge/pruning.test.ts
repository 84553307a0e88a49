import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/values/json.ts';
import { open } from './open.ts';

const day = 86_400_000;
let { context, call, write, keys } = open();

beforeEach(() => {
  ({ context, call, write, keys } = open());
});

describe('pruning', () => {
  /** An entry written so many days before the present of the test. */
  async function aged(key: string, days: number, rest: JsonObject = {}): Promise<void> {
    const present = context.time;
    context.time = present - days * day;
    await write(key, rest);
    context.time = present;
  }

  const prune = async (args: JsonObject = {}) => (await call('memory_prune', args)).body;

  test('takes only what is older than the age, by the day', async () => {
    // The write itself takes the next millisecond, and so does the prune: these are equally far apart.
    await aged('exact', 90);
    const present = context.time;
    context.time = present - 1;
    await aged('over', 90);
    context.time = present;
    expect(await prune()).toEqual({
      success: true,
      dry_run: true,
      would_delete: [{ category: 'patterns', key: 'over', age_days: 90 }],
      total: 1,
    });
    expect(await keys()).toEqual(['over', 'exact']);
  });

  test('goes by the last update', async () => {
    await aged('old', 200);
    await aged('k', 200);
    await aged('k', 10, { value: 'again' });
    expect((await prune()).would_delete).toEqual([
      { category: 'patterns', key: 'old', age_days: 200 },
    ]);
  });

  test('keeps the last updated of a category, and counts either criterion', async () => {
    await aged('old', 100);
    await aged('a', 3);
    await aged('b', 2);
    await aged('c', 1);
    await aged('a', 0, { value: 'again' });
    await aged('x', 50, { category: 'corrections' });
    expect((await prune({ max_entries: 2 })).would_delete).toEqual([
      { category: 'patterns', key: 'old', age_days: 100 },
      { category: 'patterns', key: 'b', age_days: 2 },
    ]);
    expect(await prune({ max_age_days: 2, max_entries: 100 })).toMatchObject({ total: 3 });
    expect(await prune({ max_age_days: 0 })).toMatchObject({ total: 5 });
    expect(await prune({ max_entries: 0 })).toMatchObject({ total: 5 });
  });

  test('of equally old ones keeps those that were created last', async () => {
    for (const key of ['a', 'b', 'c']) await aged(key, 1);
    const time = '2025-12-31T00:00:00.000Z';
    for (const [path, text] of context.store.files) {
      context.store.files.set(path, text.replace(/updated_at: .*/, `updated_at: ${time}`));
    }
    expect((await prune({ max_entries: 1 })).would_delete).toMatchObject([
      { key: 'a' },
      { key: 'b' },
    ]);
  });

  test('never takes the state of the protocol', async () => {
    await aged('k', 1000, { category: 'protocol-state' });
    expect(await prune({ max_entries: 0 })).toMatchObject({ total: 0 });
  });

  test.each([undefined, false, null, 'true', 1])('is refused with confirm %j', async (confirm) => {
    await aged('k', 100);
    const { body } = await call('memory_prune', { dry_run: false, confirm });
    expect(body).toMatchObject({ error: 'confirmation_required', requires_confirmation: true });
    expect(await keys()).toEqual(['k']);
  });

  test('with confirm alone is still a preview', async () => {
    await aged('k', 100);
    expect(await prune({ confirm: true })).toMatchObject({ dry_run: true, total: 1 });
    expect(await keys()).toEqual(['k']);
  });

  test('deletes in one commit that says what and why, and tells how far it is', async () => {
    for (let n = 0; n < 60; n += 1) await aged(`k${n}`, 100);
    await aged('young', 1);
    const answer = await prune({ dry_run: false, confirm: true, max_age_days: 30 });
    expect(answer).toMatchObject({ success: true, dry_run: false, total: 60 });
    expect(answer.deleted).toHaveLength(60);
    expect(await keys()).toEqual(['young']);
    const commit = context.store.commits.at(-1);
    expect(commit?.subject).toBe('prune 60 knowledge entries');
    expect(commit?.paths).toHaveLength(60);
    expect(commit?.reason).toMatch(
      /30 days[\s\S]*100 newest[\s\S]*\n- patterns: k0 \(100 days\)\n[\s\S]*\n- and 10 more$/,
    );
    expect(context.steps).toHaveLength(60);
    expect(context.steps.at(-1)?.slice(0, 2)).toEqual([60, 60]);
  });

  test('of nothing is no commit', async () => {
    await write('k');
    expect(await prune({ dry_run: false, confirm: true })).toEqual({
      success: true,
      dry_run: false,
      deleted: [],
      total: 0,
    });
    expect(context.store.commits).toHaveLength(1);
  });
});
