import { mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Folder } from '../../src/git/disk/folder.ts';
import { deep } from '../support/depth.ts';
import { aboutCode } from '../support/findings.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';

let repo: Repo;
let opened: Opened;

const code = [
  'export class Lock {',
  '  take(path: string): void {',
  '    this.wait(path);',
  '    create(path);',
  '  }',
  '',
  '  free(): void {',
  '    remove();',
  '  }',
  '}',
];
const lines = (list: readonly string[]) => `${list.join('\n')}\n`;

beforeEach(async () => {
  repo = Repo.create();
  repo.write('README.md', '# Read me\n');
  commit('Begin');
  opened = await open(repo.root, [note, letter]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

/** Writes a record with evidence, as the tools do. */
async function put(key: string, places: readonly string[]) {
  const { store, project } = opened.call;
  const evidence = await project.cite(places);
  return store.change({ subject: `write ${key}` }, async (tx) => {
    const { path } = await tx.put(note, { key, text: 'A rule.', tags: [] });
    await tx.annotate(path, { evidence });
  });
}

/** The verdicts as short texts: `given changed src/lock.ts:1`. */
async function verdicts(): Promise<string[]> {
  const { records } = await opened.call.history.evidence({});
  return records.flatMap(({ findings }) =>
    aboutCode(findings).map(({ verdict, evidence: { path, lines, symbol, source }, now }) => {
      const place = `${path}${lines ? `:${lines.first}-${lines.last}` : ''}${symbol ? `#${symbol}` : ''}`;
      const there = now && verdict === 'moved' ? ` -> ${now.path}:${now.lines?.first}` : '';
      return `${source} ${verdict} ${place}${there}`;
    }),
  );
}

describe('given evidence', () => {
  test('is stored as a readable line, and code that is not committed is its baseline', async () => {
    repo.write('src/lock.ts', lines(code));
    await put('locks', ['src/lock.ts:2-5', 'README.md', 'src/lock.ts#Lock.free']);
    const text = repo.read('.memory-bank/notes/locks.yaml');
    expect(text).toMatch(
      /^evidence:\n {2}- src\/lock\.ts:2-5 4-[0-9a-f]{16}\n {2}- README\.md\n {2}- src\/lock\.ts#Lock\.free 3-[0-9a-f]{16}\n$/m,
    );
    expect((await opened.call.store.get(note, 'locks'))?.value).toEqual({
      key: 'locks',
      text: 'A rule.',
      tags: [],
    });
    const fresh = [
      'given fresh README.md',
      'given fresh src/lock.ts#Lock.free',
      'given fresh src/lock.ts:2-5',
    ];
    expect((await verdicts()).sort()).toEqual(fresh);
    commit('Add the lock');
    expect((await verdicts()).sort()).toEqual(fresh);
    repo.write('src/lock.ts', lines(['// one', ...code.with(2, '    this.wait();')]));
    expect((await verdicts()).sort()).toEqual([
      'given changed src/lock.ts:2-5',
      'given fresh README.md',
      'given fresh src/lock.ts#Lock.free',
    ]);
  });

  test('reads a file once for all records, and not for a place without lines', async () => {
    repo.write('src/lock.ts', lines(code));
    commit('Add the lock');
    const old = new Date('2026-01-01T00:00:00Z');
    for (const name of ['src/lock.ts', 'README.md']) utimesSync(repo.path(name), old, old);
    repo.git('update-index', '-q', '--refresh');
    for (const key of ['a', 'b', 'c']) await put(key, ['src/lock.ts:2-5', 'README.md']);
    const loads = vi.spyOn(Folder.prototype, 'load');
    const reads = (name: string) => loads.mock.calls.filter(([path]) => path === name).length;
    expect(await verdicts()).toHaveLength(6);
    // Git does not know the text that was given: it need not have been committed.
    expect([reads('src/lock.ts'), reads('README.md')]).toEqual([1, 0]);
    loads.mockRestore();
  });

  deep('survives a squash with the rename of its file, and a write of the record', async () => {
    repo.write('src/lock.ts', lines(code));
    commit('Add the lock');
    const base = repo.git('rev-parse', 'HEAD').trim();
    await put('locks', ['src/lock.ts:2-5']);
    repo.git('mv', 'src/lock.ts', 'src/mutex.ts');
    commit('Rename the lock');
    repo.git('reset', '-q', '--soft', base);
    repo.git('commit', '-q', '-m', 'All at once');
    expect(await verdicts()).toEqual(['given moved src/lock.ts:2-5 -> src/mutex.ts:2']);
    await opened.call.store.change({ subject: 'write' }, (tx) =>
      tx.put(note, { key: 'locks', text: 'Another rule.', tags: [] }),
    );
    expect(await verdicts()).toEqual(['given moved src/lock.ts:2-5 -> src/mutex.ts:2']);
    repo.git('rm', '-q', 'src/mutex.ts');
    commit('Remove it');
    expect(await verdicts()).toEqual(['given gone src/lock.ts:2-5']);
  });

  async function expectRefused(place: string, problem: RegExp): Promise<void> {
    await expect(put('locks', ['README.md', place]), place).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(problem),
      issues: [{ path: ['evidence', 1], kind: 'value' }],
    });
  }

  linked('is refused if it is a link, or below one', async () => {
    repo.write('src/lock.ts', lines(code));
    symlinkSync('/etc/passwd', repo.path('src/link'));
    symlinkSync('/etc', repo.path('etc'));
    for (const place of ['src/link', 'etc/passwd']) await expectRefused(place, /symbolic link/);
    expect(await opened.call.store.get(note, 'locks')).toBeUndefined();
  });

  test('is refused if the project does not have it, and nothing is written', async () => {
    repo.write('src/lock.ts', lines(code));
    repo.write('outside', '');
    repo.write('src/image.bin', 'a\0b');
    mkdirSync(repo.path('src/folder'));
    const bad: [string, RegExp][] = [
      ['../outside', /relative to the project/],
      ['/etc/passwd:1', /relative to the project/],
      ['.git/config', /relative to the project/],
      ['.memory-bank/config.yaml', /relative to the project/],
      ['src/none.ts', /no file/],
      ['src/lock.ts:9-11', /only 10 lines/],
      ['src/lock.ts:6', /blank/],
      ['src/lock.ts#none', /does not declare/],
      ['src/folder:1', /folder/],
      ['src/image.bin:1', /binary/],
    ];
    for (const [place, problem] of bad) {
      await expectRefused(place, problem);
      await expect(put('locks', [place]), place).rejects.not.toMatchObject({
        message: expect.stringContaining(repo.root),
      });
    }
    expect(await opened.call.store.get(note, 'locks')).toBeUndefined();
    await put('locks', [`${repo.root}/src/lock.ts:1`, './README.md']);
    expect(await verdicts()).toEqual(['given fresh src/lock.ts:1-1', 'given fresh README.md']);
  });

  deep('in front matter and in comments of markdown written by hand', async () => {
    repo.write('src/lock.ts', lines(code));
    await put('locks', ['src/lock.ts:2-5']);
    const [, hash] = / (4-\w+)/.exec(repo.read('.memory-bank/notes/locks.yaml')) ?? [];
    repo.write(
      '.memory-bank/letters/a.md',
      `---\nid: a\ntitle: a\nevidence: src/lock.ts:3-6 ${hash}\n---\nSee \`src/lock.ts:4-7\` <!-- ${hash} -->.\n`,
    );
    rmSync(repo.path('.memory-bank/notes/locks.yaml'));
    expect(await verdicts()).toEqual([
      'given moved src/lock.ts:3-6 -> src/lock.ts:2',
      'given moved src/lock.ts:4-7 -> src/lock.ts:2',
    ]);
  });

  deep('of a hostile record costs bounded time and stays in the project', async () => {
    const many = '- src/none.ts:1 1-0123456789abcdef\n'.repeat(2000);
    repo.write(
      '.memory-bank/notes/many.yaml',
      `key: many\ntags: []\ntext: a\nevidence:\n- ../../etc/passwd:1 1-0123456789abcdef\n- .git/config\n- 7\n- [a]\n${many}`,
    );
    repo.write('.memory-bank/notes/odd.yaml', 'key: odd\ntags: []\ntext: a\nevidence: {a: b}\n');
    expect(await verdicts()).toEqual(['given gone src/none.ts:1-1']);
  });
});
