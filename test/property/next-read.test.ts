import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Store } from '../../src/core/memory/store.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { letter, note } from '../support/note.ts';
import { open } from '../support/open.ts';
import { gitEnv, Repo } from '../support/repo.ts';

/** A read has to see each change, by the server or by others. */

const types = [note, letter];

/** A store whose files a person also edits. */
interface Ground {
  /** The context of one call. */
  store(): Store;
  write(path: string, text: string): void;
  rename(from: string, to: string): void;
  remove(path: string): void;
  /** Commits everything, if the files are in a repository. */
  commit(): void;
  /** Checks out a branch; a new one begins at HEAD. */
  checkout(branch: string): void;
  merge(branch: string): void;
  close(): Promise<void>;
}

/** A store in memory, where a branch is a copy of the files. */
class Files implements Ground {
  readonly #store = new MemoryStore(types);
  readonly #branches = new Map<string, Map<string, string>>();
  #branch = 'main';

  store = () => this.#store;
  write(path: string, text: string): void {
    this.#store.files.set(path, text);
  }
  rename(from: string, to: string): void {
    for (const [path, text] of [...this.#store.files]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#store.files.delete(path);
      this.#store.files.set(to + path.slice(from.length), text);
    }
  }
  remove(path: string): void {
    for (const file of [...this.#store.files.keys()]) {
      if (file === path || file.startsWith(`${path}/`)) this.#store.files.delete(file);
    }
  }
  commit(): void {}
  checkout(branch: string): void {
    this.#branches.set(this.#branch, new Map(this.#store.files));
    this.#store.files = new Map(this.#branches.get(branch) ?? this.#store.files);
    this.#branch = branch;
  }
  merge(branch: string): void {
    for (const [path, text] of this.#branches.get(branch) ?? []) this.#store.files.set(path, text);
  }
  async close(): Promise<void> {}
}

async function onDisk(): Promise<Ground> {
  const repo = Repo.create();
  const opened = await open(repo.root, types);
  const at = (path: string) => join(repo.root, '.memory-bank', path);
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: repo.root, env: gitEnv, stdio: 'pipe' });
  const commit = () => {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'By hand');
  };
  return {
    store: () => opened.call.store,
    write(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    rename(from, to) {
      mkdirSync(dirname(at(to)), { recursive: true });
      renameSync(at(from), at(to));
    },
    remove: (path) => rmSync(at(path), { recursive: true, force: true }),
    commit,
    checkout(branch) {
      commit();
      const known = git('branch', '--list', branch).length > 0;
      git('checkout', '-q', ...(known ? [] : ['-b']), branch);
    },
    merge(branch) {
      commit();
      git('merge', '-q', '-m', 'Merge', '-X', 'theirs', branch);
    },
    async close() {
      await opened.workspace.close();
      repo.remove();
    },
  };
}

/** A word unlike any other, so that a search for it finds one record. */
function wordOf(number: number): string {
  const letters = 'bcdfghjklmnpqrst';
  return [...(number * 2_654_435_761).toString(16).padStart(9, '0').slice(-9)]
    .map((digit) => letters[Number.parseInt(digit, 16)])
    .join('');
}
const noteText = (key: string, word: string) => `key: ${key}\ntags: []\ntext: ${word}\n`;
const letterText = (id: string, word: string) => `---\nid: ${id}\ntitle: ${id}\n---\n${word}\n`;

/** The existing records: the word of each key, by type. */
interface Model {
  readonly notes: Map<string, string>;
  readonly letters: Map<string, string>;
}

const folders = ['', 'a/', 'a/b/', 'c/'];
const place = fc.record({ folder: fc.nat(folders.length - 1), name: fc.nat(3) });
const change = fc.oneof(
  place.map((at) => ({ kind: 'put' as const, ...at })),
  place.map((at) => ({ kind: 'put letter' as const, ...at })),
  place.map((at) => ({ kind: 'write' as const, ...at })),
  place.map((at) => ({ kind: 'write letter' as const, ...at })),
  place.map((at) => ({ kind: 'move' as const, ...at })),
  place.map((at) => ({ kind: 'delete' as const, ...at })),
  place.map((at) => ({ kind: 'delete folder' as const, ...at })),
  fc.constant({ kind: 'branch' as const, folder: 0, name: 0 }),
  fc.constant({ kind: 'merge' as const, folder: 0, name: 0 }),
);
/** The first read after a change: each kind of read has to find the change by itself. */
const read = fc.constantFrom('search', 'literal', 'list', 'get' as const);

test.each([
  ['in memory', async (): Promise<Ground> => new Files(), 40],
  ['on disk', onDisk, 12],
] as const)('every read sees the change before it: %s', async (_, ground, most) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(change, read), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (steps, warm) => {
        const stage = await ground();
        try {
          if (warm) await stage.store().search({ query: 'nothing' });
          await play(stage, steps);
        } finally {
          await stage.close();
        }
      },
    ),
    { numRuns: runs(most) },
  );
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Read = typeof read extends fc.Arbitrary<infer T> ? T : never;

async function play(stage: Ground, steps: readonly (readonly [Change, Read])[]): Promise<void> {
  let model: Model = { notes: new Map(), letters: new Map() };
  let side: Model | undefined;
  let onSide = false;
  const said: string[] = [];
  for (const [number, [{ kind, folder, name }, how]] of steps.entries()) {
    const word = wordOf(number + 1);
    const path = `${folders[folder]}${name}`;
    const key = `n${folder}x${name}`;
    const id = `l${folder}x${name}`;
    const noteFile = `notes/${path}.yaml`;
    const letterFile = `letters/${path}.md`;
    if (kind === 'put') {
      await stage
        .store()
        .change({ subject: 's' }, (tx) => tx.put(note, { key: word, tags: [], text: word }));
      model.notes.set(word, word);
    } else if (kind === 'put letter') {
      await stage
        .store()
        .change({ subject: 's' }, (tx) =>
          tx.put(letter, { id: word, title: word, body: `${word}\n` }),
        );
      model.letters.set(word, word);
    } else if (kind === 'write') {
      stage.write(noteFile, noteText(key, word));
      model.notes.set(key, word);
    } else if (kind === 'write letter') {
      stage.write(letterFile, letterText(id, word));
      model.letters.set(id, word);
    } else if (kind === 'move' && model.notes.has(key)) {
      stage.rename(noteFile, `notes/moved${number}/${name}.yaml`);
      stage.write(`notes/moved${number}/${name}.yaml`, noteText(`m${number}`, word));
      model.notes.delete(key);
      model.notes.set(`m${number}`, word);
    } else if (kind === 'delete') {
      stage.remove(noteFile);
      model.notes.delete(key);
    } else if (kind === 'delete folder') {
      stage.remove('letters');
      model.letters.clear();
    } else if (kind === 'branch') {
      const other = side;
      stage.checkout(onSide ? 'main' : 'side');
      side = { notes: new Map(model.notes), letters: new Map(model.letters) };
      if (other) model = { notes: new Map(other.notes), letters: new Map(other.letters) };
      onSide = !onSide;
    } else if (kind === 'merge' && side && !onSide && isAhead(side, model)) {
      stage.merge('side');
      for (const [key, word] of side.notes) model.notes.set(key, word);
      for (const [key, word] of side.letters) model.letters.set(key, word);
    }
    said.push(word);
    await expectSeen(stage, model, said, how);
  }
}

/** Whether one side has everything of the other, so that a merge takes all of it. */
function isAhead(side: Model, model: Model): boolean {
  const within = (a: Map<string, string>, b: Map<string, string>) =>
    [...a].every(([key, word]) => b.get(key) === word);
  return within(model.notes, side.notes) && within(model.letters, side.letters);
}

/** @param said the words of all records, removed ones included. */
async function expectSeen(
  stage: Ground,
  { notes, letters }: Model,
  said: readonly string[],
  how: Read,
): Promise<void> {
  const expected = [...notes, ...letters].sort();
  const store = stage.store();
  if (how === 'list') {
    const listed = [
      ...(await store.list(note)).records.map(({ key, value }) => [key, value.text]),
      ...(await store.list(letter)).records.map(({ key, value }) => [key, value.body.trim()]),
    ];
    expect(listed.sort()).toEqual(expected);
  } else if (how === 'get') {
    for (const [key, word] of notes) expect((await store.get(note, key))?.value.text).toBe(word);
    for (const [id, word] of letters) {
      expect((await store.get(letter, id))?.value.body.trim()).toBe(word);
    }
  } else {
    for (const word of said) {
      const keys = expected.filter(([, of]) => of === word).map(([key]) => key);
      const { hits, damaged } = await stage
        .store()
        .search({ query: word, fuzzy: how === 'search' });
      expect(damaged).toEqual([]);
      expect(hits.map((hit) => hit.key)).toEqual(keys);
    }
  }
}
