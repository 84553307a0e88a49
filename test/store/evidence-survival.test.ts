import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EvidenceFinding } from '../../src/core/evidence/verdict.ts';
import { deep, describeDeep } from '../support/depth.ts';
import { aboutCode } from '../support/findings.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

const code = Array.from({ length: 20 }, (_, i) => `step ${i + 1};`);
const lines = (list: readonly string[]) => `${list.join('\n')}\n`;
const changed = code.with(10, 'another step;');

beforeEach(async () => {
  repo = Repo.create();
  repo.write('src/lock.ts', lines(code));
  repo.write('.gitignore', '/ignored.ts\n');
  commit('Begin');
  opened = await open(repo.root, [note]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function commit(message: string): string {
  return repo.commitAll(message);
}

/** Commits a change of other files than the record. */
function change(path: string, text: string, message: string): string {
  repo.write(path, text);
  return commit(message);
}

async function put(text: string, places: readonly string[] = [], key = 'a'): Promise<void> {
  const { store, project } = opened.call;
  const evidence = await project.cite(places);
  await store.change({ subject: 'write' }, async (tx) => {
    const { path } = await tx.put(note, { key, text, tags: [] });
    if (evidence.length > 0) await tx.annotate(path, { evidence });
  });
}

async function findings(at: Opened = opened): Promise<EvidenceFinding[]> {
  const { records } = await at.call.history.evidence({});
  return records.flatMap(({ findings }) => aboutCode(findings));
}

const verdicts = async (at?: Opened) =>
  (await findings(at)).map(({ verdict, now }) => {
    return verdict === 'moved' ? `moved ${now?.path}:${now?.lines?.first}` : verdict;
  });

/** The same lines, found in the text and given. */
const ways = [
  ['found', () => put('See src/lock.ts:10-12.')],
  ['given', () => put('A rule.', ['src/lock.ts:10-12'])],
] as const;

describeDeep.each(ways)('evidence that is %s', (way, write) => {
  test('survives a rebase onto other code', async () => {
    repo.git('checkout', '-q', '-b', 'topic');
    await write();
    repo.git('checkout', '-q', 'main');
    change('src/lock.ts', lines(['// one', ...code]), 'Add a comment');
    repo.git('checkout', '-q', 'topic');
    repo.git('rebase', '-q', 'main');
    // Found evidence was written on the code as the rebase has it.
    expect(await verdicts()).toEqual([way === 'given' ? 'moved src/lock.ts:11' : 'fresh']);
    const oid = change('src/lock.ts', lines(['// one', ...changed]), 'Change it');
    const [finding] = await findings();
    if (way === 'given') expect(finding).toMatchObject({ verdict: 'changed', commit: oid });
    repo.git('commit', '-q', '--allow-empty', '-m', 'Go on');
    repo.git('rebase', '-q', '--force-rebase', 'HEAD~3');
    expect(await verdicts()).toEqual(['changed']);
  });

  test('survives a squash', async () => {
    const base = repo.git('rev-parse', 'HEAD').trim();
    await write();
    change('README.md', 'x', 'Go on');
    repo.git('reset', '-q', '--soft', base);
    commit('All at once');
    expect(await verdicts()).toEqual(['fresh']);
    change('src/lock.ts', lines(changed), 'Change it');
    expect(await verdicts()).toEqual(['changed']);
  });

  test('survives a cherry-pick to a branch with other code', async () => {
    await write();
    const record = repo.git('rev-parse', 'HEAD').trim();
    repo.git('checkout', '-q', '-b', 'release', 'HEAD~1');
    change('src/lock.ts', lines(changed), 'Change it here');
    repo.git('cherry-pick', record);
    // Given evidence knows the text; found evidence is the code at the commit of the record.
    expect(await verdicts()).toEqual([way === 'given' ? 'changed' : 'fresh']);
    change('src/lock.ts', lines(['x', ...code]), 'Take it back');
    expect(await verdicts()).toEqual([way === 'given' ? 'moved src/lock.ts:11' : 'changed']);
  });

  test('is judged in a shallow clone as far as it can be', async () => {
    await write();
    change('src/lock.ts', lines(changed), 'Change it');
    change('README.md', 'x', 'Go on');
    for (const depth of [1, 4]) {
      const clone = new Repo();
      const root = join(clone.root, 'c');
      clone.git('clone', '-q', `--depth=${depth}`, `file://${repo.root}`, root);
      const shallow = await open(root, [note]);
      const expected = way === 'given' || depth === 4 ? 'changed' : 'unknown';
      expect(await verdicts(shallow), `depth ${depth}`).toEqual([expected]);
      await shallow.workspace.close();
      clone.remove();
    }
  });

  test('survives a move of its record, also after a later change of the code', async () => {
    await write();
    repo.git('mv', '.memory-bank/notes/a.yaml', '.memory-bank/notes/b.yaml');
    commit('Move the record');
    expect(await verdicts()).toEqual(['fresh']);
    change('src/lock.ts', lines(changed), 'Change it');
    expect(await verdicts()).toEqual(['changed']);
    repo.git('mv', '.memory-bank/notes/b.yaml', '.memory-bank/notes/c.yaml');
    commit('Move the record again');
    expect(await verdicts()).toEqual(['changed']);
  });

  test('survives moves of its file, with and without changes', async () => {
    await write();
    repo.git('mv', 'src/lock.ts', 'src/mutex.ts');
    commit('Rename it');
    expect(await verdicts()).toEqual(['moved src/mutex.ts:10']);
    repo.git('mv', 'src/mutex.ts', 'src/guard.ts');
    change('src/guard.ts', lines(['// new', ...code]), 'Rename it and add a line');
    expect(await verdicts()).toEqual(['moved src/guard.ts:11']);
    change('src/guard.ts', lines(['// new', ...changed]), 'Change it');
    expect(await verdicts()).toEqual(['changed']);
    rmSync(repo.path('src/guard.ts'));
    commit('Remove it');
    expect(await verdicts()).toEqual(['gone']);
  });

  test('survives renames after which most of its file was written anew', async () => {
    await write();
    for (const [from, to] of [
      ['src/lock.ts', 'src/mutex.ts'],
      ['src/mutex.ts', 'lib/guard.ts'],
    ] as const) {
      repo.write(to, '');
      repo.git('mv', '-f', from, to);
      commit('Rename it');
      const old = repo.read(to).trimEnd().split('\n');
      change(to, lines([...old, ...old.map((line) => `${to} ${line}`)]), 'Add as much again');
    }
    // Both ends have less than half of their text in common.
    expect(repo.git('diff', '-M50%', '--name-status', 'HEAD~4', 'HEAD')).not.toMatch(/^R/m);
    expect(await verdicts()).toEqual(['moved lib/guard.ts:10']);
    expect((await opened.call.store.cautions(['notes/a.yaml'])).size).toBe(0);
    const rewritten = repo
      .read('lib/guard.ts')
      .replace(/^step 11;\n/, 'x\n')
      .replace(/^step 11;$/m, 'x');
    change('lib/guard.ts', rewritten, 'Change it');
    expect(await verdicts()).toEqual(['changed']);
  });

  test('survives a change of its line ends and indentation', async () => {
    await write();
    change('src/lock.ts', code.map((line) => `\t${line}\r\n`).join(''), 'Indent it');
    expect(await verdicts()).toEqual(['fresh']);
  });
});

describe('evidence in files that git does not compare', () => {
  test('is judged if it was given, and unknown if it was found', async () => {
    repo.write('ignored.ts', lines(code));
    repo.write('untracked.ts', lines(code));
    await put('See ignored.ts:2 and untracked.ts:2.', ['ignored.ts:3', 'untracked.ts:3']);
    const places = async () =>
      (await findings()).map(({ verdict, evidence: { path, source } }) => {
        return `${source} ${path} ${verdict}`;
      });
    expect(await places()).toEqual([
      'found ignored.ts unknown',
      'found untracked.ts unknown',
      'given ignored.ts fresh',
      'given untracked.ts fresh',
    ]);
    repo.write('ignored.ts', lines(['x', ...code]));
    repo.write('untracked.ts', lines(code.with(2, 'x')));
    expect(await places()).toEqual([
      'given untracked.ts changed',
      'given ignored.ts moved',
      'found ignored.ts unknown',
      'found untracked.ts unknown',
    ]);
    rmSync(repo.path('ignored.ts'));
    expect((await places())[0]).toBe('given ignored.ts gone');
  });

  deep('is unknown in a submodule, a binary file and behind a link that leads out', async () => {
    const other = Repo.create();
    other.write('README.md', 'one\n');
    other.git('add', '-A');
    other.git('commit', '-q', '-m', 'Add it');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other.root, 'sub');
    repo.write('data.bin', Buffer.from([0, 1, 2, 10]));
    commit('Add them');
    await put('sub/README.md:1 `sub` data.bin:1 src/lock.ts:1', ['data.bin', 'src/lock.ts:2']);
    expect((await verdicts()).sort()).toEqual(['fresh', 'fresh', 'fresh', 'fresh', 'unknown']);
    repo.write('data.bin', Buffer.from([0, 1, 3, 10]));
    rmSync(repo.path('src/lock.ts'));
    writeFileSync(join(other.root, 'outside.ts'), lines(code));
    symlinkSync(join(other.root, 'outside.ts'), repo.path('src/lock.ts'));
    const found = await findings();
    expect(found.map(({ message }) => message).sort()).toEqual([
      'Nothing is known about data.bin:1: it is binary.',
      'Nothing is known about src/lock.ts:1: it is a symbolic link.',
      'Nothing is known about src/lock.ts:2: it is a symbolic link.',
      'Nothing is known about sub/README.md:1: it is in a submodule.',
      'data.bin is as it was.',
    ]);
    await expect(put('A rule.', ['src/lock.ts:1'], 'b')).rejects.toMatchObject({
      code: 'invalid_input',
    });
    // The text of given evidence is compared wherever the work tree has it.
    rmSync(repo.path('.memory-bank/notes/a.yaml'));
    await put('A rule.', ['sub/README.md:1'], 'b');
    expect(await verdicts()).toEqual(['fresh']);
    repo.write('sub/README.md', 'new\n');
    expect(await verdicts()).toEqual(['changed']);
    other.remove();
  });
});

describe('evidence that was written by hand', () => {
  deep('costs bounded time with a million entries', async () => {
    const entry = (i: number) =>
      `  - src/lock.ts:${1 + (i % 20)} 1-${i.toString(16).padStart(16, '0')}\n`;
    const head = 'key: a\ntags: []\ntext: a\n';
    const write = async (count: number) => {
      const all = Array.from({ length: count }, (_, i) => entry(i)).join('');
      repo.write('.memory-bank/notes/a.yaml', `${head}evidence:\n${all}`);
      const start = performance.now();
      const { records } = await opened.call.history.evidence({});
      const time = performance.now() - start;
      expect(records.flatMap(({ findings }) => findings).length).toBeLessThanOrEqual(500);
      await opened.call.store.cautions(['notes/a.yaml']);
      return time;
    };
    await write(1000);
    const [few, many] = [await write(50_000), await write(1_000_000)];
    // Twenty times the bytes, which have to be read and parsed.
    expect(many).toBeLessThan(Math.max(60 * few, 20_000));
  });

  test('may have odd paths, and never leaves the repository', async () => {
    const odd = [
      'src/a b.ts',
      'src/ünï.ts',
      "src/it's.ts",
      'src/(x)/[id].ts',
      'src/a#b.ts',
      '-x.ts',
    ];
    for (const path of odd) repo.write(path, 'one\ntwo\n');
    commit('Add odd files');
    await put(
      'A rule.',
      odd.map((path) => `${path}:1`),
    );
    expect((await findings()).map(({ evidence, verdict }) => [evidence.path, verdict])).toEqual(
      odd.map((path) => [path, 'fresh']),
    );
    const bad = [
      '../x.ts:1',
      'src/../../x.ts:1',
      '/etc/passwd:1',
      'C:\\x:1',
      '.git/config:1',
      'src/.GIT/config:1',
      '.memory-bank/notes/a.yaml:1',
      'src//lock.ts:1',
      'src/lock.ts\0:1',
      `${'x'.repeat(500)}:1`,
      'src/lock.ts:0',
      'src/lock.ts:9-2',
      'src/lock.ts:99999999999',
    ];
    const list = bad.map((one) => `  - ${JSON.stringify(`${one} 1-0123456789abcdef`)}\n`).join('');
    repo.write('.memory-bank/notes/a.yaml', `key: a\ntags: []\ntext: a\nevidence:\n${list}`);
    const paths = (await findings()).map(({ evidence }) => evidence.path);
    expect(paths.filter((path) => !path.startsWith('src/lock.ts'))).toEqual([]);
  });
});

test('fix follows the evidence of a record next to one that is damaged', async () => {
  await put('See it.', ['src/lock.ts:10-12']);
  const text = repo.read('.memory-bank/notes/a.yaml');
  const damaged = text.replace('key: a', 'key: b').replace('tags: []', 'tags: 5');
  repo.write('.memory-bank/notes/b.yaml', damaged);
  commit('Add a damaged record');
  change('src/lock.ts', lines(['// new', ...code]), 'Add a line');
  const moved = 'moved src/lock.ts:11';
  expect(await verdicts()).toEqual([moved, moved]);
  const { fixed } = await opened.call.history.evidence({ fix: true });
  expect(fixed).toEqual(['notes/a.yaml']);
  expect(repo.read('.memory-bank/notes/b.yaml')).toBe(damaged);
  expect((await verdicts()).sort()).toEqual(['fresh', moved]);
});

test('fix follows moved evidence, and keeps the finding about evidence that was lost', async () => {
  await put('See src/lock.ts:2.', ['src/lock.ts:10-12', 'src/lock.ts:15']);
  change('src/lock.ts', lines(['// new', ...code.with(1, 'x').with(14, 'y')]), 'Change it');
  expect((await verdicts()).sort()).toEqual(['changed', 'changed', 'moved src/lock.ts:11']);
  const { fixed } = await opened.call.history.evidence({ fix: true });
  expect(fixed).toEqual(['notes/a.yaml']);
  expect(repo.read('.memory-bank/notes/a.yaml')).toMatch(/- src\/lock\.ts:11-13 /);
  // The commit of the fix is not a new baseline.
  expect((await verdicts()).sort()).toEqual(['changed', 'changed', 'fresh']);
  repo.git('rm', '-q', 'src/lock.ts');
  commit('Remove it');
  expect(await opened.call.history.evidence({ fix: true })).not.toHaveProperty('fixed');
  expect(await verdicts()).toEqual(['gone', 'gone', 'gone']);
});
