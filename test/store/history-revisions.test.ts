import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const bank = '.memory-bank';
let repo: Repo;
let opened: Opened;
const day = 86_400;
const start = Date.UTC(2025, 0, 1, 12) / 1000;

/** One commit a day, the first on January 1, 2025 at noon. */
function daily(i: number): void {
  repo.write(`${bank}/notes/one.yaml`, `key: one\ntags: []\ntext: day ${i}\n`);
  repo.git('add', '-A');
  const date = `${start + i * day} +0000`;
  repo.gitWith({ env: { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } }, 'commit', '-qm', 'x');
}

beforeAll(async () => {
  repo = new Repo();
  repo.git('init', '-q', '-b', 'main');
  repo.git('config', 'user.name', 'Ada');
  repo.git('config', 'user.email', 'ada@example.org');
  for (let i = 0; i < 5; i++) daily(i);
  repo.git('tag', 'light', 'HEAD~1');
  repo.git('tag', '-a', '-m', 'A tag', 'annotated', 'HEAD~2');
  repo.git('tag', '-a', '-m', 'A tag of a tag', 'twice', 'annotated');
  repo.git('tag', 'of-a-tree', 'HEAD^{tree}');
  repo.git('branch', 'feature/one', 'HEAD~3');
  repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD~1');
  repo.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  repo.git('checkout', '-q', 'feature/one');
  repo.write('code', 'x');
  repo.git('add', '-A');
  const date = `${start + 2 * day + 60} +0000`;
  repo.gitWith({ env: { GIT_COMMITTER_DATE: date } }, 'commit', '-qm', 'Late');
  repo.git('checkout', '-q', 'main');
  repo.git('merge', '-q', '--no-edit', 'feature/one');
  opened = await open(repo.root, [note], { warn: () => undefined });
});

afterAll(async () => {
  await opened.workspace.close();
  repo.remove();
});

const oid = async (revision: string) => (await opened.call.history.at(revision)).commit.oid;

describe('a revision that git knows names the same commit', () => {
  const known = [
    ...['HEAD', '@', 'HEAD~1', 'HEAD~', 'HEAD^', 'HEAD^2', 'HEAD~2^0', 'HEAD^^', '@~3', 'main~2'],
    ...['feature/one', 'heads/main', 'refs/heads/main', 'origin/main', 'origin', 'light'],
    ...['annotated', 'twice', 'tags/annotated~1', 'annotated^{}', 'annotated^{commit}^'],
  ];
  test.each(known)('%s', async (revision) => {
    expect(await oid(revision)).toBe(repo.git('rev-parse', `${revision}^{commit}`).trim());
  });

  test('a full and a short id, in any case, also after gc', async () => {
    const full = repo.git('rev-parse', 'HEAD~1').trim();
    expect(await oid(full)).toBe(full);
    expect(await oid(full.slice(0, 10).toUpperCase())).toBe(full);
    repo.git('gc', '-q');
    expect(await oid(full.slice(0, 10))).toBe(full);
    expect(await oid('light')).toBe(full.replace(full, repo.git('rev-parse', 'light').trim()));
  });
});

describe('a time names the last commit of the branch before it', () => {
  test.each([
    ['2025-01-03', 1],
    ['2025-01-02T12:00:00Z', 1],
    ['2025-01-02T11:59:59Z', 0],
    // A time before the first commit means that one.
    ['2024-12-31', 0],
    ['2025-01-02 14:00+02:00', 1],
    ['@{2025-01-03}', 1],
    ['HEAD@{2025-01-03}', 1],
    ['main@{2025-01-04T12:00}', 3],
    ['2025-01-04~1', 1],
  ])('%s', async (revision, i) => {
    expect(await oid(revision)).toBe(repo.git('rev-parse', `HEAD^1~${4 - i}`).trim());
  });

  test('counted back from now, and never on a branch that was merged later', async () => {
    // The clock of the test is set to January 2, 2026.
    expect(await oid('364 days ago')).toBe(repo.git('rev-parse', 'HEAD^1~3').trim());
    expect(await oid('yesterday')).toBe(repo.git('rev-parse', 'HEAD^1').trim());
    expect(await oid('2025-01-03T12:02:00Z')).toBe(repo.git('rev-parse', 'HEAD^1~2').trim());
  });
});

describe('a text that does not name one commit is refused by name', () => {
  test.each([
    ['nothing', 'not_found'],
    ['HEAD~99', 'not_found'],
    ['HEAD^3', 'not_found'],
    ['0123456789abcdef0123456789abcdef01234567', 'not_found'],
    ['0000', 'not_found'],
    ['abc', 'not_found'],
    ['of-a-tree', 'not_found'],
    ['2025-02-31', 'not_found'],
    ['2 constructor ago', 'not_found'],
    ['@{upstream}', 'invalid_input'],
    ['main..feature/one', 'invalid_input'],
    ['../config', 'invalid_input'],
    ['..', 'invalid_input'],
    ['   ', 'invalid_input'],
    ['HEAD\nHEAD', 'invalid_input'],
    ['x'.repeat(300), 'invalid_input'],
    ['HEAD:README.md', 'not_found'],
    [':/x', 'not_found'],
    ['/refs/heads/main', 'not_found'],
    ['config', 'not_found'],
    ['-x', 'not_found'],
  ])('%s', async (revision, code) => {
    await expect(oid(revision)).rejects.toMatchObject({ code, hint: expect.any(String) });
  });

  test('fewer digits of an id than git accepts, and the error says how many are needed', async () => {
    await expect(oid(repo.git('rev-parse', 'HEAD').slice(0, 2))).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('at least the first four digits of an id'),
    });
  });

  test('a prefix of several ids, with the candidates', async () => {
    const many = Repo.create();
    const other = await open(many.root, [note]);
    const stream = Array.from({ length: 2000 }, (_, i) => {
      return `commit refs/heads/many\ncommitter A <a@example.org> ${i} +0000\ndata 0\n`;
    });
    many.gitWith({ input: stream.join('\n') }, 'fast-import', '--quiet');
    const all = many.git('rev-list', '--all').trim().split('\n').sort();
    const first = all.findIndex((id, i) => id.slice(0, 4) === all[i + 1]?.slice(0, 4));
    const twins = all.filter((id) => id.slice(0, 4) === all[first]?.slice(0, 4));
    const prefix = twins[0]?.slice(0, 4) ?? '';
    await expect(other.call.history.at(prefix)).rejects.toMatchObject({
      code: 'invalid_input',
      data: { candidates: twins },
    });
    await other.workspace.close();
    many.remove();
  });
});
