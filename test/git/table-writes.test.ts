import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { sha1 } from '../../src/git/objects/object-format.ts';
import { Refs } from '../../src/git/refs/refs.ts';
import { RefTable } from '../../src/git/reftable/ref-table.ts';
import { keyOf, logSuffix } from '../../src/git/reftable/table-bytes.ts';
import { encodeTable } from '../../src/git/reftable/table-writer.ts';
import { bury } from '../faults/place.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { hasGit, knowsTables, Repo } from '../support/repo.ts';
import { create, passing } from './create.ts';
import { expectClean, open, put } from './repository-at.ts';

/** An object id that differs by a number. */
const oid = (i: number) => (i + 1).toString(16).padStart(40, '0');

test.each([0, 1, 17, 1500])('a table of %d refs and logs is read as it was written', (count) => {
  const repo = create();
  const numbers = Array.from({ length: count }, (_, i) => i);
  const names = numbers.map((i) => `refs/heads/ä${String(i).padStart(6, '0')}`);
  const refs = numbers.map((i) => {
    const value = i % 7 === 0 ? undefined : i % 5 === 0 ? 'ref: refs/heads/main' : oid(i);
    return { key: keyOf(names[i] ?? ''), index: 3 + (i % 4), value };
  });
  const logs = numbers.map((i) => {
    const whole = {
      from: oid(i),
      to: oid(i + 1),
      name: Buffer.from('Ada Ö'),
      email: Buffer.from('a@b'),
      seconds: 1_700_000_000 + i,
      zone: -230,
      message: Buffer.from(`line ${i}\n`),
    };
    return { key: (refs[i]?.key ?? '') + logSuffix(5), index: 5, entry: i % 9 ? whole : undefined };
  });
  repo.write('table.ref', encodeTable({ format: sha1, first: 3, last: 6, refs, logs }));
  const table = new RefTable(new NodeFiles(), repo.path('table.ref'));
  expect([table.first, table.last]).toEqual([3, 6]);
  expect([...table.refs('')]).toEqual(refs);
  expect([...table.log()]).toEqual(logs);
  for (const ref of refs.filter((_, i) => i % 97 === 0)) {
    expect(table.ref(ref.key)).toEqual(ref);
    expect([...table.log(ref.key)]).toHaveLength(1);
  }
});

describe.skipIf(!knowsTables())('a repository with its refs in tables (needs git 2.45)', () => {
  function begin(format = 'sha256'): Repo {
    return passing(new Repo()).begin('--ref-format=reftable', `--object-format=${format}`);
  }

  test.each(['sha1', 'sha256'])('gets changes and their reflogs, with %s ids', async (format) => {
    const repo = begin(format);
    const made: (string | undefined)[] = [];
    for (let i = 0; i < 20; i++) {
      made.unshift((await put(open(repo.root), { [`m/${i}.md`]: 'a' }, `Change ${i}`))?.oid);
      expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made[0]);
    }
    const first = repo.git('rev-list', '--max-parents=0', 'HEAD').trim();
    for (const ref of ['HEAD', 'main']) {
      expect(repo.git('log', '-g', '--format=%H', ref).trim().split('\n')).toEqual([
        ...made,
        first,
      ]);
    }
    expect(repo.git('log', '-g', '-1', '--format=%gn %ge %gs')).toBe(
      'Ada Lovelace ada@example.org commit: Change 19\n',
    );
    // The newest tables were merged: each change adds one.
    expect(readdirSync(repo.path('.git/reftable')).length).toBeLessThan(7);
    expect(repo.git('refs', 'verify')).toBe('');
    repo.git('pack-refs', '--all');
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made[0]);
    expectClean(repo);
  });

  test('keeps the reflog of HEAD of a linked work tree, also after the server was killed', async () => {
    const repo = begin();
    repo.git('worktree', 'add', '-q', '-b', 'side', 'tree');
    const side = new Repo(repo.path('tree'));
    const main = repo.git('rev-parse', 'main');
    const one = await put(open(side.root), { 'm/a.md': 'a' }, 'One');
    const logs = () =>
      ['HEAD', 'side'].map((ref) => side.git('log', '-g', '-1', '--format=%H', ref));
    expect(logs()).toEqual([`${one?.oid}\n`, `${one?.oid}\n`]);
    const files = new FaultFiles();
    const ownList = /^rename .*\/worktrees\/tree\/reftable\/tables\.list$/;
    files.plan = () => (ownList.test(files.log.at(-1) ?? '') ? { kind: 'kill' } : undefined);
    await put(open(side.root, { files }), { 'm/a.md': 'b' }, 'Two').catch(() => undefined);
    expect(files.hit).toMatch(ownList);
    bury(repo.root);
    await open(side.root).repair();
    const two = side.git('rev-parse', 'HEAD');
    expect(two).not.toBe(`${one?.oid}\n`);
    expect(logs()).toEqual([two, two]);
    expect(side.status()).toEqual([]);
    expect(repo.git('rev-parse', 'main')).toBe(main);
    expectClean(repo);
  });

  test('gets a linked work tree, and refs of the program that it can remove', async () => {
    const repo = begin();
    const { direct } = open(repo.root);
    const head = repo.git('rev-parse', 'HEAD').trim();
    const ref = 'refs/memory-bank/memories/m';
    expect(await direct.swapOwnRef({ ref, from: undefined, to: head })).toBe(true);
    expect(repo.git('rev-parse', ref).trim()).toBe(head);
    expect(await direct.swapOwnRef({ ref, from: undefined, to: head })).toBe(false);
    expect(await direct.swapOwnRef({ ref, from: head, to: undefined })).toBe(true);
    expect(repo.git('for-each-ref', ref)).toBe('');
    await direct.moveRef('refs/heads/other', { to: head, log: 'branch: Created', isNew: true });
    const top = repo.path('.git/other');
    await direct.addWorkTree({ top, ref: 'refs/heads/other', commit: head });
    expect(repo.gitWith({ cwd: top }, 'status', '--porcelain', '-b')).toBe('## other\n');
    expect(repo.git('log', '-g', '--format=%gs', 'other')).toBe('branch: Created\n');
    await put(open(top), { 'm/a.md': 'a' });
    repo.gitWith({ cwd: top }, 'commit', '-q', '--allow-empty', '-m', 'By a person');
    expectClean(repo);
  });

  test('a configuration that could not be read is read at the next look', async () => {
    const repo = begin();
    const head = repo.git('rev-parse', 'HEAD').trim();
    const files = new FaultFiles();
    let isDue = true;
    files.plan = (_, operation) => {
      if (!isDue || operation !== 'read' || !/\/config$/.test(files.log.at(-1) ?? '')) return;
      isDue = false;
      return { kind: 'error', code: 'EIO' };
    };
    const refs = new Refs(files, repo.path('.git'), repo.path('.git'));
    expect(() => refs.head()).toThrow('EIO');
    expect(refs.head()).toEqual({ ref: 'refs/heads/main', oid: head });
  });

  test.runIf(hasGit([2, 46]))(
    'is followed by an open server when git moves its refs into files and back',
    async () => {
      const repo = begin();
      const repository = open(repo.root);
      const made = [];
      for (const form of ['reftable', 'files', 'reftable']) {
        if (made.length > 0) repo.git('refs', 'migrate', `--ref-format=${form}`);
        made.unshift((await put(repository, { 'm/a.md': `${made.length}` }))?.oid);
        expect(repo.git('rev-parse', '--show-ref-format')).toBe(`${form}\n`);
      }
      const ids = repo.git('log', '-g', '--format=%H', 'main').trim().split('\n');
      expect(ids.slice(0, 3)).toEqual(made);
      expectClean(repo);
    },
  );

  const lockTaken = /^link .*\/tables\.list\.lock$/;

  test('waits for the medium before it takes the lock of the tables, and not under it', async () => {
    const repo = begin();
    await put(open(repo.root), { 'm/a.md': 'a' });
    const files = new FaultFiles();
    await put(open(repo.root, { files }), { 'm/a.md': 'b' });
    const taken = files.log.findIndex((line) => lockTaken.test(line));
    const placed = files.log.findIndex((line) => /^rename .*\/tables\.list$/.test(line));
    expect(taken).toBeGreaterThan(0);
    const held = files.log.slice(taken, placed);
    expect(held.filter((line) => /^(?:fsync|write|create) /.test(line))).toEqual([]);
    expectClean(repo);
  });

  test.each([
    ['another branch', 'refs/heads/side'],
    ['the branch', 'refs/heads/main'],
  ])('comes after a change of %s that git makes before the lock is taken', async (_, ref) => {
    const repo = begin();
    await put(open(repo.root), { 'm/a.md': 'a' });
    const his = repo.git('commit-tree', '-m', 'his', '-p', 'HEAD', 'HEAD^{tree}').trim();
    const files = new FaultFiles();
    let isMade = false;
    files.plan = () => {
      if (!isMade && lockTaken.test(files.log.at(-1) ?? '')) {
        isMade = true;
        repo.git('update-ref', ref, his);
      }
      return undefined;
    };
    const made = await put(open(repo.root, { files }), { 'm/a.md': 'b' });
    expect(repo.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(repo.git('rev-parse', ref === 'refs/heads/main' ? 'HEAD~1' : ref).trim()).toBe(his);
    expect(repo.status()).toEqual([]);
    const { length } = readdirSync(repo.path('.git/reftable')).filter((name) => /ref$/.test(name));
    expect(repo.read('.git/reftable/tables.list').trim().split('\n')).toHaveLength(length);
    expectClean(repo);
  });

  test('refuses a change while git holds the lock of the tables, and keeps that lock', async () => {
    const repo = begin();
    const lock = repo.path('.git/reftable/tables.list.lock');
    repo.write('.git/reftable/tables.list.lock', 'his');
    const write = put(open(repo.root), { 'm/a.md': 'a' });
    await expect(write).rejects.toMatchObject({ code: 'busy', data: { lock } });
    expect(readFileSync(lock, 'utf8')).toBe('his');
    expect(repo.status()).toEqual([]);
  });
});
