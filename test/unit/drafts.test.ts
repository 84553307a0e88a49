import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type DraftStorage, Drafts } from '../../src/server/page/drafts.ts';

/** A storage as that of a browser, of a limited size. */
class Storage implements DraftStorage {
  readonly rows = new Map<string, string>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.rows.size;
  }

  key(at: number): string | null {
    return [...this.rows.keys()][at] ?? null;
  }

  getItem(key: string): string | null {
    return this.rows.get(key) ?? null;
  }

  setItem(key: string, text: string): void {
    if (text.length > this.#limit) throw new Error('QuotaExceededError');
    this.rows.set(key, text);
  }

  removeItem(key: string): void {
    this.rows.delete(key);
  }
}

const place = { project: 'shop', form: 'text', path: 'notes.md' };
const typed = (text: string) => ({ texts: { text }, began: { text: 'old' } });
let storage: Storage;
let drafts: Drafts;
/** Whether a reload would lose a draft. */
let isLossNear: boolean;
const ids = () => drafts.of(place).map(({ id }) => id);

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
  isLossNear = false;
  storage = new Storage(5_000_000);
  drafts = new Drafts(
    () => storage,
    (isNear) => {
      isLossNear = isNear;
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
});

test('a draft belongs to one form of one record of one project', () => {
  drafts.keep(place, '1', typed('mine'));
  expect(drafts.of(place)).toEqual([{ id: '1', at: '2026-01-01T00:00:00.000Z', ...typed('mine') }]);
  for (const other of [{ project: 'other' }, { form: 'fields' }, { path: 'notes.m' }]) {
    expect(drafts.of({ ...place, ...other })).toEqual([]);
  }
  drafts.drop(place, '1');
  expect(storage.rows.size).toBe(0);
  expect(isLossNear).toBe(false);
});

test('drafts are bounded in number, size and age, and the oldest go first', () => {
  for (let i = 0; i < 60; i++) {
    vi.advanceTimersByTime(1000);
    drafts.keep(place, `${i}`, typed('short'));
  }
  expect(ids()).toHaveLength(50);
  expect(ids()[0]).toBe('59');
  vi.advanceTimersByTime(1000);
  drafts.keep(place, 'long', typed('x'.repeat(900_000)));
  drafts.keep(place, 'longer', typed('x'.repeat(990_000)));
  drafts.keep(place, 'last', typed('x'.repeat(900_000)));
  const size = [...storage.rows.values()].reduce((sum, { length }) => sum + length, 0);
  expect(size).toBeLessThanOrEqual(2_000_000);
  expect(ids()).toContain('last');
  expect(isLossNear).toBe(false);
  vi.advanceTimersByTime(31 * 24 * 60 * 60 * 1000);
  expect(ids()).toEqual([]);
  drafts.keep(place, 'new', typed('short'));
  expect([...storage.rows]).toHaveLength(1);
});

test('a draft that cannot be kept is still there, and the browser asks before it is lost', () => {
  drafts.keep(place, '1', typed('short'));
  drafts.keep(place, '1', typed('x'.repeat(1_000_000)));
  expect(isLossNear).toBe(true);
  expect(drafts.of(place)).toHaveLength(1);
  // A reload must not bring the text before it back.
  expect(storage.rows.size).toBe(0);
  drafts.keep(place, '1', typed('short again'));
  expect(isLossNear).toBe(false);
  storage = new Storage(1);
  drafts.keep(place, '2', typed('mine'));
  expect(ids()).toEqual(['2']);
  expect(isLossNear).toBe(true);
  drafts.drop(place, '2');
  expect(isLossNear).toBe(false);
});

test('what another program has put into the storage is left out', () => {
  drafts.keep(place, '1', typed('mine'));
  const [key = ''] = storage.rows.keys();
  for (const row of [
    '',
    '1',
    '9999999999999 {}',
    '9999999999999 {"texts":{"text":7},"began":{}}',
  ]) {
    storage.rows.set(key, row);
    expect(drafts.of(place)).toEqual([]);
  }
});
