import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder, withHome } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

const env = { ...gitEnv, HOME: newFolder() };
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
function expectMended(name: string, script?: string, fill = (command: string) => command): void {
  const [found, ...others] = findings();
  expect([found?.[0], ...others]).toEqual([name]);
  const [, command] = found ?? [];
  mend(command === undefined ? undefined : fill(command), script);
  expect(run('check')).toMatchObject({ status: 0, stderr: '' });
}

test('the command of a finding mends a file that cannot be read', () => {
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

test('the editor does not overwrite the record whose key another file has', () => {
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
