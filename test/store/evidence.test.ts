import { rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnnotationChanges } from '../../src/core/evidence/annotations.ts';
import type { EvidenceRequest } from '../../src/core/evidence/verdict.ts';
import { Folder } from '../../src/git/disk/folder.ts';
import { path as pathRecord } from '../../src/toolsets/graph/records.ts';
import { deep } from '../support/depth.ts';
import { aboutCode } from '../support/findings.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';

let repo: Repo;
let opened: Opened;

const lock = Array.from({ length: 60 }, (_, i) => `  step ${i + 1};`);
const lines = (list: readonly string[]) => `${list.join('\n')}\n`;

beforeEach(async () => {
  repo = Repo.create();
  repo.write('src/lock.ts', lines(lock));
  commit('Add the lock');
  opened = await open(repo.root, [note, letter, pathRecord]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function commit(message: string): string {
  return repo.commitAll(message);
}

const put = (key: string, text: string) =>
  opened.call.store.change({ subject: `write ${key}` }, (tx) =>
    tx.put(note, { key, text, tags: [] }),
  );

const check = (request: EvidenceRequest = {}) => opened.call.history.evidence(request);

/** The verdicts as short texts: `changed src/lock.ts:1 -> nothing`. */
async function verdicts(request: EvidenceRequest = {}): Promise<string[]> {
  const { records } = await check(request);
  return records.flatMap(({ findings }) =>
    aboutCode(findings).map(({ verdict, evidence, now }) => {
      const place = (one: typeof now) =>
        one ? `${one.path}${one.lines ? `:${one.lines.first}-${one.lines.last}` : ''}` : 'nothing';
      return `${verdict} ${place({ path: evidence.path, lines: evidence.lines })} -> ${place(now)}`;
    }),
  );
}

describe('evidence that a text names', () => {
  test('is fresh while its lines are as they were', async () => {
    await put('locks', 'See `src/lock.ts:40-42`, README.md and src/none.ts; `src` and/or nothing.');
    expect(await check()).toEqual({
      records: [
        {
          path: 'notes/locks.yaml',
          findings: [
            {
              kind: 'evidence',
              verdict: 'fresh',
              severity: 'info',
              evidence: {
                path: 'src/lock.ts',
                lines: { first: 40, last: 42 },
                source: 'found',
              },
              now: { path: 'src/lock.ts', lines: { first: 40, last: 42 } },
              commit: undefined,
              message: 'src/lock.ts:40-42 is as it was.',
            },
            expect.objectContaining({
              verdict: 'fresh',
              evidence: expect.objectContaining({ path: 'README.md' }),
            }),
          ],
        },
      ],
      folders: { memory: '.memory-bank', project: '.' },
      counts: { fresh: 2, moved: 0, ambiguous: 0, changed: 0, gone: 0, beyond: 0, unknown: 0 },
    });
    repo.write('src/lock.ts', lines(lock.map((line, i) => (i < 30 ? `new ${i}` : `\t${line}`))));
    commit('Change other lines and the indentation');
    expect((await check()).counts).toMatchObject({ fresh: 2 });
  });

  test('is moved with the lines that it has now', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.write('src/lock.ts', lines(['// one', '', ...lock]));
    expect(await verdicts()).toEqual(['moved src/lock.ts:40-42 -> src/lock.ts:42-44']);
    commit('Add a comment');
    expect(await verdicts()).toEqual(['moved src/lock.ts:40-42 -> src/lock.ts:42-44']);
  });

  deep('is ambiguous if its text occurs twice', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.write('src/lock.ts', lines(['x', ...lock, ...lock]));
    expect(await verdicts()).toEqual(['ambiguous src/lock.ts:40-42 -> src/lock.ts:41-43']);
  });

  test('is changed by a commit that the finding names', async () => {
    await put('locks', 'See src/lock.ts:40-42 and src/lock.ts:1.');
    repo.write('src/lock.ts', lines(lock.with(40, 'another step')));
    const [before] = (await check()).records[0]?.findings ?? [];
    expect(before).toMatchObject({ verdict: 'changed', severity: 'warning', commit: undefined });
    expect(before?.message).toContain('not committed yet');
    const oid = commit('Change the lock');
    repo.write('README.md', 'later\n');
    commit('Change something else');
    const [after] = (await check()).records[0]?.findings ?? [];
    expect(after).toMatchObject({ verdict: 'changed', now: undefined, commit: oid });
    expect(after?.message).toContain('Ada Lovelace <ada@example.org>: Change the lock');
  });

  test('is fresh again once the record was changed', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.write('src/lock.ts', lines(lock.with(40, 'another step')));
    commit('Change the lock');
    expect((await check()).counts.changed).toBe(1);
    await put('locks', 'See src/lock.ts:40-42, which has another step.');
    expect((await check()).counts).toMatchObject({ changed: 0, fresh: 1 });
  });

  test('stays changed when only its date, its successor or its given evidence is set', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.write('src/lock.ts', lines(lock.with(40, 'another step')));
    commit('Change the lock');
    const annotate = (changes: AnnotationChanges) =>
      opened.call.store.change({ subject: 'annotate' }, (tx) =>
        tx.annotate('notes/locks.yaml', changes),
      );
    await annotate({ expires: '2030-01-01', status: 'inference', supersededBy: 'notes/x.yaml' });
    await annotate({ evidence: await opened.call.project.cite(['src/lock.ts:1']) });
    expect((await check()).counts).toMatchObject({ changed: 1, fresh: 1 });
    const path = '.memory-bank/notes/locks.yaml';
    repo.write(path, repo.read(path).replace('2030', '2031'));
    expect((await check()).counts).toMatchObject({ changed: 1, fresh: 1 });
    commit('Set another date by hand');
    expect((await check()).counts).toMatchObject({ changed: 1, fresh: 1 });
    await annotate({ verified: { at: '2026-01-02T03:04:05.000Z' } });
    expect((await check()).counts).toMatchObject({ changed: 0, fresh: 2 });
  });

  test('is gone with its file, and follows a renamed file', async () => {
    await put('locks', 'See src/lock.ts:40-42 and src/lock.ts.');
    repo.git('mv', 'src/lock.ts', 'src/mutex.ts');
    expect(await verdicts()).toEqual([
      'gone src/lock.ts:40-42 -> nothing',
      'gone src/lock.ts -> nothing',
    ]);
    commit('Rename the lock');
    expect(await verdicts()).toEqual([
      'moved src/lock.ts:40-42 -> src/mutex.ts:40-42',
      'moved src/lock.ts -> src/mutex.ts',
    ]);
    repo.write('src/mutex.ts', lines(['// one', ...lock.with(3, 'x')]));
    commit('Change the mutex');
    expect(await verdicts()).toEqual([
      'moved src/lock.ts:40-42 -> src/mutex.ts:41-43',
      'moved src/lock.ts -> src/mutex.ts',
    ]);
    rmSync(repo.path('src/mutex.ts'));
    const oid = commit('Remove the mutex');
    const { records } = await check();
    expect(records[0]?.findings[0]).toMatchObject({ verdict: 'gone', severity: 'error' });
    expect(oid).not.toBe(aboutCode(records[0]?.findings ?? [])[0]?.commit);
  });

  deep('keeps its baseline when the record is moved', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.write('src/lock.ts', lines(lock.with(40, 'another step')));
    commit('Change the lock');
    repo.git('mv', '.memory-bank/notes/locks.yaml', '.memory-bank/notes/mutexes.yaml');
    commit('Move the record');
    expect(await verdicts()).toEqual(['changed src/lock.ts:40-42 -> nothing']);
  });

  deep('of a record that is not committed is compared with HEAD', async () => {
    repo.write('.memory-bank/notes/hand.yaml', 'key: hand\ntags: []\ntext: src/lock.ts:3\n');
    expect(await verdicts()).toEqual(['fresh src/lock.ts:3-3 -> src/lock.ts:3-3']);
    repo.write('src/lock.ts', lines(['x', ...lock]));
    expect(await verdicts()).toEqual(['moved src/lock.ts:3-3 -> src/lock.ts:4-4']);
  });

  deep('includes fields with paths, of which the form says nothing', async () => {
    repo.write('Makefile', 'all:\n');
    commit('Add a Makefile');
    const at = '2026-01-02T03:04:05.000Z';
    await opened.call.store.change({ subject: 'path' }, (tx) =>
      tx.put(pathRecord, {
        path: 'Makefile',
        type: 'file',
        id: 'AAAAAAAAAAAA',
        created_at: at,
        updated_at: at,
      }),
    );
    expect(await verdicts()).toEqual(['fresh Makefile -> Makefile']);
  });
});

describe('evidence that git cannot judge', () => {
  test('is unknown: untracked, binary, later than the record, beyond the end', async () => {
    repo.write('data.bin', Buffer.from([0, 1, 2, 10]));
    commit('Add files');
    await put('odd', 'data.bin:1 untracked.ts:1 later.ts:1 src/lock.ts:61 never.ts:1');
    repo.write('untracked.ts', 'x\n');
    repo.write('data.bin', Buffer.from([0, 1, 2, 3, 10]));
    repo.write('later.ts', 'x\n');
    repo.write('src/lock.ts', lines(['x', ...lock]));
    repo.git('add', 'later.ts');
    repo.git('commit', '-q', '-m', 'Later');
    const { records, counts } = await check();
    expect(counts).toMatchObject({ unknown: 4, changed: 0, gone: 0, fresh: 0 });
    expect(records[0]?.findings.map(({ message }) => message.replace(/^.*: /, ''))).toEqual([
      'it is binary.',
      'it is not committed yet.',
      'it was committed after the record.',
      'it had only 60 lines.',
    ]);
  });

  test('is beyond the end of a file that never had the lines, also for a branch that wrote it', async () => {
    repo.write('data.bin', Buffer.from([0, 10]));
    repo.write('empty.ts', '');
    commit('Add files');
    const base = repo.git('rev-parse', 'HEAD').trim();
    await put('odd', 'src/lock.ts:60-61\nsrc/lock.ts:60 empty.ts:1 data.bin:9');
    const { records, counts } = await check({ since: base });
    const written = repo.read('.memory-bank/notes/odd.yaml').split('\n');
    expect(counts).toMatchObject({ beyond: 2, fresh: 0 });
    expect(records[0]?.findings).toMatchObject([
      {
        verdict: 'beyond',
        severity: 'error',
        line: written.findIndex((line) => line.includes('60-61')) + 1,
        message: 'src/lock.ts:60-61 is beyond the end of the file, which has 60 lines.',
        mend: 'memory-bank edit notes/odd.yaml',
      },
      { message: 'empty.ts:1 is beyond the end of the file, which has 0 lines.' },
    ]);
    expect((await opened.call.store.cautions(['notes/odd.yaml'])).get('notes/odd.yaml')).toEqual([
      expect.stringContaining('src/lock.ts:60-61 is beyond the end'),
      expect.stringContaining('empty.ts:1 is beyond'),
    ]);
    expect((await check({ since: 'HEAD' })).counts).toMatchObject({ beyond: 0 });
    // The record can be older than the commit of the lines that it names.
    repo.write('src/lock.ts', lines([...lock, 'new']));
    commit('Add the line');
    expect((await check()).counts).toMatchObject({ beyond: 1, unknown: 1 });
  });

  linked('is unknown if it is a link', async () => {
    symlinkSync('/etc/passwd', repo.path('link.txt'));
    commit('Add a link');
    await put('odd', 'link.txt:1');
    const { records, counts } = await check();
    expect(counts).toMatchObject({ unknown: 1, changed: 0, gone: 0, fresh: 0 });
    expect(records[0]?.findings[0]?.message).toContain('it is a symbolic link.');
  });

  deep('is unknown in a submodule', async () => {
    const other = Repo.create();
    const allow = ['-c', 'protocol.file.allow=always'];
    repo.git(...allow, 'submodule', '--quiet', 'add', other.root, 'vendor/sub');
    commit('Add a submodule');
    await put('sub', 'vendor/sub/README.md:1');
    expect((await check()).counts).toMatchObject({ unknown: 1 });
    other.remove();
  });

  deep('is unknown in a shallow clone, unless the file is gone', async () => {
    await put('locks', 'See src/lock.ts:40-42 and README.md:1.');
    repo.write('src/lock.ts', lines(lock.with(40, 'another step')));
    commit('Change the lock');
    const clone = new Repo();
    clone.git('clone', '-q', '--depth=1', `file://${repo.root}`, join(clone.root, 'c'));
    const shallow = await open(join(clone.root, 'c'), [note]);
    const { counts } = await shallow.call.history.evidence({});
    expect(counts).toMatchObject({ unknown: 2, changed: 0, gone: 0 });
    await shallow.workspace.close();
    clone.remove();
  });

  deep('is fresh in files that a sparse checkout leaves out', async () => {
    await put('locks', 'See src/lock.ts:40-42.');
    repo.git('sparse-checkout', 'set', '--no-cone', '/*', '!/src/');
    expect(await verdicts()).toEqual(['fresh src/lock.ts:40-42 -> src/lock.ts:40-42']);
  });
});

describe('the files of the project', () => {
  test('are read once, and only if a record names lines of them', async () => {
    const old = new Date('2026-01-01T00:00:00Z');
    utimesSync(repo.path('src/lock.ts'), old, old);
    repo.git('update-index', '-q', '--refresh');
    for (const key of ['a', 'b'])
      await put(key, 'See src/lock.ts:3-5, src/lock.ts:40 and README.md.');
    const loads = vi.spyOn(Folder.prototype, 'load');
    const reads = (name: string) => loads.mock.calls.filter(([path]) => path === name).length;
    expect((await check()).counts).toMatchObject({ fresh: 6 });
    expect(reads('src/lock.ts')).toBe(1);
    expect(reads('README.md')).toBe(0);
    repo.write('src/lock.ts', lines(['x', ...lock.with(39, 'y')]));
    expect((await check()).counts).toMatchObject({ moved: 2, changed: 2, fresh: 2 });
    expect(reads('src/lock.ts')).toBe(2);
    // An old timestamp does not hide the change.
    utimesSync(repo.path('src/lock.ts'), old, old);
    expect((await check()).counts).toMatchObject({ moved: 2, changed: 2, fresh: 2 });
    loads.mockRestore();
  });
});

describe('the request', () => {
  test('can name a record, a folder and a revision', async () => {
    await put('a', 'src/lock.ts:40');
    await put('b', 'README.md:1');
    const base = repo.git('rev-parse', 'HEAD').trim();
    repo.git('checkout', '-q', '-b', 'topic');
    repo.write('README.md', 'other\n');
    commit('Change the README');
    expect(await verdicts({ since: 'main' })).toEqual(['changed README.md:1-1 -> nothing']);
    repo.git('checkout', '-q', 'main');
    repo.write('src/lock.ts', lines(lock.with(39, 'x')));
    commit('Change the lock');
    repo.git('checkout', '-q', 'topic');
    expect(await verdicts({ since: 'main' })).toEqual(['changed README.md:1-1 -> nothing']);
    expect(await verdicts({ since: base, path: 'notes/a.yaml' })).toEqual([]);
    expect(await verdicts({ path: '.memory-bank/notes/' })).toHaveLength(2);
    repo.write('src/lock.ts', 'x\n');
    expect(await verdicts({ since: 'main', path: 'notes/a.yaml' })).toEqual([
      'changed src/lock.ts:40-40 -> nothing',
    ]);
    await expect(check({ since: 'nowhere' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('costs bounded time for a hostile record', async () => {
    const many = Array.from({ length: 200_000 }, (_, i) => `src/lock.ts:${i + 1}`).join(' ');
    repo.write('.memory-bank/notes/many.yaml', `key: many\ntags: []\ntext: ${many}\n`);
    repo.write(
      '.memory-bank/notes/out.yaml',
      'key: out\ntags: []\ntext: ../x:1 .git/config:1 /etc/passwd:1\n',
    );
    const { records } = await check();
    const [{ path = '', findings = [] } = {}, ...others] = records;
    expect([path, others]).toEqual(['notes/many.yaml', []]);
    expect(findings.filter(({ kind }) => kind === 'evidence')).toHaveLength(500);
    // It is too large to be read as a record.
    expect(findings.filter(({ kind }) => kind !== 'evidence')).toMatchObject([
      { kind: 'unreadable' },
    ]);
  });
});
