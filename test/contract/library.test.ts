import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Memory, type OpenOptions, openMemory } from '../../src/app/library.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
const opened: Memory[] = [];

beforeEach(() => {
  repo = Repo.create();
});

afterEach(async () => {
  for (const memory of opened.splice(0)) await memory.close();
});

async function open(options: Partial<OpenOptions> = {}): Promise<Memory> {
  const memory = await openMemory({ root: repo.root, home: newFolder(), ...options });
  opened.push(memory);
  return memory;
}

const entry = { category: 'patterns', key: 'k', value: 'v' };

test('a memory opens in the mode that is asked for, and opening creates nothing', async () => {
  const memory = await open({ mode: 'architect' });
  expect(repo.status()).toEqual([]);
  const { body } = await memory.call('get_current_mode');
  expect(body.mode).toBe('architect');
});

test('it does not open in a mode that there is not', async () => {
  await expect(open({ mode: 'nope' })).rejects.toMatchObject({
    code: 'not_found',
    text: expect.stringContaining('Known modes: architect'),
  });
});

test('the name of an unknown tool is not repeated where it is a credential', async () => {
  const memory = await open();
  await expect(memory.call(`ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`)).rejects.toMatchObject({
    code: 'not_found',
    text: 'There is no tool "[a GitHub token]".',
  });
});

test('after it is closed, calls are refused and write nothing', async () => {
  const memory = await open();
  const written = memory.call('memory_write', entry);
  const closed = memory.close();
  const late = () => memory.call('memory_write', { ...entry, value: 'late' });
  await expect(late()).rejects.toMatchObject({ code: 'cancelled' });
  await closed;
  await expect(late()).rejects.toMatchObject({ code: 'cancelled' });
  const { commit } = await written;
  await memory.close();
  expect(repo.git('rev-parse', 'HEAD').trim()).toBe(commit);
});
