import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { deep } from '../support/depth.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { notOnWindows } from '../support/windows.ts';

const env = { ...gitEnv, HOME: newFolder() };

function run(repo: Repo, ...args: string[]) {
  return runProgram(repo.root, args, { env });
}

function project(): Repo {
  const repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  repo.write('src/old.ts', 'old\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add code');
  const value = 'src/lock.ts:2 waits, README.md and src/old.ts explain it';
  run(repo, 'memory-write', '--category', 'patterns', '--key', 'lock', '--value', value);
  return repo;
}

test('check passes after an agent has verified a decision over stdio', async () => {
  const repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add code');
  const client = new RawClient([main], { cwd: repo.root }).initialize();
  const call = (id: number, tool: string, args: object) => client.call(id, tool, args).answer(id);
  const decision = 'As `src/lock.ts:1-3` does.';
  await call(1, 'log_decision', { title: 'Wait', context: 'C', decision });
  repo.write('src/lock.ts', 'one\n2\nthree\n');
  repo.git('commit', '-qam', 'Change the lock');
  expect(run(repo, 'check')).toMatchObject({ status: 1 });
  const counts = 'check: the last check of this commit found 1 warning: run "memory-bank check"';
  expect(run(repo, 'brief').stdout).toContain(counts);
  const { result } = await call(2, 'verify_memory', { path: 'decisionLog.md#Wait' });
  expect(result.structuredContent).toMatchObject({ success: true });
  expect(run(repo, 'brief').stdout).not.toContain(counts);
  expect(run(repo, 'check')).toMatchObject({ status: 0, stderr: '' });
  await client.end();
  repo.remove();
});

deep('check fails on files that mislead or stop the program, and says what helps', () => {
  const repo = Repo.create();
  const write = (key: string) =>
    run(repo, 'memory-write', '--category', 'patterns', '--key', key, '--value', 'The text.');
  for (const key of ['broken', 'merged', 'token', 'bytes']) write(key);
  expect(run(repo, 'check')).toMatchObject({ status: 0, stderr: '' });
  const change = (key: string, edit: (text: string) => string | Buffer) => {
    const path = `.memory-bank/knowledge/patterns/${key}.md`;
    repo.write(path, edit(repo.read(path)));
  };
  const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  change('broken', (text) => text.replace('key: broken', 'key: [broken'));
  change('merged', (text) => `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> side\n`);
  change('token', (text) => text.replace('The text.', `The text.\nIt is ${secret}.`));
  change('bytes', () => Buffer.from([0xff, 0xfe, 0x00]));
  repo.write('.memory-bank/config.yaml', 'format: [\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Mislead');
  const { status, stdout } = run(repo, 'check', '--output', 'json');
  expect(status).toBe(1);
  expect(stdout).not.toContain(secret.slice(0, 12));
  const { records, counts } = JSON.parse(stdout);
  const kinds = Object.fromEntries(
    records.map(({ path, findings }: { path: string; findings: { kind: string }[] }) => {
      return [path.replace('knowledge/patterns/', ''), findings.map(({ kind }) => kind)];
    }),
  );
  expect(kinds).toMatchObject({
    'broken.md': ['unreadable'],
    'bytes.md': ['unreadable'],
    'merged.md': ['conflict'],
    'token.md': ['secret'],
    'config.yaml': ['settings'],
  });
  expect(counts).toMatchObject({ unreadable: 2, conflict: 1, secret: 1, settings: 1 });
  const text = run(repo, 'check').stdout;
  expect(text).toMatch(
    /error {4}knowledge\/patterns\/merged\.md:\d+: It cannot be read: .*resolve_conflicts/,
  );
  expect(text).toMatch(
    /patterns\/token\.md:\d+: It \(line \d+.*\) holds what looks like .*revoke it.*secrets\.allow/,
  );
  expect(text).toMatch(/config\.yaml:2: Nothing is written until it is mended/);
  expect(run(repo, 'status').stdout).toMatch(/^Settings +.*config\.yaml/m);
  const last = 'the last check of this commit found 5 errors: run "memory-bank check"';
  const files = `records: 2 not readable, 1 with conflict markers; ${last}`;
  const stopped = 'the settings in config.yaml cannot be used, so nothing is written';
  const brief = () => run(repo, 'brief').stdout;
  expect(brief()).toContain(`## Needs attention\n- check: ${stopped}; ${files}\n`);
  repo.git('checkout', '-q', 'HEAD~1', '--', '.memory-bank/config.yaml');
  expect(brief()).toContain(`## Needs attention\n- check: ${files}\n`);
  const line = '4 errors: run "memory-bank check"';
  expect(run(repo, 'doctor').stdout).toMatch(new RegExp(`^WRONG Check +${line}$`, 'm'));
  expect(run(repo, 'status').stdout).toContain(`\n${line}\n`);
  expect(JSON.parse(run(repo, 'status', '--output', 'json').stdout)).toMatchObject({ check: line });
  expect(run(repo, 'check', '--since', 'HEAD').stdout).not.toContain('patterns/token.md');
  expect(run(repo, 'check', '--since', 'HEAD~1').stdout).toContain('patterns/token.md');
  repo.remove();
});

deep('check annotates the lines of a pull request for each code host', () => {
  const top = Repo.create();
  const folder = process.platform === 'win32' ? 'a, b 100%' : 'a, b: 100%';
  top.write(`${folder}/src/lock.ts`, 'one\ntwo\nthree\n');
  top.write(`${folder}/src/old.ts`, 'old\n');
  top.git('add', '-A');
  top.git('commit', '-q', '-m', 'Add code');
  const here = (...args: string[]) =>
    runProgram(top.root, [...args, '--root', join(top.root, folder)], { env });
  const value = 'It waits:\n\nsrc/lock.ts:2 does, and src/old.ts.';
  here('memory-write', '--category', 'patterns', '--key', 'lock', '--value', value);
  expect(here('check', '--format', 'github')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(here('check', '--format', 'gitlab')).toMatchObject({ status: 0, stdout: '[]\n' });
  top.write(`${folder}/src/lock.ts`, 'zero\none\n2\nthree\n');
  top.git('rm', '-q', `${folder}/src/old.ts`);
  top.git('commit', '-qam', 'Change 100%');
  const record = top.read(`${folder}/.memory-bank/knowledge/patterns/lock.md`).split('\n');
  const line = record.findIndex((one) => one.includes('src/old.ts')) + 1;
  const { status, stdout, stderr } = here('check', '--format', 'github');
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  const named = folder.replace('%', '%25').replace(',', '%2C').replace(':', '%3A');
  const [changed, gone, ...rest] = stdout.split('\n').sort().reverse();
  expect(changed).toContain(
    `::warning file=${named}/src/lock.ts,line=3,endLine=3,title=memory-bank%3A evidence-changed::knowledge/patterns/lock.md: The text of src/lock.ts:2 was changed, last by `,
  );
  expect(changed).toContain('Change 100%25).');
  expect(gone).toContain(
    `::error file=${named}/.memory-bank/knowledge/patterns/lock.md,line=${line},endLine=${line},`,
  );
  expect(rest).toEqual(['']);
  const { runs, version } = JSON.parse(here('check', '--format', 'sarif').stdout);
  expect({ version, results: runs[0].results.length }).toEqual({ version: '2.1.0', results: 2 });
  const paths = JSON.parse(here('check', '--format', 'gitlab', '--all').stdout).map(
    ({ location }: { location: { path: string } }) => location.path,
  );
  expect(paths).toContain(`${folder}/src/lock.ts`);
  const json = here('check', '--output', 'json').stdout;
  expect(here('check', '--format', 'json', '--output', 'json').stdout).toBe(json);
  for (const args of [['xml'], ['sarif', '--output', 'json'], ['github', '--since', 'nowhere']]) {
    expect(here('check', '--format', ...args)).toMatchObject({ status: 2, stdout: '' });
  }
  top.remove();
});

deep('check --docs fails on instructions that are no longer true', () => {
  const repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  repo.write('AGENTS.md', 'The lock is in `src/lock.ts`.\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Add the lock');
  const good = run(repo, 'check', '--docs');
  expect(good).toMatchObject({ status: 0, stderr: '' });
  expect(good.stdout).toContain('2 documents with 1 claim: 0 drifted, 1 true, 0 cannot be judged');
  repo.git('mv', 'src/lock.ts', 'src/guard.ts');
  repo.git('commit', '-qm', 'Rename the lock');
  expect(run(repo, 'check')).toMatchObject({ status: 0 });
  const { status, stdout } = run(repo, 'check', '--docs');
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^warning {2}AGENTS\.md:1: `src\/lock\.ts` does not exist, since [0-9a-f]{12} \(.*: Rename the lock\); it is now `src\/guard\.ts`\.$/m,
  );
  const json = JSON.parse(run(repo, 'check', '--docs', '--format', 'json').stdout);
  expect(json.docs.counts).toMatchObject({ files: 2, claims: 1, drifted: 1 });
  expect(run(repo, 'check', '--docs', '--format', 'github').stdout).toContain(
    '::warning file=AGENTS.md,line=1',
  );
  const fixed = run(repo, 'check', '--docs', '--fix');
  expect(fixed).toMatchObject({ status: 0 });
  expect(fixed.stdout).toContain('fixed    AGENTS.md\n');
  expect(repo.read('AGENTS.md')).toBe('The lock is in `src/guard.ts`.\n');
  repo.remove();
});

const telling = notOnWindows('its folders do not tell letter case apart');

telling('check fails on names that differ only in letter case', () => {
  const repo = Repo.create();
  run(repo, 'memory-write', '--category', 'patterns', '--key', 'whole', '--value', 'The text.');
  const folder = '.memory-bank/knowledge/patterns';
  repo.write(`${folder}/Whole.md`, repo.read(`${folder}/whole.md`).replace('whole', 'other'));
  const { status, stdout } = run(repo, 'check');
  expect(status).toBe(1);
  for (const [name, other] of [
    ['whole', 'Whole'],
    ['Whole', 'whole'],
  ]) {
    const twin = `knowledge/patterns/${other}.md`;
    expect(stdout).toContain(
      `error    knowledge/patterns/${name}.md: Its name differs from ${twin} only in letter case`,
    );
  }
  repo.remove();
});

deep('check passes while the code is as it was, and fails when it changed', () => {
  const repo = project();
  const good = run(repo, 'check');
  expect(good).toMatchObject({ status: 0, stderr: '' });
  expect(good.stdout).toBe('1 record with 3 places in the code: 3 as before\n');
  expect(run(repo, 'check', '--all').stdout).toContain('src/lock.ts:2 is as it was.');
  repo.write('src/lock.ts', 'one\n2\nthree\n');
  repo.git('rm', '-q', 'src/old.ts');
  repo.git('commit', '-qam', 'Change the lock');
  const { status, stdout } = run(repo, 'check');
  expect(status).toBe(1);
  expect(stdout.replace(/[0-9a-f]{12}/g, '<commit>')).toBe(
    `error    knowledge/patterns/lock.md:7: src/old.ts was removed, last by <commit> (Ada Lovelace <ada@example.org>: Change the lock).
  mend: memory-bank verify knowledge/patterns/lock.md
warning  knowledge/patterns/lock.md:7: The text of src/lock.ts:2 was changed, last by <commit> (Ada Lovelace <ada@example.org>: Change the lock).
  @@ -1,3 +1,3 @@
   one
  -two
  +2
   three
  mend: memory-bank verify knowledge/patterns/lock.md

1 record with 3 places in the code: 1 error, 1 warning, 1 as before
`,
  );
  expect(run(repo, 'check', '--since', 'HEAD')).toMatchObject({ status: 0 });
  expect(run(repo, 'check', '--since', 'HEAD~1')).toMatchObject({ status: 1 });
  repo.remove();
});

deep('check prints JSON of a fixed shape, without a version', () => {
  const repo = project();
  repo.write('src/lock.ts', 'zero\none\ntwo\nthree\n');
  repo.git('rm', '-q', 'src/old.ts');
  repo.git('commit', '-qam', 'Change the lock');
  const head = repo.git('rev-parse', 'HEAD').trim();
  const evidence = (path: string, lines: number[] | null) => ({ path, lines, source: 'found' });
  const gone = {
    kind: 'evidence',
    verdict: 'gone',
    severity: 'error',
    evidence: evidence('src/old.ts', null),
    now: null,
    commit: head,
    line: expect.any(Number),
    message: `src/old.ts was removed, last by ${head.slice(0, 12)} (Ada Lovelace <ada@example.org>: Change the lock).`,
    mend: 'memory-bank verify knowledge/patterns/lock.md',
  };
  const moved = {
    kind: 'evidence',
    verdict: 'moved',
    severity: 'notice',
    evidence: evidence('src/lock.ts', [2, 2]),
    now: { path: 'src/lock.ts', lines: [3, 3] },
    commit: null,
    line: expect.any(Number),
    message: 'src/lock.ts:2 is now src/lock.ts:3.',
    mend: 'memory-bank edit knowledge/patterns/lock.md',
  };
  const counts = { fresh: 1, moved: 1, ambiguous: 0, changed: 0, gone: 1, beyond: 0, unknown: 0 };
  const path = 'knowledge/patterns/lock.md';
  const json = (...args: string[]) =>
    JSON.parse(run(repo, 'check', ...args, '--output', 'json').stdout);
  expect(json()).toStrictEqual({ records: [{ path, findings: [gone, moved] }], counts });
  expect(json('--all').records[0].findings).toHaveLength(3);
  expect(json('.memory-bank/knowledge/').records).toHaveLength(1);
  repo.remove();
});

deep('check reports with status 2 that it could not run', () => {
  const repo = project();
  for (const args of [['--since', 'nowhere'], ['nowhere'], ['../out'], ['--sinse', 'HEAD']]) {
    const { status, stdout, stderr } = run(repo, 'check', ...args);
    expect({ args, status, stdout }).toEqual({ args, status: 2, stdout: '' });
    expect(stderr).toMatch(/^memory-bank: /);
  }
  expect(run(new Repo(), 'check').status).toBe(2);
  repo.remove();
});

deep('a person gives evidence, sees the label, and follows moved code', () => {
  const repo = project();
  const path = 'knowledge/patterns/lock.md';
  const verified = run(repo, 'verify', path, '--evidence', 'src/lock.ts:2');
  expect(verified).toMatchObject({ status: 0, stdout: `verified ${path}\n  src/lock.ts:2\n` });
  expect(run(repo, 'verify', path, '--evidence', 'src/lock.ts:4')).toMatchObject({
    stderr: expect.stringContaining('src/lock.ts has only 3 lines'),
  });
  expect(run(repo, 'show', path)).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(run(repo, 'status', '--output', 'json').stdout)).not.toHaveProperty('caution');
  repo.write('src/lock.ts', 'zero\none\ntwo\nthree\n');
  const fixed = run(repo, 'check', '--fix');
  expect(fixed.stdout).toContain(`fixed    ${path}\n`);
  expect(fixed.status).toBe(0);
  expect(repo.read(`.memory-bank/${path}`)).toMatch(/- src\/lock\.ts:3 1-/);
  repo.write('src/lock.ts', 'zero\n');
  expect(run(repo, 'show', path).stderr).toContain('The text of src/lock.ts:3 was changed');
  const caution = expect.arrayContaining([expect.stringContaining('src/lock.ts:3')]);
  const json = (...args: string[]) => JSON.parse(run(repo, ...args, '--output', 'json').stdout);
  expect(json('show', path)).toMatchObject({ caution });
  expect(json('status')).toMatchObject({ caution: { [path]: caution } });
  expect(json('check').records[0].findings[0]).toMatchObject({
    verdict: 'changed',
    evidence: { path: 'src/lock.ts', lines: [3, 3], source: 'given' },
    commit: null,
    diff: expect.stringContaining('-two\n'),
  });
  repo.remove();
});

deep('show, status and export say which records to check, and nothing about healthy ones', () => {
  const repo = project();
  const path = 'knowledge/patterns/lock.md';
  const text = (...args: string[]) => run(repo, ...args);
  const json = (...args: string[]) => JSON.parse(run(repo, ...args, '--output', 'json').stdout);
  const commands = [['show', path], ['status'], ['export', 'markdown', 'report', '--force']];
  const healthy = commands.map((args) => [json(...args), text(...args)] as const);
  for (const [answer, { stdout, stderr }] of healthy) {
    expect(answer).not.toHaveProperty('caution');
    expect(stdout + stderr).not.toMatch(/caution|to check/i);
  }
  expect(repo.read('report/memory.md')).not.toContain('Caution');
  repo.git('rm', '-q', 'src/old.ts');
  repo.git('commit', '-q', '-m', 'Remove it', '--', 'src');
  const caution = ['src/old.ts was removed.'];
  const [show, status, exported] = commands.map((args) => json(...args));
  expect(show).toEqual({ ...healthy[0]?.[0], caution });
  expect(status).toMatchObject({ caution: { [path]: caution } });
  expect(exported).toEqual({ ...healthy[2]?.[0], caution: { [path]: caution } });
  expect(text('show', path).stderr).toContain(caution[0]);
  expect(text('show', path).stdout).toBe(healthy[0]?.[1].stdout);
  expect(text('status').stdout).toContain('1 error: run "memory-bank check"');
  expect(repo.read('report/memory.md')).toContain(`> **Caution:** ${caution[0]}`);
  repo.remove();
});

deep(
  'a pull request fails if it changes code and not the memory, and passes if it mends both',
  () => {
    const repo = project();
    const change = (path: string, text: string, message: string) => {
      repo.write(path, text);
      repo.git('add', '-A');
      repo.git('commit', '-q', '-m', message);
    };
    const path = 'knowledge/patterns/lock.md';
    run(
      repo,
      'memory-write',
      '--category',
      'patterns',
      '--key',
      'also',
      '--value',
      'src/lock.ts:2',
    );
    const given = ['--category', 'patterns', '--key', 'given', '--value', 'A rule.'];
    run(repo, 'memory-write', ...given, '--evidence', 'src/lock.ts:2-3');
    // Stale before the pull request, which does not change this line.
    change('src/odd.ts', 'one\ntwo\n', 'Add odd code');
    run(repo, 'memory-write', '--category', 'patterns', '--key', 'odd', '--value', 'src/odd.ts:1');
    change('src/odd.ts', '1\ntwo\n', 'Change odd code');
    const check = () => run(repo, 'check', '--since', 'main');
    repo.git('checkout', '-q', '-b', 'topic');
    change('src/odd.ts', '1\n2\n', 'Change other odd code');
    expect(check()).toMatchObject({ status: 0 });
    change('src/lock.ts', 'one\n2\nthree\n', 'Change the lock');
    const failed = check();
    expect(failed.status).toBe(1);
    expect(failed.stdout).toMatch(
      /^Since main, this branch changes the code that 3 memories rest on:\n\n/,
    );
    for (const [key, lines] of [
      ['also', '2'],
      ['given', '2-3'],
      ['lock', '2'],
    ]) {
      expect(failed.stdout).toMatch(
        new RegExp(
          `knowledge/patterns/${key}.md:7: The text of src/lock.ts:${lines} was changed, last by \\w{12} .*Change the lock\\)\\.\n  @@`,
        ),
      );
    }
    expect(failed.stdout).not.toContain('odd.md');
    // The memory is mended by hand, by a tool and by a verification.
    const text = repo.read(`.memory-bank/${path}`);
    change(`.memory-bank/${path}`, text.replace('waits', 'counts'), 'Correct the memory');
    run(
      repo,
      'memory-write',
      '--category',
      'patterns',
      '--key',
      'also',
      '--value',
      'src/lock.ts:2!',
    );
    expect(check()).toMatchObject({ status: 1 });
    expect(check().stdout).toContain('the code that 1 memory rests on');
    expect(run(repo, 'verify', 'knowledge/patterns/given.md')).toMatchObject({ status: 0 });
    const mended = check();
    expect(mended).toMatchObject({ status: 0 });
    expect(mended.stdout).not.toContain('this branch changes');
    // As a git host merges it for the check.
    repo.git('checkout', '-q', '--detach', 'main');
    repo.git('merge', '-q', '--no-ff', '-m', 'Merge', 'topic');
    expect(check()).toMatchObject({ status: 0 });
    repo.remove();
  },
);

deep('the workflow in the documentation needs only npx, and may write nothing', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/check.md'), 'utf8');
  const [, text = ''] = /^```yaml\n(name: [\s\S]*?)^```$/m.exec(page) ?? [];
  const workflow = parse(text);
  expect(workflow.permissions).toEqual({ contents: 'read' });
  const { steps } = workflow.jobs.check;
  expect(steps.flatMap((step: { uses?: string }) => step.uses ?? [])).toEqual([
    expect.stringMatching(/^actions\/checkout@/),
    expect.stringMatching(/^actions\/setup-node@/),
  ]);
  expect(steps[0].with).toEqual({ 'fetch-depth': 0 });
  const commands = steps.flatMap((step: { run?: string }) => step.run ?? []);
  expect(commands).toHaveLength(1);
  const [, args = ''] =
    /^npx --yes --package="\$MEMORY_BANK_PACKAGE" memory-bank (.*)$/.exec(commands[0]) ?? [];
  const repo = project();
  repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  const shell = `set -e\n${JSON.stringify(process.execPath)} ${JSON.stringify(main)} ${args}`;
  const passed = spawnSync('sh', ['-c', shell], {
    cwd: repo.root,
    env: { ...env, GITHUB_BASE_REF: 'main' },
    encoding: 'utf8',
  });
  expect(passed).toMatchObject({ status: 0, stderr: '' });
  repo.remove();
});
