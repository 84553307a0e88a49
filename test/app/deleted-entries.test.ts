import { afterEach, beforeEach, expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { LayoutMemory } from '../support/layout-memory.ts';
import { Repo } from '../support/repo.ts';

const log = 'decisionLog.md';
let memory: LayoutMemory;
let upstream: Repo;

beforeEach(async () => {
  memory = await LayoutMemory.in('entries');
  for (const title of ['One', 'Two']) await memory.decide(title);
  upstream = new Repo();
  upstream.git('init', '-q', '--bare', '-b', 'main', '.');
  memory.repo.git('remote', 'add', 'origin', upstream.root);
  memory.repo.git('push', '-q', '-u', 'origin', 'main');
});
afterEach(async () => {
  await memory.close();
  upstream.remove();
});

/** Changes the memory of another clone, and pushes it. */
async function elsewhere(change: () => Promise<unknown>): Promise<void> {
  const { repo } = memory;
  repo.git('checkout', '-q', '-B', 'theirs');
  await change();
  repo.git('push', '-q', 'origin', 'theirs:main');
  repo.git('checkout', '-q', 'main');
}

const forget = (section: string) =>
  memory.call('forget_memory', { record: log, section, reason: 'Wrong' });
const titles = async () => (await memory.content(log)).match(/(?<=^## ).*(?= - )/gm)?.sort() ?? [];
const entryFile = (title: string) =>
  memory.files.find((path) => path.includes(`-${title.toLowerCase()}-`));

deep('an entry that was removed goes by a sync, and comes back without a revision', async () => {
  const file = entryFile('One') ?? '';
  const text = memory.repo.read(file);
  await elsewhere(() => forget('One'));
  await memory.decide('Three');
  expect(await memory.call('sync_memory')).toContain('"success":true');
  expect(await titles()).toEqual(['Three', 'Two']);
  expect(entryFile('One')).toBeUndefined();
  const history = await memory.call('record_history', { path: `${log}#One` });
  expect(history).toMatch(/forget.*log decision \\"One\\"/s);
  expect(await memory.call('restore_memory', { path: `${log}#Two` })).toContain('was not removed');
  expect(await memory.call('restore_memory', { path: `${log}#None` })).toContain('not_found');
  expect(await memory.call('restore_memory', { path: `${log}#One` })).toContain('"changed":1');
  expect(await titles()).toEqual(['One', 'Three', 'Two']);
  expect(memory.repo.read(entryFile('One') ?? '')).toBe(text);
  expect(await memory.call('sync_memory')).toContain('"success":true');
  expect(upstream.git('ls-tree', '-r', '--name-only', 'main')).toContain('-one-');
});

deep.each([
  ['ours', ['One', 'Two']],
  ['theirs', ['Two']],
] as const)(
  'an entry that they removed and we changed is decided by its log: %s',
  async (side, expected) => {
    await elsewhere(() => forget('One'));
    const content = (await memory.content(log)).replace('Do One.', 'Do one thing.');
    await memory.call('write_memory_bank_file', { filename: log, content });
    const refusal = await memory.call('sync_memory');
    expect(refusal).toMatch(/Both sides changed decisionLog\/\S+-one-\w+\.md \(one side deleted/);
    expect(refusal).toContain(String.raw`\"decisionLog.md\" decides all its entries`);
    expect(await titles()).toEqual(['One', 'Two']);
    expect(await memory.call('sync_memory', { [side]: [log] })).toContain('"success":true');
    expect(await titles()).toEqual(expected);
    expect((await memory.content(log)).includes('Do one thing.')).toBe(side === 'ours');
  },
);
