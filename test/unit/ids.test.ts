import { describe, expect, test } from 'vitest';
import { newSession, now, shortId, uuid } from '../../src/app/session/clock-and-ids.ts';

const many = <T>(make: () => T) => Array.from({ length: 2_000 }, make);

describe('ids', () => {
  test('time never stands still', () => {
    const times = many(() => now().getTime());
    expect(times.every((time, i) => i === 0 || time > (times[i - 1] ?? 0))).toBe(true);
  });

  test('short ids are 12 URL-safe characters and use the whole alphabet', () => {
    const ids = many(shortId);
    expect(ids.every((id) => /^[A-Za-z0-9_-]{12}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(ids.join('')).size).toBe(64);
  });

  test('uuids are of version 4', () => {
    expect(uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('session ids sort in the order in which the sessions began', () => {
    const sessions = many(newSession);
    // An id is made when it is first needed, and stays the same.
    const last = sessions.at(-1)?.id;
    const ids = sessions.map(({ id }) => id);
    expect(ids.at(-1)).toBe(last);
    expect(ids.every((id) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toBe(true);
    expect([...ids].sort()).toEqual(ids);
  });
});
