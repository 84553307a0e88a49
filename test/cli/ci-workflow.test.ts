import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planCi } from '../../src/cli/setup/ci-workflow.ts';
import { githubErrors, gitlabCheck } from '../support/ci-checks.ts';
import { deep } from '../support/depth.ts';
import { main, newFolder, runtime, runtimeArgs } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, hasGit, Repo } from '../support/repo.ts';

const githubFile = '.github/workflows/memory-bank.yml';
const gitlabFile = '.gitlab/memory-bank.yml';

/** Applies a plan to the files of a repository, and returns what it says. */
function apply(repo: Repo, host: string | undefined, folder = '') {
  const { edits, untouched, notes } = planCi(host, { top: repo.root, folder });
  for (const { path, after } of edits) {
    const name = path.slice(repo.root.length + 1);
    if (after === undefined) rmSync(repo.path(name));
    else repo.write(name, after);
  }
  return { edits: edits.length, left: untouched.map(({ reason }) => reason), notes };
}

describe('a workflow', () => {
  const repo = new Repo(newFolder());

  it.each([
    ['github', 1, [githubFile]],
    ['gitlab', 2, [gitlabFile, '.gitlab-ci.yml']],
  ])('for %s is written once, and taken back', (host, edits, files) => {
    expect(apply(repo, host)).toMatchObject({ edits, left: [] });
    for (const file of files) expect(existsSync(repo.path(file))).toBe(true);
    expect(apply(repo, host)).toEqual({ edits: 0, left: [], notes: [] });
    // The package is the choice of the team.
    const [first = ''] = files;
    repo.write(first, repo.read(first).replace(/PACKAGE: .*/, 'PACKAGE: ./tools/own.tgz'));
    expect(apply(repo, host)).toEqual({ edits: 0, left: [], notes: [] });
    expect(apply(repo, undefined)).toMatchObject({ edits, left: [] });
    for (const file of files) expect(existsSync(repo.path(file))).toBe(false);
  });

  it('is never written over a file of somebody else, nor taken back with the changes of one', () => {
    repo.write(githubFile, 'name: mine\n');
    repo.write('.gitlab-ci.yml', 'build:\n  script: [make]\n');
    expect(apply(repo, 'github')).toMatchObject({ edits: 0, left: ['init has not written it'] });
    const { edits, notes } = apply(repo, 'gitlab');
    expect(edits).toBe(1);
    expect(notes[0]).toContain(`include: [{ local: /${gitlabFile} }]`);
    repo.write('.gitlab-ci.yml', `include: [{ local: /${gitlabFile} }]\n`);
    expect(apply(repo, 'gitlab').notes).toEqual([]);
    expect(apply(repo, undefined)).toMatchObject({ edits: 1, left: [] });
    expect(repo.read(githubFile)).toBe('name: mine\n');
    rmSync(repo.path(githubFile));
    apply(repo, 'github');
    repo.write(githubFile, `${repo.read(githubFile)}  more:\n    runs-on: x\n`);
    for (const host of ['github', undefined]) {
      expect(apply(repo, host)).toMatchObject({
        edits: 0,
        left: ['it was edited since init wrote it'],
      });
    }
  });

  it('has no value of a pull request in a script, and few rights', () => {
    for (const host of ['github', 'gitlab']) {
      for (const { after = '' } of planCi(host, { top: newFolder(), folder: 'a "b"' }).edits) {
        const found: Workflow = parse(after);
        for (const script of scripts(found)) expect(script).not.toContain('${{');
        if (host === 'github') {
          expect(found).toMatchObject({
            permissions: { contents: 'read' },
            env: { MEMORY_BANK_ROOT: 'a "b"' },
            jobs: { check: { if: "github.event_name == 'pull_request'" } },
          });
        }
      }
    }
  });
});

interface Job {
  readonly steps?: readonly { readonly run?: string }[];
  readonly script?: readonly string[];
}

interface Workflow {
  readonly jobs?: { readonly [name: string]: Job };
  readonly [name: string]: unknown;
}

/** The scripts of a workflow, in their order. */
function scripts({ jobs, ...others }: Workflow): string[] {
  const all = Object.values(jobs ?? others).filter(isJob);
  return all.flatMap(({ steps = [], script = [] }) => [
    ...steps.flatMap(({ run = [] }) => run),
    ...script,
  ]);
}

function isJob(value: unknown): value is Job {
  return typeof value === 'object' && value !== null;
}

deep('a workflow for github is one for the parser of GitHub', () => {
  const [edit] = planCi('github', { top: newFolder(), folder: 'a "b"' }).edits;
  expect(githubErrors(edit?.after ?? '')).toBe('');
  expect(githubErrors((edit?.after ?? '').replace('runs-on', 'run-on'))).toContain('run-on');
});

deep('a workflow for gitlab is one by the schema of GitLab', (context) => {
  const repo = Repo.create();
  apply(repo, 'gitlab', 'a "b"');
  repo.git('remote', 'add', 'origin', 'git@gitlab.example.org:team/project.git');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Workflow');
  const { status, text } = gitlabCheck(repo.root) ?? context.skip('npm cannot bring the checker');
  expect({ status, text }).toMatchObject({ status: 0 });
  for (const name of ['memory-check', 'memory-merge', 'memory-merge-all']) {
    expect(text).toContain(name);
  }
  repo.write(gitlabFile, repo.read(gitlabFile).replace('artifacts:', 'artefacts:'));
  expect(gitlabCheck(repo.root)).toMatchObject({ status: 1 });
  repo.remove();
});

describe('the jobs of a workflow', () => {
  const repos: Repo[] = [];
  afterAll(() => {
    for (const repo of repos) repo.remove();
  });
  const bin = newFolder();
  const home = newFolder();
  const program = (path: string, script: string) => {
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  };
  const own = [runtime, ...runtimeArgs, main].map((word) => `'${word}'`).join(' ');
  // In place of `npx --yes --package=… memory-bank`.
  program(join(bin, 'npx'), `shift 3; exec ${own} "$@"`);
  const write = (clone: Repo, ...args: string[]) =>
    expect(runProgram(clone.root, args, { env: { ...gitEnv, HOME: home } }).stderr).toBe('');
  /** Adds a decision, in the form of the tool. */
  const decide = (clone: Repo, title: string) => {
    const file = '.memory-bank/decisionLog.md';
    clone.write(
      file,
      `${clone.read(file)}\n## ${title} - 2026-01-02\n\n**Decision:** We ${title}\n`,
    );
  };

  /** Runs a script as a host does: in a new clone, with its variables. */
  function job(hub: Repo, script: string, branch: string, env: NodeJS.ProcessEnv = {}) {
    const clone = new Repo(newFolder());
    repos.push(clone);
    clone.git('clone', '-q', '--depth=1', `file://${hub.root}`, '-b', branch, '.');
    const path = `${bin}:${process.env.PATH}`;
    const found = spawnSync('bash', ['-e', '-c', script], {
      cwd: clone.root,
      env: { ...gitEnv, HOME: home, PATH: path, MEMORY_BANK_PACKAGE: 'x', ...env },
      encoding: 'utf8',
    });
    return { status: found.status, text: found.stdout + found.stderr, clone };
  }

  const textOf = (host: string) =>
    planCi(host, { top: newFolder(), folder: '' }).edits[0]?.after ?? '';

  const odd = 'b;touch$IFS"pwned"&$(touch$IFS./pwned)';

  // A merge without a work tree needs git 2.38.
  (hasGit([2, 38]) ? deep : it.skip)(
    'merge what conflicts in the memory only, for each pull request of the repository',
    () => {
      const hub = new Repo(newFolder());
      hub.git('init', '-q', '--bare', '-b', 'main');
      const work = Repo.create();
      repos.push(hub, work);
      work.git('remote', 'add', 'origin', hub.root);
      work.write('code.ts', 'export const one = 1;\n');
      work.git('add', '-A');
      work.git('commit', '-q', '-m', 'Code');
      write(work, 'log-decision', '--title', 'A', '--context', 'c', '--decision', 'We begin');
      work.git('push', '-q', 'origin', 'main');
      for (const branch of [odd, 'both', 'clean']) {
        work.git('switch', '-q', '-c', branch, 'main');
        if (branch !== 'clean') decide(work, `do ${branch.slice(0, 4)}`);
        work.write(branch === 'both' ? 'code.ts' : `new-${branch.slice(0, 1)}.ts`, 'text\n');
        work.git('add', '-A');
        work.git('commit', '-q', '-m', 'More');
        work.git('push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
      }
      work.git('switch', '-q', 'main');
      decide(work, 'go on');
      work.write('code.ts', 'export const one = 2;\n');
      work.git('commit', '-q', '-a', '-m', 'Change');
      work.git('push', '-q', 'origin', 'main');

      const pulls = [odd, 'both', 'clean', 'gone'].map((head) => `${head} main false false`);
      writeFileSync(join(bin, 'pulls'), [...pulls, 'main main true false', ''].join('\n'));
      program(join(bin, 'gh'), `cat '${join(bin, 'pulls')}'`);
      const [, merge = ''] = scripts(parse(textOf('github')));

      const { status, text, clone } = job(hub, merge, 'main');
      expect({ status, text }).toMatchObject({ status: 0 });
      expect(text.split('\n')).toEqual([
        expect.stringMatching(
          / into main: was in conflict in the memory only: .* pushed as [0-9a-f]{12}\.$/,
        ),
        expect.stringContaining('both into main: also conflicts outside the memory: code.ts. '),
        'clean into main: the server can merge it.',
        'gone into main: a branch of it does not exist on the remote.',
        expect.stringContaining('main into main: is from a fork, '),
        '',
      ]);
      expect(existsSync(clone.path('pwned'))).toBe(false);
      expect(clone.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
      const log = hub.git('show', `refs/heads/${odd}:.memory-bank/decisionLog.md`);
      for (const title of ['begin', 'do b;to', 'go on']) expect(log).toContain(`We ${title}`);
      expect(hub.git('log', '-1', '--format=%an %p', `refs/heads/${odd}`)).toMatch(
        /^memory-bank \w+ \w+\n$/,
      );
      // The server can merge it now, so a push by the job starts no other merge.
      const tip = hub.git('rev-parse', `refs/heads/${odd}`);
      expect(job(hub, merge, 'main').text).toContain('into main: the server can merge it.');
      expect(hub.git('rev-parse', `refs/heads/${odd}`)).toBe(tip);

      // A server without the right to push says so, and the job goes on.
      const lab = scripts(parse(textOf('gitlab')));
      program(hub.path('hooks/pre-receive'), 'echo not you; exit 1');
      hub.git('update-ref', `refs/heads/${odd}`, `${tip.trim()}^1`);
      const request = {
        CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: odd,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '7',
        CI_MERGE_REQUEST_PROJECT_ID: '7',
      };
      const refused = job(hub, lab[1] ?? '', 'main', request);
      expect(refused.text).toContain('was not merged or not pushed: ');
      expect(refused.text).toContain('not you');
      expect(refused.status).toBe(0);

      // After a push to the target, the server lists the requests into it.
      rmSync(hub.path('hooks/pre-receive'));
      const ids = { source_project_id: 7, target_project_id: 7 };
      const listed = [{ source_branch: odd, target_branch: 'main', ...ids }];
      program(join(bin, 'curl'), `printf '%s' "$*" >&2; cat '${join(bin, 'requests')}'`);
      writeFileSync(join(bin, 'requests'), JSON.stringify(listed));
      const server = { CI_COMMIT_BRANCH: 'main', CI_API_V4_URL: 'https://git.example.org/api/v4' };
      const pushed = job(hub, lab.slice(2).join('\n'), 'main', { ...server, CI_PROJECT_ID: '7' });
      expect(pushed.text).toContain('https://git.example.org/api/v4/projects/7/merge_requests');
      expect(pushed.text).toContain('merged by record and pushed as');
      expect(pushed.status).toBe(0);
    },
  );

  deep('are shown and written by init, and taken back', () => {
    const repo = Repo.create();
    repos.push(repo);
    const init = (...args: string[]) => {
      const words = ['init', '--clients', 'none', '--yes', ...args];
      return runProgram(repo.root, words, { env: { ...gitEnv, HOME: home } }).stdout;
    };
    const shown = init('--ci', 'github');
    expect(shown).toContain(`+++ ${repo.path(githubFile)}\n`);
    expect(shown).toContain(
      '+      - run: npx --yes --package="$MEMORY_BANK_PACKAGE" memory-bank check',
    );
    expect(shown).toContain('Not committed: .github/workflows/memory-bank.yml.');
    expect(repo.read(githubFile)).toBe(textOf('github'));
    expect(init('--undo')).toContain(`--- ${repo.path(githubFile)}\n+++ /dev/null\n`);
    expect(existsSync(repo.path('.github'))).toBe(false);
  });

  deep('check a pull request at the lines that it changes', () => {
    const hub = new Repo(newFolder());
    hub.git('init', '-q', '--bare', '-b', 'main');
    const work = Repo.create();
    repos.push(hub, work);
    work.write('src/lock.ts', 'one\ntwo\nthree\n');
    work.git('add', '-A');
    work.git('commit', '-q', '-m', 'Lock');
    const entry = ['--category', 'patterns', '--key', 'lock', '--reason', 'r'];
    write(work, 'memory-write', ...entry, '--value', 'See src/lock.ts:2.');
    work.git('push', '-q', hub.root, 'main');
    work.git('switch', '-q', '-c', 'change');
    work.write('src/lock.ts', 'one\n2\nthree\n');
    work.git('commit', '-q', '-a', '-m', 'Change');
    work.git('push', '-q', hub.root, 'change');
    const [check = ''] = scripts(parse(textOf('github')));
    const whole = `git fetch -q --unshallow origin '+refs/heads/*:refs/remotes/origin/*'\n`;
    const { status, text } = job(hub, whole + check, 'change', { GITHUB_BASE_REF: 'main' });
    expect({ status, text }).toEqual({
      status: 1,
      text: expect.stringContaining('file=src/lock.ts,line=2'),
    });
    const [lab = ''] = scripts(parse(textOf('gitlab')));
    const base = work.git('rev-parse', 'main').trim();
    const found = job(hub, whole + lab, 'change', { CI_MERGE_REQUEST_DIFF_BASE_SHA: base });
    expect(found.status).toBe(1);
    const report = JSON.parse(
      readFileSync(found.clone.path('gl-code-quality-report.json'), 'utf8'),
    );
    expect(report).toMatchObject([{ location: { path: 'src/lock.ts', lines: { begin: 2 } } }]);
  });
});
