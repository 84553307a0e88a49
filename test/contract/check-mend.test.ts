import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { main, newFolder, withHome } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { notOnWindows } from '../support/windows.ts';

const env = { ...gitEnv, HOME: newFolder() };
const distinct = notOnWindows('its file system keeps one of such names');
let repo: Repo;

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/a.ts', 'one\ntwo\n');
  commit('Add code');
});

afterEach(() => repo.remove());

function run(...args: string[]) {
  return runProgram(repo.root, args, { env });
}

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-qm', message);
}

function remember(key: string, value = 'The text.'): string {
  expect(run('memory-write', '--category', 'patterns', '--key', key, '--value', value).status).toBe(
    0,
  );
  return `.memory-bank/knowledge/patterns/${key}.md`;
}

function change(path: string, edit: (text: string) => string): void {
  repo.write(path, edit(repo.read(path)));
}

interface Finding {
  readonly kind: string;
  readonly verdict?: string;
  readonly severity: string;
  readonly mend?: string;
}

/** The errors and warnings of a check, as `path kind`, each with its command. */
function findings(): (readonly [name: string, mend: string | undefined])[] {
  const { records } = JSON.parse(run('check', '--format', 'json').stdout);
  return records.flatMap(({ path, findings }: { path: string; findings: Finding[] }) =>
    findings
      .filter(({ severity }) => severity === 'error' || severity === 'warning')
      .map(({ kind, verdict, mend }) => [`${path} ${verdict ?? kind}`, mend]),
  );
}

/** Runs a command as a person does, with a script that is the editor. */
function mend(command: string | undefined, script = ''): void {
  const editor = repo.path('.git/editor.js');
  const edit = `const fs = require('node:fs'); const file = process.argv[2];
    let text = fs.readFileSync(file, 'utf8'); ${script}; fs.writeFileSync(file, text);`;
  repo.write('.git/editor.js', edit);
  const program = `${JSON.stringify(process.execPath)} ${JSON.stringify(main)}`;
  const line = command?.replace(/^memory-bank/, program) ?? '';
  const EDITOR = `${JSON.stringify(process.execPath)} ${JSON.stringify(editor)}`;
  const { status, stdout, stderr } = spawnSync(line, {
    cwd: repo.root,
    env: withHome({ ...env, EDITOR }),
    shell: true,
    encoding: 'utf8',
  });
  expect({ line, status, stdout, stderr }).toMatchObject({ status: 0 });
}

/** Expects one finding, and that its command mends it. */
function expectMended(name: string, script?: string, fill?: (command: string) => string): void {
  expectAllMended([name], script, fill);
}

/** Expects some findings, and that the command of the first mends all of them. */
function expectAllMended(
  names: readonly string[],
  script?: string,
  fill = (command: string) => command,
): void {
  const found = findings();
  expect(found.map(([name]) => name)).toEqual(names);
  const [[, command] = []] = found;
  mend(command === undefined ? undefined : fill(command), script);
  expect(run('check')).toMatchObject({ status: 0, stderr: '' });
}

deep('the command of a finding mends a file that cannot be read', () => {
  const broken = remember('broken');
  const text = repo.read(broken);
  change(broken, (text) => text.replace('key: broken', 'key: [broken'));
  commit('Break it');
  expectMended('knowledge/patterns/broken.md unreadable');
  expect(repo.read(broken)).toBe(text);
  change('.memory-bank/config.yaml', (text) => `${text}format: [\n`);
  commit('Break the settings');
  expectMended('config.yaml settings');
  expect(run('memory-write', '--category', 'patterns', '--key', 'b', '--value', 'B').status).toBe(
    0,
  );
});

deep('the command of a finding mends conflict markers, in an editor', () => {
  const merged = remember('merged');
  change(merged, (text) => `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> side\n`);
  commit('Leave the markers');
  expectMended(
    'knowledge/patterns/merged.md conflict',
    "text = text.split('\\n').slice(1).join('\\n').split('=======')[0]",
  );
});

deep('the command of a finding removes or renames a file with the key of another one', () => {
  const path = remember('one');
  repo.write('.memory-bank/knowledge/patterns/two.md', repo.read(path));
  commit('Copy it');
  expectMended('knowledge/patterns/two.md duplicate');
  // A file that git does not have is nowhere else: it gets another key.
  repo.write('.memory-bank/knowledge/patterns/three.md', repo.read(path));
  expectMended(
    'knowledge/patterns/three.md duplicate',
    "text = text.replace('key: one', 'key: three')",
  );
  expect(repo.read(path)).toContain('key: one');
});

deep('the editor does not overwrite the record whose key another file has', () => {
  const path = remember('one');
  const other = '.memory-bank/knowledge/patterns/two.md';
  const text = repo.read(path);
  repo.write(other, text);
  commit('Copy it');
  repo.write('draft.md', text.replace('The text.', 'Another text.'));
  const edited = run('edit', 'knowledge/patterns/two.md', '--from', 'draft.md');
  expect(edited).toMatchObject({ status: 4, stderr: expect.stringContaining('is already') });
  expect([repo.read(path), repo.read(other)]).toEqual([text, text]);
});

deep('the command of a finding mends links between records', () => {
  const json = (name: string, args: object) => {
    const { status, stdout } = run(name, '--json', JSON.stringify(args), '--output', 'json');
    expect({ status, stdout }).toMatchObject({ status: 0 });
    return JSON.parse(stdout);
  };
  json('create-objective', { slug: 'ship', name: 'Ship' });
  json('create-tasks', { objective_slug: 'ship', tasks: [{ text: 'Do it' }] });
  repo.git('rm', '-rq', '.memory-bank/graph/objectives');
  commit('Remove the objective');
  expectMended('graph/tasks/ship/do-it.yaml broken');
  const { paths } = json('create-paths', { paths: [{ path: 'src/a.ts', type: 'file' }] }).data;
  json('create-features', { features: [{ slug: 'auth', name: 'Auth' }] });
  json('link-paths-to-feature', { feature_slug: 'auth', path_ids: [paths[0].id] });
  expect(findings()).toEqual([]);
  repo.git('rm', '-rq', '.memory-bank/graph/paths');
  expectMended('graph/features/auth.yaml broken');
});

deep('the command of a finding mends titles, code and rules', () => {
  const decide = (title: string) => {
    expect(run('log-decision', '--title', title, '--context', 'C', '--decision', 'D').status).toBe(
      0,
    );
  };
  decide('Use git');
  change('.memory-bank/decisionLog.md', (text) => `${text}\n${text.slice(text.indexOf('## '))}`);
  commit('Decide it again');
  expectMended('decisionLog.md hidden');
  remember('beyond', 'It is in src/a.ts:9.');
  expectMended('knowledge/patterns/beyond.md beyond', "text = text.replace('a.ts:9', 'a.ts:2')");
  repo.write('src/a.ts', 'one\n2\n');
  commit('Change the code');
  expectMended('knowledge/patterns/beyond.md changed');
  repo.write('.memory-bank/rules/code.yaml', 'mode: code\ninstructions: {general: []}\n');
  commit('Add a rule');
  repo.write('.memory-bank/rules/code.yaml', 'mode: debug\ninstructions: {general: []}\n');
  commit('Break the rule');
  expectMended('rules/code.yaml rule');
  const over = remember('over');
  expect(run('verify', 'knowledge/patterns/over.md', '--expires', '2020-01-01').status).toBe(0);
  expect(over).toContain('over');
  expectMended('knowledge/patterns/over.md expired', '', (command) =>
    command.replace('<day>', '2999-01-01'),
  );
});

deep('the command of a finding gives a file a name that counts, tracked or not', () => {
  const path = remember('one');
  const text = repo.read(path);
  const stray = '.memory-bank/knowledge/patterns/two.markdown';
  for (const isTracked of [true, false]) {
    const key = isTracked ? 'two' : 'three';
    repo.write(stray.replace('two', key), text.replace('key: one', `key: ${key}`));
    if (isTracked) commit('Add it under another name');
    expectMended(`knowledge/patterns/${key}.markdown stray`);
    expect(run('show', `patterns/${key}`).stdout).toContain('The text.');
    commit('Keep it');
  }
  // Next to a record of its name it can only be removed, and only git keeps its text.
  repo.write('.memory-bank/knowledge/patterns/one.markdown', text);
  expect(findings()).toEqual([['knowledge/patterns/one.markdown stray', undefined]]);
  commit('Add one that is there');
  expectMended('knowledge/patterns/one.markdown stray');
  expect(repo.read(path)).toBe(text);
});

distinct.runIf(isFull)(
  'the command of a finding tells names apart that differ in letter case',
  () => {
    const path = remember('one');
    const text = repo.read(path);
    for (const isTracked of [true, false]) {
      const twin = isTracked ? 'One' : 'ONE';
      repo.write(path.replace('one.md', `${twin}.md`), text.replace('key: one', `key: ${twin}x`));
      if (isTracked) commit('Add a twin');
      expectAllMended([`knowledge/patterns/${twin}.md case`, 'knowledge/patterns/one.md case']);
      commit('Keep both');
    }
  },
);

deep('the command of a finding mends code that is gone', () => {
  repo.write('src/b.ts', 'one\ntwo\n');
  commit('Add more code');
  remember('found', 'It is in src/b.ts:2.');
  remember('given');
  expect(run('verify', 'knowledge/patterns/given.md', '--evidence', 'src/b.ts:1').status).toBe(0);
  repo.git('rm', '-q', 'src/b.ts');
  commit('Remove it');
  const [[found, first] = [], [given, second] = []] = findings();
  expect([found, given]).toEqual([
    'knowledge/patterns/found.md gone',
    'knowledge/patterns/given.md gone',
  ]);
  mend(first);
  mend(second?.replace('<place>', 'src/a.ts:1'));
  expect(run('check')).toMatchObject({ status: 0, stderr: '' });
});

deep('the command of a finding mends what supersedes what', () => {
  for (const key of ['old', 'new', 'newer']) remember(key);
  const [old, fresh, newer] = ['old', 'new', 'newer'].map((key) => `knowledge/patterns/${key}.md`);
  change(`.memory-bank/${fresh}`, (text) =>
    text.replace('---\n', `---\nsupersedes:\n  - ${old}\n`),
  );
  commit('Say it on one side');
  expectMended(`${old} superseded`);
  change(`.memory-bank/${newer}`, (text) =>
    text.replace('---\n', `---\nsupersedes:\n  - ${old}\n`),
  );
  commit('Say it of another one');
  expectAllMended([`${fresh} rivals`, `${newer} rivals`]);
  expect(repo.read(`.memory-bank/${old}`)).toContain(`superseded_by: ${fresh}`);
  remember('link', `See ${old}.`);
  expectMended(
    'knowledge/patterns/link.md link',
    `text = text.replace(${JSON.stringify(old)}, 'it')`,
  );
});

deep('the command of a finding mends a title and a credential, in an editor', () => {
  const decide = (title: string) => {
    const { status } = run('log-decision', '--title', title, '--context', 'C', '--decision', 'D');
    expect(status).toBe(0);
  };
  decide('Use git');
  const log = '.memory-bank/decisionLog.md';
  change(
    log,
    (text) => `${text}\n${text.slice(text.indexOf('## ')).replace(/ - \d{4}/, ' - 1999')}`,
  );
  commit('Decide it again');
  expectMended(
    'decisionLog.md title',
    "text = text.replace('Use git - 1999', 'Use git again - 1999')",
  );
  const path = remember('key');
  const credential = `ghp${'_'}9aB3kLm7Qx2ZtR5vYw8NcD4eFgH6jP1sUuKo`;
  change(path, (text) => text.replace('The text.', credential));
  commit('Leak it');
  const { stdout } = run('check');
  expect(stdout).toContain('revoke it where it is valid, because the history keeps it');
  expect(stdout).not.toContain(credential);
  expectMended('knowledge/patterns/key.md secret', 'text = text.replace(/ghp.*/, "in the vault")');
});

deep('the command of a finding mends what is wrong with an entry that is a file', () => {
  for (const title of ['Use git', 'Use pnpm']) {
    const args = ['--title', title, '--context', 'C', '--decision', `${title} here.`];
    expect(run('log-decision', ...args).status).toBe(0);
  }
  expect(run('layout', 'entries', '--yes').status).toBe(0);
  const [entry = ''] = repo.git('ls-files', '.memory-bank/decisionLog').split('\n');
  const text = repo.read(entry);
  change(entry, (text) => `<<<<<<< HEAD\n${text}=======\nIt.\n>>>>>>> side\n`);
  commit('Leave the markers');
  const conflict = {
    kind: 'conflict',
    stored: { path: entry.replace('.memory-bank/', ''), line: 1 },
  };
  expect(JSON.parse(run('check', '--format', 'json').stdout).records).toMatchObject([
    { path: 'decisionLog.md', findings: [conflict] },
  ]);
  expectMended(
    'decisionLog.md conflict',
    "text = text.replace(/## (?:(?!##)[^])*<<<<<<< HEAD\\n+([^]*?)## None\\n[^]*>>>>>>> side\\n/, '$1None\\n')",
  );
  expect(repo.read(entry)).toBe(text);
  repo.write(entry, Buffer.from([0x23, 0xff, 0xfe]));
  commit('Damage an entry');
  expectMended('decisionLog.md unreadable');
  expect(repo.read(entry)).toBe(text);
  change('.memory-bank/decisionLog.md', (text) => `${text}\n## More - 2026-01-31\n\nX.\n`);
  commit('Merge an entry into the log');
  expectMended('decisionLog.md layout');
});
