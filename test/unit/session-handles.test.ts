import { expect, test } from 'vitest';
import { Session } from '../../src/core/memory/session.ts';
import { SessionHandles } from '../../src/server/mcp/session-handles.ts';

const hour = 60 * 60 * 1000;

function opened() {
  const clock = { now: 0 };
  const handles = new SessionHandles(
    () => new Session(() => 'id'),
    () => clock.now,
  );
  const keep = (caller: string) => handles.open(undefined, caller).keep();
  const problem = (handle: unknown, caller: string) => handles.open(handle, caller).refusal?.text;
  return { clock, handles, keep, problem };
}

test('a handle names its session until an hour after its last use', () => {
  const { clock, handles, problem } = opened();
  const { session, keep } = handles.open(undefined, 'one');
  const handle = keep();
  for (clock.now = hour / 2; clock.now < 3 * hour; clock.now += hour / 2) {
    const again = handles.open(handle, 'one');
    expect(again.session).toBe(session);
    expect(again.keep()).toBe(handle);
  }
  clock.now += hour;
  expect(problem(handle, 'one')).toContain('has expired');
  expect(handles.open(handle, 'one').session).not.toBe(session);
});

test('a handle of another caller, or a made-up one, is refused like an unknown one', () => {
  const { handles, keep, problem } = opened();
  const handle = keep('one');
  const refusal = problem(handle, 'two');
  expect(refusal).toContain('is not a handle that this server gave to this caller');
  // Handles are random: one in 64 begins with A.
  const other = `${handle.startsWith('A') ? 'B' : 'A'}${handle.slice(1)}`;
  for (const made of ['', 'x', handle.slice(1), `${handle}x`, other, 5, null, {}]) {
    expect(problem(made, 'one')).toBe(refusal);
  }
  expect(handles.open(handle, 'one').refusal).toBeUndefined();
});

test('a handle has 128 random bits, and no two are equal', () => {
  const { keep } = opened();
  const handles = Array.from({ length: 100 }, () => keep('one'));
  expect(new Set(handles).size).toBe(100);
  expect(new Set(handles.map((handle) => handle.slice(0, 4))).size).toBe(100);
  expect(Buffer.from(handles[0] ?? '', 'base64url')).toHaveLength(24);
});

test('above the limit of a caller, its longest unused handle is forgotten, and none of another', () => {
  const { handles, keep, problem } = opened();
  const other = keep('two');
  const own = Array.from({ length: 200 }, () => keep('one'));
  handles.open(own[0], 'one');
  keep('one');
  expect(problem(own[1], 'one')).toContain('has expired');
  expect(problem(own[0], 'one')).toBeUndefined();
  expect(problem(other, 'two')).toBeUndefined();
});

test('above the limit of all callers, the longest unused handle is forgotten', () => {
  const { keep, problem } = opened();
  const first = keep('0');
  for (let i = 1; i <= 1_000; i += 1) keep(`${i % 10}`);
  expect(problem(first, '0')).toContain('has expired');
});
