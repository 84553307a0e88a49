import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { deep, sample } from '../support/depth.ts';
import { PlacedMemories, place as placeIn } from '../support/placed.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const ownBranch: MemoryPlace = { kind: 'own-branch', branch: 'memory' };
const eachBranch: MemoryPlace = { kind: 'own-branch', branch: 'memory/*' };

let repo: Repo;
let memories: PlacedMemories;
const others: Repo[] = [];

beforeEach(() => {
  repo = Repo.create();
  memories = new PlacedMemories();
});
afterEach(async () => {
  await memories.close();
  for (const one of [repo, ...others.splice(0)]) one.remove();
});

const place = (to: MemoryPlace | undefined, root = repo.root) => placeIn(root, to, memories.clock);

function another(...options: string[]): Repo {
  const made = new Repo();
  others.push(made);
  if (options.length > 0) made.git(...options);
  return made;
}

function clone(): Repo {
  const made = another('clone', '-q', repo.root, '.');
  made.git('config', 'user.name', 'Ben');
  made.git('config', 'user.email', 'ben@example.org');
  return made;
}

const subjects = (one: Repo, ...revision: string[]) =>
  one
    .git('log', '--format=%s', ...revision)
    .trim()
    .split('\n');

/** The work of a user that nothing may touch. */
function work(): void {
  repo.write('staged.txt', 'staged\n');
  repo.git('add', 'staged.txt');
  repo.write('README.md', '# Dirty\n');
}

describe('on a branch of its own', () => {
  test('a change touches neither HEAD nor index nor work tree of the project', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    work();
    const before = [repo.git('rev-parse', 'HEAD'), repo.git('ls-files', '-s'), repo.status()];
    await memories.put(repo.root, 'b');
    expect([repo.git('rev-parse', 'HEAD'), repo.git('ls-files', '-s'), repo.status()]).toEqual(
      before,
    );
    expect(repo.status()).toEqual([' M README.md', 'A  staged.txt']);
    expect(existsSync(repo.path('.memory-bank'))).toBe(false);
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    expect(repo.git('show', 'memory:.memory-bank/notes/b.yaml')).toContain('key: b');
    expect(repo.fsck()).toBe('');
  });

  deep('the memory arrives with its history, and without that of the code', async () => {
    await memories.put(repo.root, 'a');
    repo.write('code.c', 'int a;\n');
    repo.git('add', 'code.c');
    repo.git('commit', '-q', '-m', 'Add code');
    await memories.put(repo.root, 'b');
    const code = repo.git('rev-parse', 'HEAD').trim();
    const staged = repo.git('write-tree');
    work();
    await place(ownBranch);
    expect(subjects(repo, 'memory')).toEqual(['memory: put b', 'memory: put a']);
    expect(repo.git('log', '-1', '--format=%B', 'memory')).toContain(`Memory-Code: ${code}`);
    expect(repo.git('log', '-1', '--format=%an %ae', 'memory')).toBe(
      'Ada Lovelace ada@example.org\n',
    );
    expect(repo.git('ls-tree', '--name-only', 'memory')).toBe('.memory-bank\n');
    expect(subjects(repo, 'main')[0]).toMatch(/^memory: move it/);
    expect(repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\ncode.c\n');
    expect(repo.status()).toEqual([' M README.md', 'A  staged.txt']);
    expect(staged).not.toBe('');
    const { entries } = await (await memories.at(repo.root)).call.history.log({
      revision: 'HEAD',
      limit: 10,
      skip: 0,
    });
    expect(entries.map(({ commit }) => commit.subject)).toEqual(['memory: put b', 'memory: put a']);
  });

  test('and back: each change is in the history of the code once', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    await memories.put(repo.root, 'b');
    work();
    await place(undefined);
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    expect(repo.status()).toEqual([' M README.md', 'A  staged.txt']);
    const all = subjects(repo, '--no-merges', 'main');
    expect(all.filter((subject) => subject === 'memory: put a')).toHaveLength(1);
    expect(all.filter((subject) => subject === 'memory: put b')).toHaveLength(1);
    expect(repo.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    expect(repo.fsck()).toBe('');
    const tip = repo.git('rev-parse', 'memory');
    // The same history gives the same commits again.
    await place(ownBranch);
    expect(repo.git('rev-parse', 'memory')).toBe(tip);
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
  });

  deep('a project without a memory begins one there', async () => {
    await place(ownBranch);
    await memories.put(repo.root, 'a');
    expect(subjects(repo, 'memory')).toEqual(['memory: put a']);
    expect(subjects(repo, 'main')).toEqual(['Begin']);
  });

  deep('all work trees of a project share it', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    const linked = repo.path('linked');
    repo.git('worktree', 'add', '-q', '-b', 'other', linked);
    await memories.put(linked, 'b');
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
  });

  deep('a memory below the top of a repository keeps its path', async () => {
    repo.write('packages/one/index.ts', 'export {};\n');
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', 'Add one');
    const root = repo.path('packages/one');
    await memories.put(root, 'a');
    await place(ownBranch, root);
    expect(repo.git('ls-tree', '-r', '--name-only', 'memory')).toContain(
      'packages/one/.memory-bank/notes/a.yaml',
    );
    expect(await memories.keys(root)).toEqual(['a']);
  });

  deep('a clone finds it without being told', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    const other = clone();
    expect(await memories.keys(other.root)).toEqual(['a']);
    await memories.put(other.root, 'b');
    expect(subjects(other, 'memory')).toEqual(['memory: put b', 'memory: put a']);
    expect(other.git('config', 'branch.memory.merge').trim()).toBe('refs/heads/memory');
    expect(memories.warnings.join()).toContain('on a branch of its own, memory');
  });

  deep('a branch of the code that is called memory is not taken for it', async () => {
    await memories.put(repo.root, 'a');
    repo.git('branch', 'memory');
    repo.git('rm', '-rq', '.memory-bank');
    repo.git('commit', '-q', '-m', 'Remove the memory');
    expect(await memories.keys(repo.root)).toEqual([]);
  });

  deep('a deleted checkout is made again, and an edit by hand in it counts', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    await memories.put(repo.root, 'b');
    const top = repo.path('.git/memory-bank/trees/memory');
    rmSync(top, { recursive: true });
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    expect(repo.gitWith({ cwd: top }, 'status', '--porcelain')).toBe('');
    const path = join(top, '.memory-bank/notes/a.yaml');
    writeFileSync(path, 'key: a\ntags: []\ntext: by hand\n');
    await memories.put(repo.root, 'a', 'by a tool');
    expect(subjects(repo, '-2', 'memory')).toEqual([
      'memory: put a',
      'memory: keep edit by hand of a.yaml',
    ]);
  });

  deep('a sync pushes and merges it', async () => {
    await memories.put(repo.root, 'a');
    const hub = another('init', '-q', '--bare', '-b', 'main');
    repo.git('remote', 'add', 'origin', hub.root);
    await place(ownBranch);
    const sync = async (root: string) =>
      (await memories.at(root)).call.history.sync({ ours: [], theirs: [], confirm: false });
    repo.git('push', '-q', '-u', 'origin', 'main');
    await sync(repo.root);
    const other = another('clone', '-q', hub.root, '.');
    other.git('config', 'user.name', 'Ben');
    other.git('config', 'user.email', 'ben@example.org');
    await memories.put(other.root, 'b');
    await memories.put(repo.root, 'c');
    await sync(other.root);
    await sync(repo.root);
    expect(await memories.keys(repo.root)).toEqual(['a', 'b', 'c']);
    expect(subjects(hub, 'main')).not.toContain('memory: put b');
  });
});

describe('on one branch for each branch', () => {
  test('a change is seen on its branch until the code is merged', async () => {
    await memories.put(repo.root, 'a');
    await place(eachBranch);
    repo.checkout('feature');
    await memories.put(repo.root, 'b');
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    repo.checkout('main');
    expect(await memories.keys(repo.root)).toEqual(['a']);
    repo.checkout('feature');
    repo.write('code.c', 'int a;\n');
    repo.git('add', 'code.c');
    repo.git('commit', '-q', '-m', 'Add code');
    repo.checkout('main');
    await memories.put(repo.root, 'c');
    expect(await memories.keys(repo.root)).toEqual(['a', 'c']);
    repo.git('merge', '-q', '--no-ff', '-m', 'Merge', 'feature');
    expect(await memories.keys(repo.root)).toEqual(['a', 'b', 'c']);
    expect(repo.git('branch', '--list', 'memory/*').match(/memory\/\w+/g)).toEqual([
      'memory/feature',
      'memory/main',
    ]);
    expect(repo.fsck()).toBe('');
  });

  deep(
    'a branch that was deleted after a merge counts as merged, one at its start does not',
    async () => {
      await memories.put(repo.root, 'a');
      await place(eachBranch);
      repo.checkout('gone');
      await memories.put(repo.root, 'b');
      repo.checkout('begun');
      await memories.put(repo.root, 'c');
      repo.checkout('main');
      repo.git('branch', '-q', '-d', 'gone');
      expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    },
  );

  deep(
    'a branch begins with the memory of the nearest one, and so does a detached HEAD',
    async () => {
      await memories.put(repo.root, 'a');
      await place(eachBranch);
      repo.checkout('one');
      repo.write('code.c', 'int a;\n');
      repo.git('add', 'code.c');
      repo.git('commit', '-q', '-m', 'Add code', '--date=2026-01-01T00:00:00Z');
      await memories.put(repo.root, 'b');
      repo.checkout('two');
      expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
      repo.git('checkout', '-q', '--detach', 'one');
      expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    },
  );

  deep('a person merges what nobody can be certain of', async () => {
    await memories.put(repo.root, 'a');
    await place(eachBranch);
    repo.checkout('feature');
    await memories.put(repo.root, 'b');
    repo.checkout('main');
    const { history } = (await memories.at(repo.root)).call;
    const merged = await history.merge('memory/feature', { ours: [], theirs: [] });
    expect(merged).toMatchObject({ isNew: true, changes: [{ path: 'notes/b.yaml' }] });
    expect(await memories.keys(repo.root)).toEqual(['a', 'b']);
    const again = await history.merge('memory/feature', { ours: [], theirs: [] });
    expect(again.isNew).toBe(false);
    const { branches } = await history.branches(10);
    expect(branches.map(({ name }) => name).sort()).toEqual(['memory/feature', 'memory/main']);
  });
});

describe('in a repository of its own', () => {
  test('several projects share one memory, each with its code', async () => {
    const team = another('init', '-q', '-b', 'main');
    await memories.put(repo.root, 'a');
    await place({ kind: 'repository', folder: team.root });
    expect(subjects(team)).toEqual(['memory: put a']);
    expect(team.status()).toEqual([]);
    await memories.put(repo.root, 'b');
    const second = Repo.create();
    others.push(second);
    await place({ kind: 'repository', folder: team.root }, second.root);
    expect(await memories.keys(second.root)).toEqual(['a', 'b']);
    await memories.put(second.root, 'c');
    expect(await memories.keys(repo.root)).toEqual(['a', 'b', 'c']);
    expect(team.git('log', '-1', '--format=%B')).toContain(
      `Memory-Code: ${second.git('rev-parse', 'HEAD').trim()}`,
    );
    expect(subjects(second)).toEqual(['Begin']);
    await place(undefined, second.root);
    expect(await memories.keys(second.root)).toEqual(['a', 'b', 'c']);
    expect(existsSync(second.path('.memory-bank/notes/c.yaml'))).toBe(true);
    expect([team.fsck(), second.fsck()]).toEqual(['', '']);
  });

  deep('a missing repository is named', async () => {
    const team = another('init', '-q', '-b', 'main');
    await place({ kind: 'repository', folder: team.root });
    team.remove();
    await expect(memories.keys(repo.root)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a move is refused, and nothing is changed,', () => {
  const cases: readonly (readonly [string, () => MemoryPlace | undefined, string, RegExp])[] = [
    [
      'with changes of the memory that are not committed',
      () => {
        repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: by hand\n');
        return ownBranch;
      },
      'conflict',
      /notes\/a\.yaml has changes/,
    ],
    [
      'to a branch with another content',
      () => {
        repo.git('branch', 'memory');
        repo.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: other\n');
        repo.git('commit', '-qam', 'Change a');
        return ownBranch;
      },
      'already_exists',
      /memory has another content/,
    ],
    [
      'to a branch below which there are others',
      () => {
        repo.git('branch', 'memory/x');
        return ownBranch;
      },
      'already_exists',
      /next to the branch memory\/x/,
    ],
    [
      'to branches of its own on a detached HEAD',
      () => {
        repo.git('checkout', '-q', '--detach');
        return eachBranch;
      },
      'unsupported',
      /detached/,
    ],
    [
      'to a folder that is not in a repository',
      () => ({ kind: 'repository', folder: another().root }),
      'unsupported',
      /not in a git repository/,
    ],
    [
      'to the repository of the project',
      () => ({ kind: 'repository', folder: repo.root }),
      'invalid_input',
      /in the repository of the project/,
    ],
    [
      'during a merge',
      () => {
        repo.write('.git/MERGE_HEAD', `${repo.git('rev-parse', 'HEAD')}`);
        return ownBranch;
      },
      'busy',
      /merge/,
    ],
  ];
  test.each(sample(cases, 2))('%s', async (_, prepare, code, message) => {
    await memories.put(repo.root, 'a');
    const to = prepare();
    const before = [repo.git('for-each-ref'), repo.status(), repo.read('.git/config')];
    await expect(place(to)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect([repo.git('for-each-ref'), repo.status(), repo.read('.git/config')]).toEqual(before);
  });

  deep('in a shallow clone', async () => {
    await memories.put(repo.root, 'a');
    await memories.put(repo.root, 'b');
    const shallow = another('clone', '-q', '--depth=1', `file://${repo.root}`, '.');
    await expect(place(ownBranch, shallow.root)).rejects.toMatchObject({ code: 'unsupported' });
  });

  deep('back to a project with another memory in its work tree', async () => {
    await memories.put(repo.root, 'a');
    await place(ownBranch);
    repo.write('.memory-bank/notes/z.yaml', 'key: z\ntags: []\ntext: other\n');
    await expect(place(undefined)).rejects.toMatchObject({ code: 'already_exists' });
    expect(await memories.keys(repo.root)).toEqual(['a']);
  });
});

deep('a long history moves with merges, deletions and many records', async () => {
  await memories.put(repo.root, 'a');
  repo.checkout('side');
  for (let i = 0; i < 30; i++) await memories.put(repo.root, `side${i}`);
  repo.checkout('main');
  for (let i = 0; i < 30; i++) await memories.put(repo.root, `main${i}`);
  repo.git('merge', '-q', '-m', 'Merge', 'side');
  const keys = await memories.keys(repo.root);
  const log = () => subjects(repo, '--no-merges', '--', '.memory-bank').sort();
  const before = log();
  await place(ownBranch);
  expect(await memories.keys(repo.root)).toEqual(keys);
  await memories.put(repo.root, 'own');
  await place(undefined);
  expect(await memories.keys(repo.root)).toEqual([...keys, 'own'].sort());
  const added = log().filter((subject) => !before.includes(subject));
  expect(added).toContain('memory: put own');
  expect(repo.fsck()).toBe('');
});

deep('the commands show and use the place', () => {
  const run = (...args: string[]) =>
    runProgram(repo.root, args, { env: { ...gitEnv, HOME: repo.path('home') }, input: '' });
  const json = (...args: string[]) => JSON.parse(run(...args, '--output', 'json').stdout);
  run('log-decision', '--title', 'Use locks', '--context', 'Races', '--decision', 'We lock');
  const head = repo.git('rev-parse', 'HEAD');
  const plan = json('place', 'own-branch', '--dry-run');
  expect(plan).toMatchObject({ moved: false, to: 'on a branch of its own, memory' });
  expect(plan.steps.join(' ')).toContain('removes .memory-bank');
  const unasked = run('place', 'own-branch');
  expect([unasked.status, unasked.stderr]).toEqual([5, expect.stringContaining('--yes')]);
  expect(run('place', 'elsewhere').stderr).toContain('is not a place');
  expect(run('place', 'in-branch', '--branch', 'x').stderr).toContain('belong to own-branch');
  expect(run('place', 'own-branch', '--branch', '../x').stderr).toContain('not a name of a branch');
  expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  expect(json('place', 'own-branch', '--yes')).toMatchObject({ moved: true });
  expect(json('status')).toMatchObject({ place: 'on a branch of its own, memory' });
  expect(run('doctor').stdout).toContain('on a branch of its own, memory');
  expect(run('search', 'locks').stdout).toContain('Use locks');
  expect(run('brief').stdout).toContain('We lock');
  const event = { hook_event_name: 'SessionStart', session_id: 's', source: 'startup' };
  const hook = runProgram(repo.root, ['hook', 'session-start'], {
    env: { ...gitEnv, HOME: repo.path('home') },
    input: JSON.stringify({ ...event, cwd: repo.root }),
  });
  expect(hook.stdout).toContain('We lock');
  expect(run('merge', 'memory').stdout).toContain('has everything');
  run('place', 'in-branch', '--yes');
  expect(run('merge', 'main').stderr).toContain('git merge main');
  expect(run('place').stdout).toBe('The memory is on the branches of the project.\n');
});

deep('a squash of the memory names the code of its last commit', async () => {
  await memories.put(repo.root, 'a');
  const hub = another('init', '-q', '--bare', '-b', 'main');
  repo.git('remote', 'add', 'origin', hub.root);
  await place(ownBranch);
  const { history } = (await memories.at(repo.root)).call;
  await history.sync({ ours: [], theirs: [], confirm: false });
  await memories.put(repo.root, 'b');
  repo.write('code.c', 'int a;\n');
  repo.git('add', 'code.c');
  repo.git('commit', '-q', '-m', 'Add code');
  await memories.put(repo.root, 'c');
  await (await memories.at(repo.root)).call.history.squash(undefined);
  const message = repo.git('log', '-1', '--format=%B', 'memory');
  expect(message.match(/Memory-Code: .*/g)).toEqual([
    `Memory-Code: ${repo.git('rev-parse', 'main').trim()}`,
  ]);
});
