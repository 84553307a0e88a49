import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Located } from '../../src/core/memory/listing.ts';
import type { Transaction } from '../../src/core/memory/store.ts';
import { FaultFiles, type FaultPlan } from '../support/fault-files.ts';
import { type Note, note } from '../support/note.ts';
import { Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

function create(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  return repo;
}

async function serve(root: string, plan: FaultPlan = () => undefined) {
  const files = new FaultFiles(plan);
  const opened = await open(root, [note], { files });
  cleanUp.push(() => opened.workspace.close());
  return { opened, files };
}

/** Adds a note that is not part of the test, so that the memory has its settings. */
const begin = async (opened: Opened) => {
  await add(opened, 'first');
};

const add = (opened: Opened, key: string, text = 'text') =>
  opened.call.store.change({ subject: `add ${key}` }, (draft) =>
    draft.put(note, { key, tags: [], text }),
  );

const remove = (opened: Opened, key: string) =>
  opened.call.store.change({ subject: `remove ${key}` }, (draft) => draft.remove(note, key));

/** Changes a note from its present text. */
const append = (opened: Opened, key: string, more: string) =>
  opened.call.store.change({ subject: `append ${more}` }, async (draft) => {
    const found = await draft.get(note, key);
    return draft.put(note, { key, tags: [], text: `${found?.value.text ?? ''}${more}` });
  });

const text = async (opened: Opened, key: string) =>
  (await opened.call.store.get(note, key))?.value.text;

const subjects = (repo: Repo, count: number) =>
  repo.git('log', `-${count}`, '--reverse', '--format=%s').trim().split('\n');

/** The number of times that the index was replaced. */
const mutations = (files: FaultFiles) =>
  files.log.filter((operation) => /^rename .*\/index$/.test(operation)).length;

function expectWhole(repo: Repo): void {
  expect(repo.fsck()).toBe('');
  expect(repo.status()).toEqual([]);
}

/** Stops the clock: a mutation takes only the changes that are planned in its first tenth of a second. */
function stopClock(): void {
  const clock = vi.spyOn(process, 'hrtime').mockReturnValue([0, 0]);
  cleanUp.push(() => clock.mockRestore());
}

test('changes at the same time are separate commits of few mutations', async () => {
  const repo = create();
  const { opened, files } = await serve(repo.root);
  await begin(opened);
  stopClock();
  const before = mutations(files);
  const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
  await Promise.all(names.map((name) => add(opened, name)));
  expect(mutations(files) - before).toBeLessThan(4);
  expect(subjects(repo, 30)).toEqual(names.map((name) => `memory: add ${name}`));
  const changed = repo.git('log', '-30', '--reverse', '--format=', '--name-status').trim();
  expect(changed.split('\n')).toEqual(names.map((name) => `A\t.memory-bank/notes/${name}.yaml`));
  const oids = repo.git('log', '-30', '--reverse', '--format=%H').trim().split('\n');
  expect(opened.commits.slice(1).map(({ oid }) => oid)).toEqual(oids);
  expectWhole(repo);
});

test('a change sees the changes before it, of the same record as well', async () => {
  const repo = create();
  const { opened, files } = await serve(repo.root);
  await begin(opened);
  stopClock();
  const before = mutations(files);
  const letters = [...'abcdefghij'];
  const counts = Promise.all([
    ...letters.map((letter) => append(opened, 'word', letter)),
    add(opened, 'passing'),
    remove(opened, 'passing'),
    remove(opened, 'first'),
    add(opened, 'first', 'again'),
    add(opened, 'kept'),
    opened.call.store.change({ subject: 'count' }, async (draft) => {
      const { records } = await draft.list(note);
      return records.map(({ key }) => key);
    }),
  ]);
  expect((await counts).at(-1)).toEqual(['first', 'kept', 'word']);
  expect(mutations(files) - before).toBeLessThan(4);
  expect(await text(opened, 'word')).toBe('abcdefghij');
  expect(repo.git('show', 'HEAD~10:.memory-bank/notes/word.yaml')).toContain('abcde\n');
  expect(await text(opened, 'first')).toBe('again');
  expect(await text(opened, 'passing')).toBeUndefined();
  expect(subjects(repo, 5)).toEqual(
    ['add passing', 'remove passing', 'remove first', 'add first', 'add kept'].map(
      (subject) => `memory: ${subject}`,
    ),
  );
  expectWhole(repo);
});

test('a change that fails does not affect the others', async () => {
  const repo = create();
  const { opened } = await serve(repo.root);
  await begin(opened);
  const found: (Located<Note> | undefined)[] = [];
  const refuse = opened.call.store.change({ subject: 'refuse' }, async (draft: Transaction) => {
    await draft.put(note, { key: 'half', tags: [], text: 'never' });
    throw new Error('refused');
  });
  const look = opened.call.store.change({ subject: 'look' }, async (draft) => {
    found.push(await draft.get(note, 'half'));
  });
  const all = await Promise.allSettled([
    add(opened, 'a'),
    refuse,
    look,
    add(opened, 'big', 'x'.repeat(3 * 1024 * 1024)),
    add(opened, 'b'),
  ]);
  expect(all.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(all[3]).toMatchObject({ reason: { code: 'too_large' } });
  expect(found.at(-1)).toBeUndefined();
  expect(subjects(repo, 2)).toEqual(['memory: add a', 'memory: add b']);
  expectWhole(repo);
});

test('a change that the repository refuses does not affect the others', async () => {
  const repo = create();
  repo.write('.gitignore', '.memory-bank/notes/b.yaml\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'ignore');
  const { opened } = await serve(repo.root);
  await begin(opened);
  const all = await Promise.allSettled(['a', 'b', 'c'].map((key) => add(opened, key)));
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(subjects(repo, 2)).toEqual(['memory: add a', 'memory: add c']);
  expectWhole(repo);
});

test('the edit of a person is committed once and first', async () => {
  const repo = create();
  const { opened } = await serve(repo.root);
  await begin(opened);
  repo.write('.memory-bank/notes/first.yaml', 'key: first\ntags: []\ntext: by hand\n');
  await Promise.all([append(opened, 'first', ' and a'), append(opened, 'first', ' and b')]);
  expect(await text(opened, 'first')).toBe('by hand and a and b');
  expect(subjects(repo, 3)).toEqual([
    'memory: keep edit by hand of first.yaml',
    'memory: append and a',
    'memory: append and b',
  ]);
  expectWhole(repo);
});

test('the mode of a session also hides what another session is about to commit', async () => {
  const repo = create();
  const { opened } = await serve(repo.root);
  await begin(opened);
  repo.write(
    '.memory-bank/rules/narrow.yaml',
    'mode: narrow\ninstructions:\n  general: [x]\n  memory_bank:\n    files_to_read: [notes/open.yaml]\n    files_to_update: []\n',
  );
  const narrow = new Opened(opened.workspace);
  await narrow.call.modes.switch('narrow');
  const reading = (work: (draft: Transaction) => Promise<unknown>) =>
    narrow.call.store.change({ subject: 'read' }, work);
  const [, , get, list, annotations] = await Promise.allSettled([
    add(opened, 'secret'),
    add(opened, 'open'),
    reading((draft) => draft.get(note, 'secret')),
    reading(async (draft) => (await draft.list(note)).records.map(({ key }) => key)),
    reading((draft) => draft.annotations('notes/secret.yaml')),
  ]);
  expect(get).toMatchObject({ reason: { code: 'forbidden' } });
  expect(list).toMatchObject({ value: ['open'] });
  expect(annotations).toMatchObject({ reason: { code: 'forbidden' } });
});

test('after an error of the disk each change is tried without the others', async () => {
  const repo = create();
  let files: FaultFiles | undefined;
  let left = 0;
  const served = await serve(repo.root, (_, operation) => {
    const last = files?.log.at(-1) ?? '';
    const fails = operation === 'rename' && left > 0 && /\/index$/.test(last);
    if (fails) left -= 1;
    return fails ? { kind: 'error', code: 'EIO' } : undefined;
  });
  files = served.files;
  const { opened } = served;
  await begin(opened);
  left = 1;
  await Promise.all(['a', 'b', 'c'].map((key) => add(opened, key)));
  expect(left).toBe(0);
  expect(subjects(repo, 3)).toEqual(['a', 'b', 'c'].map((key) => `memory: add ${key}`));
  left = 1_000;
  const failed = await Promise.allSettled(['d', 'e'].map((key) => add(opened, key)));
  expect(failed).toMatchObject([{ reason: { code: 'storage' } }, { reason: { code: 'storage' } }]);
  left = 0;
  await add(opened, 'f');
  expect(subjects(repo, 2)).toEqual(['memory: add c', 'memory: add f']);
  expectWhole(repo);
});

test('a cancelled change is not made, and the others are', async () => {
  const repo = create();
  const { opened } = await serve(repo.root);
  await begin(opened);
  const controller = new AbortController();
  const bound = opened.workspace.bind({
    session: opened.session,
    tool: 'test_tool',
    signal: controller.signal,
    onCommit: () => undefined,
    progress: () => undefined,
  });
  const cancelling = opened.call.store.change({ subject: 'cancel' }, async (draft) => {
    controller.abort();
    await draft.put(note, { key: 'a', tags: [], text: 'a' });
  });
  const cancelled = bound.store.change({ subject: 'add x' }, (draft) =>
    draft.put(note, { key: 'x', tags: [], text: 'x' }),
  );
  const all = await Promise.allSettled([cancelling, add(opened, 'b'), cancelled]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(all[2]).toMatchObject({ reason: { code: 'cancelled' } });
  expect(subjects(repo, 2)).toEqual(['memory: cancel', 'memory: add b']);
  await expect(
    bound.store.change({ subject: 'late' }, (draft) => draft.remove(note, 'a')),
  ).rejects.toMatchObject({ code: 'cancelled' });
});

test('the first changes of a new memory create it once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'memory-bank-test-'));
  cleanUp.push(() => rmSync(folder, { recursive: true }));
  const repo = Repo.in(join(folder, 'project'));
  const { opened } = await serve(repo.root);
  const keys = ['a', 'b', 'c'];
  await Promise.all(keys.map((key) => add(opened, key)));
  // Each waits for the repository, so their order is not that of the calls.
  expect(subjects(repo, 3).sort()).toEqual(keys.map((key) => `memory: add ${key}`));
  expect(repo.git('log', '--format=', '--name-only').match(/config\.yaml/g)).toHaveLength(1);
  expectWhole(repo);
});
