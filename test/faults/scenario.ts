import { rmSync } from 'node:fs';
import type { MemoryPin } from '../../src/core/memory/pinned-memories.ts';
import { note } from '../support/note.ts';
import type { Opened } from '../support/open.ts';
import type { Repo } from '../support/repo.ts';
import { serve } from './place.ts';

/** A repository in some state, and one mutation of its memory. */
export interface Scenario {
  readonly name: string;
  /** The served folder, relative to the repository; by default the repository itself. */
  readonly folder?: string;
  /** Creates the state in an empty folder. */
  prepare(repo: Repo): Promise<void>;
  /** The mutations in order; each is one call and one commit, or several that are committed together. */
  readonly acts: readonly Act[];
  /**
   * The changes that the only act makes at a time, each of which may fail without the others. On a slow
   * machine they are not all committed together, so that a kill can leave the first ones.
   */
  readonly changes?: readonly Act[];
}

type Act = (opened: Opened) => Promise<unknown>;

/** Adds or changes notes, in one commit. */
export function put(opened: Opened, texts: { readonly [key: string]: string }): Promise<void> {
  const keys = Object.keys(texts);
  return opened.call.store.change({ subject: `put ${keys[0]}` }, async (tx) => {
    for (const key of keys) await tx.put(note, { key, tags: [], text: texts[key] ?? '' });
  });
}

function remove(opened: Opened, ...keys: string[]): Promise<void> {
  return opened.call.store.change({ subject: `remove ${keys[0]}` }, async (tx) => {
    for (const key of keys) await tx.remove(note, key);
  });
}

/** Makes a repository with an identity, one commit, and work of a user that no mutation may touch. */
export function begin(repo: Repo, ...initOptions: string[]): void {
  repo.git('init', '-q', '-b', 'main', ...initOptions);
  rmSync(repo.path('.git/hooks'), { recursive: true, force: true });
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  repo.git('config', 'gc.auto', '0');
  repo.write('README.md', '# A project\n');
  repo.write('src/main.c', 'int main;\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Begin');
}

export function work(repo: Repo, folder = '.'): void {
  repo.write(`${folder}/README.md`, '# Dirty\n');
  repo.write(`${folder}/staged.txt`, 'staged\n');
  repo.gitWith({ cwd: repo.path(folder) }, 'add', 'staged.txt');
  repo.write(`${folder}/src/main.c`, 'int staged;\n');
  repo.gitWith({ cwd: repo.path(folder) }, 'add', 'src');
  repo.write(`${folder}/src/main.c`, 'int dirty;\n');
  repo.write(`${folder}/untracked.txt`, 'untracked\n');
}

async function fill(repo: Repo, texts: { readonly [key: string]: string }, folder = '.') {
  const opened = await serve(repo.path(folder));
  await put(opened, texts);
  await opened.workspace.close();
}

/** Fetches the memory of a branch of the same repository, as that of another one. */
async function fetchOther(opened: Opened, name: string): Promise<MemoryPin> {
  const wanted = { name, path: '.', ref: 'other', commit: '' };
  return (await opened.call.memories.preview(wanted)).pin;
}

function several(count: number, text: string): { [key: string]: string } {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, `${text} ${i}`]));
}

const notePath = '.memory-bank/notes';
const byHand = (key: string, text: string) => `key: ${key}\ntags: []\ntext: ${text}\n`;

/** Every state in which mutations are tried. */
const threeChanges: readonly Act[] = [
  (opened) => put(opened, { a: 'new', c: 'new' }),
  (opened) => put(opened, { a: 'newer' }),
  (opened) => remove(opened, 'b'),
];

export const scenarios: readonly Scenario[] = [
  {
    name: 'first write',
    async prepare(repo) {
      begin(repo);
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'no repository',
    async prepare(repo) {
      repo.write('src/main.c', 'int main;\n');
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'update',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'other' });
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'two changes',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old' });
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new', b: 'new' }), (opened) => remove(opened, 'a')],
  },
  {
    name: 'three changes at once',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'other' });
      work(repo);
    },
    acts: [(opened) => allEnded(threeChanges.map((change) => change(opened)))],
    changes: threeChanges,
  },
  {
    name: 'claims',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'other' });
      const opened = await serve(repo.root);
      await opened.call.claims.claim('notes/b.yaml', 10_080);
      await opened.workspace.close();
      repo.git('pack-refs', '--all');
      work(repo);
    },
    acts: [
      (opened) => opened.call.claims.claim('notes/a.yaml', 10_080),
      (opened) => opened.call.claims.release('notes/b.yaml', false),
    ],
  },
  {
    name: 'memory of another repository',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old' });
      repo.git('branch', 'other');
      const opened = await serve(repo.root);
      await opened.call.memories.pin('kept', undefined, await fetchOther(opened, 'kept'));
      await opened.workspace.close();
      repo.git('pack-refs', '--all');
      work(repo);
    },
    acts: [
      (opened) => fetchOther(opened, 'more'),
      async (opened) =>
        opened.call.memories.pin('more', undefined, await fetchOther(opened, 'more')),
      (opened) => opened.call.memories.forget('kept'),
    ],
  },
  {
    name: 'removal with its folder',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'other' });
      work(repo);
    },
    acts: [(opened) => remove(opened, 'a', 'b')],
  },
  {
    name: 'batch of 20',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { ...several(8, 'old'), gone: 'old', gone2: 'old' });
      work(repo);
    },
    acts: [
      (opened) =>
        opened.call.store.change({ subject: 'many' }, async (tx) => {
          for (const [key, text] of Object.entries(several(18, 'new'))) {
            await tx.put(note, { key, tags: [], text });
          }
          await tx.remove(note, 'gone');
          await tx.remove(note, 'gone2');
        }),
    ],
  },
  {
    name: 'edit by hand',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old' });
      repo.write(`${notePath}/a.yaml`, byHand('a', 'by hand'));
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'confirmation',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'old' });
      repo.write(`${notePath}/b.yaml`, byHand('b', 'by hand'));
      work(repo);
    },
    acts: [
      (opened) => opened.call.reviews.confirm('notes/a.yaml'),
      (opened) => opened.call.reviews.confirm('notes/b.yaml'),
    ],
  },
  {
    name: 'third version staged',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old', b: 'old' });
      repo.write(`${notePath}/a.yaml`, byHand('a', 'staged'));
      repo.write(`${notePath}/b.yaml`, byHand('b', 'staged'));
      repo.git('add', '.');
      repo.write(`${notePath}/a.yaml`, byHand('a', 'by hand'));
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new', b: 'new' })],
  },
  {
    name: 'untracked by hand',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old' });
      repo.write(`${notePath}/b.yaml`, byHand('b', 'by hand'));
      repo.git('rm', '-q', '--cached', `${notePath}/a.yaml`);
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new', b: 'new' })],
  },
  {
    name: 'detached HEAD',
    async prepare(repo) {
      begin(repo);
      await fill(repo, { a: 'old' });
      repo.git('checkout', '-q', '--detach');
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new', b: 'new' })],
  },
  {
    name: 'linked work tree',
    folder: 'linked',
    async prepare(repo) {
      begin(repo);
      repo.write('.git/info/exclude', '/linked\n');
      repo.git('worktree', 'add', '-q', '-b', 'side/linked', 'linked');
      await fill(repo, { a: 'old' }, 'linked');
      work(repo, 'linked');
    },
    acts: [(opened) => put(opened, { a: 'new', b: 'new' })],
  },
  {
    name: 'unborn branch',
    async prepare(repo) {
      repo.git('init', '-q', '-b', 'topic/unborn');
      rmSync(repo.path('.git/hooks'), { recursive: true, force: true });
      repo.write('staged.txt', 'staged\n');
      repo.git('add', '.');
      repo.write('untracked.txt', 'untracked\n');
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'packed refs',
    async prepare(repo) {
      begin(repo);
      repo.git('checkout', '-q', '-b', 'topic/packed');
      await fill(repo, { a: 'old', b: 'other' });
      repo.git('gc', '-q', '--prune=now');
      repo.git('pack-refs', '--all', '--prune');
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'index version 4',
    async prepare(repo) {
      begin(repo);
      repo.git('config', 'index.version', '4');
      repo.git('config', 'index.skipHash', 'true');
      await fill(repo, { a: 'old', b: 'other' });
      repo.git('update-index', '--index-version', '4');
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new', c: 'new' })],
  },
  {
    name: 'no reflogs',
    async prepare(repo) {
      begin(repo);
      repo.git('config', 'core.logAllRefUpdates', 'false');
      rmSync(repo.path('.git/logs'), { recursive: true, force: true });
      await fill(repo, { a: 'old' });
      work(repo);
    },
    acts: [(opened) => put(opened, { a: 'new' })],
  },
  {
    name: 'folder of 300 records',
    async prepare(repo) {
      begin(repo);
      await fill(repo, several(300, 'old'));
      repo.git('gc', '-q', '--prune=now');
      work(repo);
    },
    acts: [(opened) => put(opened, { late: 'new', n7: 'new' })],
  },
];

/** Waits for the end of all changes, then throws the first error: what still runs cannot be judged. */
async function allEnded(changes: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(changes);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
