import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isFull } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { objectFormat, Repo } from '../support/repo.ts';

const bank = '.memory-bank';
const gc = ['-c', 'gc.reflogExpire=now', '-c', 'gc.reflogExpireUnreachable=now', 'gc', '-q'];

type Step =
  | readonly ['write' | 'remember' | 'remove' | 'move' | 'reset', number]
  | readonly ['switch' | 'beside' | 'merge' | 'rebase', string]
  | readonly ['code' | 'amend' | 'gc' | 'ask'];

const key = fc.nat({ max: 2 });
const branch = fc.constantFrom('main', 'one', 'two');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom('write', 'remember'), key) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('remove', 'move', 'reset'), key) },
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('switch', 'rebase'), branch) },
  { weight: 8, arbitrary: fc.tuple(fc.constantFrom('beside', 'merge'), branch) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('code', 'amend', 'gc', 'ask')) },
);

/** A repository that people change with native git while a server reports its history. */
class World {
  readonly repo = Repo.create();
  /** Paths that a record was moved to or from, or removed from, on any branch. */
  readonly #left = new Set<string>();
  #count = 0;

  async take([kind, on]: Step, server: Opened): Promise<void> {
    const { repo } = this;
    const count = this.#count++;
    const path = typeof on === 'number' ? this.#pathOf(on) : '';
    switch (kind) {
      case 'write':
        return this.#commit(path, `key: k${on}\ntags: []\ntext: ${count} written\n`);
      case 'remember':
        await server.call.store.change({ subject: `remember k${on}` }, (tx) =>
          tx.put(note, { key: `k${on}`, tags: [], text: `${count} remembered` }),
        );
        return;
      case 'remove':
      case 'move': {
        if (!existsSync(repo.path(path))) return;
        const to = `${bank}/notes/moved-${count}.yaml`;
        for (const one of [path, to]) this.#left.add(one);
        repo.git(...(kind === 'remove' ? ['rm', '-q', path] : ['mv', path, to]));
        repo.git('commit', '-qm', kind);
        return;
      }
      case 'reset':
        this.#try('reset', '-q', '--hard', `HEAD~${on}`);
        return;
      case 'switch':
        return repo.checkout(String(on));
      case 'beside': {
        const here = repo.git('branch', '--show-current').trim();
        repo.checkout(String(on));
        await this.take(['write', count % 3], server);
        return repo.checkout(here);
      }
      case 'merge':
        if (!this.#try('merge', '-q', '--no-edit', '-X', 'ours', String(on))) {
          this.#try('merge', '--abort');
        }
        return;
      case 'rebase':
        if (!this.#try('rebase', '-q', String(on))) this.#try('rebase', '--abort');
        return;
      case 'code':
        return this.#commit('code.ts', `${count}`);
      case 'amend':
        repo.git('commit', '-q', '--amend', '-m', `Amended ${count}`);
        return;
      case 'gc':
        repo.git(...gc, '--prune=now');
        return;
      case 'ask':
        await server.call.history.log({ revision: 'HEAD', limit: 1, skip: 0 });
    }
  }

  /** Compares the server's answers with native git. */
  async check({ call }: Opened): Promise<void> {
    const { repo } = this;
    const log = async (path?: string, revision = 'HEAD') => {
      const asked = call.history.log({ revision, limit: 200, skip: 0, path });
      return (await asked).entries.map(({ commit }) => commit.oid);
    };
    // The combined diff of a merge without changes of its own lists no file.
    const combined = ['-c', '--full-history', '--no-renames', '--name-only', '--format=%x00%H'];
    const all = this.#lines('\0', 'log', ...combined, '--', bank)
      .filter((entry) => entry.trim().includes('\n'))
      .map((entry) => entry.slice(0, objectFormat.digits));
    const told = await log();
    expect([...told].sort()).toEqual([...all].sort());
    const order = this.#lines('\n', 'rev-list', '--topo-order', '--parents', 'HEAD');
    for (const line of order) {
      const [commit = '', ...parents] = line.split(' ').map((oid) => told.indexOf(oid));
      for (const parent of parents) if (parent >= 0) expect(commit).toBeLessThan(parent);
    }

    const linear = this.#lines('\n', 'rev-list', '--merges', 'HEAD').length === 0;
    for (const full of this.#files('HEAD')) {
      const path = full.slice(bank.length + 1);
      const oids = await log(path);
      if (linear) {
        expect(oids).toEqual(this.#lines('\n', 'log', '--follow', '--format=%H', '--', full));
      } else if (!this.#left.has(full)) {
        const found = this.#lines('\n', 'log', '--format=%H', '--', full);
        expect([...oids].sort()).toEqual(found.sort());
      }
    }

    for (const oid of this.#lines('\n', 'rev-list', '--all').slice(0, 6)) {
      const snapshot = await call.history.at(oid);
      const files = this.#files(oid);
      const { records } = files.length === 0 ? { records: [] } : await snapshot.list('notes', 20);
      expect(records.map(({ path }) => `${bank}/${path}`)).toEqual(files);
      for (const full of files) {
        const { text, last } = await snapshot.read(full);
        expect(text).toBe(repo.git('show', `${oid}:${full}`));
        expect([last.oid]).toEqual(this.#lines('\n', 'log', '-1', '--format=%H', oid, '--', full));
      }
    }
    expect(repo.fsck()).toBe('');
    expect(repo.status()).toEqual([]);
  }

  /** The path of a record in the work tree, or the path that a new one would have. */
  #pathOf(key: number): string {
    const files = this.#lines('\n', 'grep', '-l', `^key: k${key}$`, '--', bank);
    return files[0] ?? `${bank}/notes/k${key}.yaml`;
  }

  #commit(path: string, text: string): void {
    this.repo.write(path, text);
    this.repo.git('add', '-A');
    this.repo.git('commit', '-qm', `Write ${path}`);
  }

  #files(commit: string): string[] {
    return this.#lines('\n', 'ls-tree', '-r', '--name-only', commit, `${bank}/notes/`);
  }

  #lines(separator: string, ...args: string[]): string[] {
    return (this.#try(...args) ?? '').split(separator).filter(Boolean);
  }

  /** The output of git; undefined if git fails. */
  #try(...args: string[]): string | undefined {
    try {
      return this.repo.git(...args);
    } catch {
      return undefined;
    }
  }
}

test('the history equals that of native git after random commits, merges, rebases, resets and repacks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 18 }), async (steps) => {
      const world = new World();
      const server = await open(world.repo.root, [note]);
      try {
        for (const one of steps) await world.take(one, server);
        await world.check(server);
        const later = await open(world.repo.root, [note]);
        await world.check(later);
        await later.workspace.close();
      } finally {
        await server.workspace.close();
        world.repo.remove();
      }
    }),
    {
      numRuns: isFull ? 15 : 1,
      examples: [
        // A merge that takes files from both sides and adds nothing.
        [
          [
            ['beside', 'one'],
            ['beside', 'main'],
            ['merge', 'one'],
          ],
        ],
      ],
    },
  );
});
