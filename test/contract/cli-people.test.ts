import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { printable } from '../../src/cli/screen/terminal.ts';
import { deep, describeDeep, isFull } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

const env = { PATH: process.env.PATH, HOME: newFolder() };
const repo = Repo.create();

function run(...args: string[]) {
  return runProgram(repo.root, args, { env });
}

run('log-decision', '--title', 'Tokens', '--context', 'Stateless', '--decision', 'Use JWT');
const evil = 'red \u001b[31m alert \u202e.';
run('memory-write', '--category', 'patterns', '--key', 'colours', '--value', evil);

const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

/** The output in a terminal of 100 columns. */
function inTerminal(variables: { readonly [name: string]: string }, ...args: string[]): string {
  const command = ['stty cols 100 rows 24;', process.execPath, main, ...args].join(' ');
  const { stdout } = spawnSync('/usr/bin/script', ['-qec', command, '/dev/null'], {
    cwd: repo.root,
    env: { ...env, TERM: 'xterm', ...variables },
    encoding: 'utf8',
  });
  return stdout.replaceAll('\r\n', '\n');
}

describe('status', () => {
  test('tells what is served and what there is', () => {
    const { status, stdout } = run('status');
    expect(status).toBe(0);
    expect(stdout).toContain(`${repo.root} (cwd)`);
    expect(stdout).toMatch(/^Repository +repository /m);
    expect(stdout).toMatch(/^Head +branch main, at [0-9a-f]{12}$/m);
    expect(stdout).toMatch(/^memory-bank +1 bank file$/m);
    expect(stdout).toMatch(/^knowledge +1 knowledge entry$/m);
    expect(stdout).not.toContain('\u001b');
  });

  deep('tells what is known while the settings cannot be used', () => {
    const config = repo.read('.memory-bank/config.yaml');
    repo.write('.memory-bank/config.yaml', 'format: [\n');
    const { status, stdout } = run('status');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Settings +config\.yaml: .*Nothing is written until then\.$/m);
    expect(stdout).toMatch(/^knowledge +1 knowledge entry$/m);
    expect(JSON.parse(run('status', '--output', 'json').stdout)).toMatchObject({
      project_id: null,
      settings: { problem: expect.stringContaining('config.yaml') },
      records: { knowledge: { 'knowledge-entry': 1 } },
    });
    expect(run('show', 'colours').status).toBe(0);
    repo.write('.memory-bank/config.yaml', config);
  });

  deep('names what cannot be read, and a linked work tree as such', () => {
    const other = Repo.create();
    const tree = join(newFolder(), 'tree');
    other.git('worktree', 'add', '-q', tree);
    const at = (...args: string[]) => runProgram(tree, args, { env });
    at('memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v');
    writeFileSync(join(tree, '.memory-bank/knowledge/patterns/k.md'), 'no front matter');
    const { stdout } = at('status');
    expect(stdout).toContain('linked work tree');
    expect(stdout).toMatch(/Cannot be read\n +knowledge\/patterns\/k\.md: /);
  });
});

describe('search and show', () => {
  test('find a record and print its file', () => {
    const found = run('search', 'stateless', 'JWT');
    expect(found.status).toBe(0);
    expect(found.stdout).toMatch(/decisionLog\.md\n/);
    expect(run('show', '.memory-bank/decisionLog.md').stdout).toBe(
      repo.read('.memory-bank/decisionLog.md'),
    );
    expect(run('show', 'colours').stdout).toBe(
      repo.read('.memory-bank/knowledge/patterns/colours.md'),
    );
  });

  deep('name a section, which is then read alone', () => {
    const { results } = JSON.parse(run('search', 'stateless', 'JWT', '--output', 'json').stdout);
    const [{ section, lines }] = results;
    expect(section).toMatch(/^Decision Log > Tokens - /);
    expect(run('search', 'stateless', 'JWT').stdout).toContain(`\n  ${section}\n`);
    const file = ['--filename', 'decisionLog.md', '--section', section, '--output', 'json'];
    const { content } = JSON.parse(run('read-memory-bank-file', ...file).stdout);
    expect(content).toMatch(/^## Tokens[\s\S]*Stateless[\s\S]*Use JWT/);
    const text = repo.read('.memory-bank/decisionLog.md').split('\n');
    expect(text.slice(lines[0] - 1, lines[1]).join('\n')).toBe(content.trimEnd());
  });

  deep('show one section by the name that a search gives it', () => {
    const { results } = JSON.parse(run('search', 'stateless', 'JWT', '--output', 'json').stdout);
    const shown = run('show', 'decisionLog.md', '--section', results[0].section);
    expect(shown.stdout).toMatch(/^## Tokens[\s\S]*Use JWT/);
    const unknown = run('show', 'decisionLog.md', '--section', 'Zebra');
    expect(unknown).toMatchObject({ status: 2, stdout: '' });
    expect(unknown.stderr).toMatch(/There is no section "Zebra"[\s\S]*Decision Log > Tokens/);
  });

  deep('fail when there is nothing', () => {
    expect(run('search', 'zebra')).toMatchObject({ status: 3, stdout: '' });
    expect(run('show', 'zebra')).toMatchObject({ status: 3, stdout: '' });
    expect(run('show', '../README.md')).toMatchObject({ status: 3, stdout: '' });
    expect(run('search', 'x', '--limit', '0').status).toBe(2);
  });
});

describe('log and diff', () => {
  deep('tell what changed, by whom and why', () => {
    const { status, stdout } = run('log');
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^[0-9a-f]{12} {2}memory: log decision "Tokens"\n.* · Ada Lovelace <ada@example.org> · memory-bank-cli\/1\.0\.0\S* · log_decision\n {4}Tokens: Use JWT\n\n {4}Stateless\n/m,
    );
    expect(stdout).toMatch(/^ {2}\+ knowledge\/patterns\/colours\.md$/m);
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
    const one = run('log', '.memory-bank/knowledge/patterns/colours.md').stdout;
    expect(one.match(/^[0-9a-f]{12}/gm)).toHaveLength(1);
    expect(run('log', '--limit', '1').stdout).toContain('1 older commit: --limit 2');
    expect(run('diff', 'HEAD~1').stdout).toMatch(/^\+ knowledge\/patterns\/colours\.md/);
    expect(run('diff').stdout).toBe(run('diff', 'HEAD~1').stdout);
    expect(run('diff', 'HEAD')).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'Both states have the same records.\n',
    });
    expect(run('show', '--as-of', 'HEAD~1', 'decisionLog.md').stdout).toBe(
      repo.read('.memory-bank/decisionLog.md'),
    );
  });

  deep('of an unknown revision or path fail', () => {
    expect(run('log', '--revision', 'nowhere')).toMatchObject({ status: 3, stdout: '' });
    expect(run('diff', 'nowhere')).toMatchObject({ status: 3, stdout: '' });
    expect(run('log', '--limit', 'x').status).toBe(2);
  });
});

describe('the past', () => {
  const past = pastOf(Repo.create());
  const at = (...args: string[]) => runProgram(past.repo.root, args, { env });
  const file = 'knowledge/patterns/tokens.md';

  deep('is searched, told line by line and by branch', () => {
    expect(at('search', 'opaque')).toMatchObject({ status: 3, stdout: '' });
    expect(at('search', 'opaque', '--as-of', past.first).stdout).toMatch(/^tokens +knowledge/);
    expect(at('blame', file, '--as-of', past.first).stdout).toMatch(
      new RegExp(
        `^ ${past.first} \\d{4}-.{5} Ada Lovelace, memory-bank-cli/1.0.0\\S* \\d+ opaque$`,
        'm',
      ),
    );
    expect(at('branches').stdout).toMatch(
      /^\* main {2}[0-9a-f]{12} {2}memory: forget "tokens" in patterns\n {2}side {2}.*\n {4}1 ahead, 1 behind; records: 1 added\n$/,
    );
  });

  deep('is paged, and answered as JSON with the paths and limits that people give', () => {
    expect(at('branches', '--limit', '1', '--skip', '1').stdout).toMatch(
      /^ {2}side {2}.*\n {4}1 ahead, 1 behind/,
    );
    const json = (...args: string[]) => JSON.parse(at(...args, '--output', 'json').stdout);
    expect(json('log', `.memory-bank/${file}`, '--limit', '1000')).toMatchObject({
      success: true,
      commits: [{ changes: [{ path: file }] }, {}],
      total: 2,
    });
    expect(json('branches', '--skip', '1')).toMatchObject({ branches: [{ name: 'side' }] });
    expect(json('blame', file, '--as-of', past.first)).toMatchObject({ path: file, blame: [{}] });
    const missing = at('log', 'nothing.md', '--output', 'json');
    expect(missing.status).toBe(3);
    expect(JSON.parse(missing.stdout)).toMatchObject({ success: false, error: 'not_found' });
  });

  deep('is restored by a commit that names the command', () => {
    const other = pastOf(Repo.create()).repo;
    const options = { cwd: other.root, env };
    spawnSync(process.execPath, [main, 'restore', file], options);
    expect(other.git('log', '-1', '--format=%(trailers:key=Memory-Tool)').trim()).toBe(
      'Memory-Tool: restore',
    );
  });

  deep('is refused in words of the command line', () => {
    expect(at('restore-memory').stderr).toContain(
      'Give a path, or --confirm. "memory-bank diff" shows',
    );
    expect(at('log', '--limit', '0').stderr).toContain('--limit must be at least 1');
    expect(at('blame', '').stderr).toContain('<path> must not be empty');
  });

  deep.each<[string, ...string[]]>([
    ['record-history', '--path', file],
    ['read-as-of', '--revision', 'HEAD~1', '--path', file],
    ['search-as-of', '--revision', 'HEAD~1', '--query', 'opaque'],
    ['diff-memory', '--from', 'side'],
    ['list-branches'],
    ['blame-record', '--revision', 'HEAD~1', '--path', file],
    ['restore-memory', '--revision', 'HEAD', '--confirm'],
  ])('is told by the tool as well: %s', (...args) => {
    const { status, stdout } = at(...args);
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\w+:/) });
    expect(JSON.parse(at(...args, '--output', 'json').stdout)).toMatchObject({ success: true });
  });

  deep('comes back with one command, and of what is not there nothing changes', () => {
    const head = past.repo.git('rev-parse', 'HEAD');
    expect(at('restore', file, '--as-of', 'nowhere')).toMatchObject({ status: 3, stdout: '' });
    expect(at('restore', '../README.md')).toMatchObject({ status: 2, stdout: '' });
    expect(at('blame', 'nothing.md')).toMatchObject({ status: 3, stdout: '' });
    expect(at('search', 'x', '--as-of', 'nowhere')).toMatchObject({ status: 3, stdout: '' });
    expect(past.repo.git('rev-parse', 'HEAD')).toBe(head);
    expect(at('restore', `.memory-bank/${file}`).stdout).toMatch(
      new RegExp(
        `^restored ${file}\n1 changed, as of ${past.first} {2}memory: remember "tokens" in patterns\nundid \\w+ Ada Lovelace <ada@example.org>: memory: forget "tokens" in patterns\n$`,
      ),
    );
    expect(past.repo.read(`.memory-bank/${file}`)).toContain('opaque');
    expect(past.repo.git('rev-parse', 'HEAD~1')).toBe(head);
  });
});

/** A record that was written, changed on another branch, and removed. */
function pastOf(repo: Repo) {
  const write = (command: string, ...args: string[]) => {
    const entry = ['--category', 'patterns', '--key', 'tokens'];
    const options = { cwd: repo.root, env };
    spawnSync(process.execPath, [main, command, ...entry, ...args], options);
  };
  write('memory-write', '--value', 'opaque');
  const first = repo.git('rev-parse', 'HEAD').slice(0, 12);
  repo.checkout('side');
  write('memory-write', '--value', 'an hour');
  repo.checkout('main');
  write('memory-delete', '--confirm');
  return { repo, first };
}

describeDeep('a repository of a format that is not known', () => {
  test.each([
    ['object ids of sha512', /object ids are sha512.*--root/],
    ['refs stored as other', /stored as other/],
  ])('is read without its past, which is refused with the way out: %s', (kind, reason) => {
    const sha512 = kind.endsWith('sha512');
    const other = Repo.create();
    const entry = '---\ncategory: patterns\nkey: k\n---\nhello';
    other.write('.memory-bank/knowledge/patterns/k.md', entry);
    other.write('.memory-bank/banks/projects/p/notes.md', 'hello, too');
    other.git('add', '.');
    other.git('commit', '-q', '-m', 'Memory');
    other.git('config', 'core.repositoryformatversion', '1');
    if (sha512) other.git('config', 'extensions.objectFormat', 'sha512');
    else {
      other.git('config', 'extensions.refStorage', 'other');
      rmSync(other.path('.git/refs/heads'), { recursive: true });
      other.write('.git/refs/heads', 'this repository uses another format\n');
      other.write('.git/HEAD', 'ref: refs/heads/.invalid\n');
    }
    const at = (...args: string[]) => runProgram(other.root, args, { env });
    const status = at('status');
    expect(status.stdout).toMatch(/^banks +1 bank document$/m);
    expect(status.stdout).toMatch(new RegExp(`^Head .*${reason.source}`, 'm'));
    expect(at('export', 'markdown').stdout).toContain('hello, too');
    const active = at('activate', '--bank-type', 'project', '--bank-id', 'p');
    expect(active).toMatchObject({ status: 0, stdout: expect.stringContaining('hello, too') });
    expect(active.stdout).toMatch(reason);
    const record = ['--path', 'knowledge/patterns/k.md'];
    for (const args of [
      ['log'],
      ['branches'],
      ['record-history', ...record],
      ['read-as-of', '--revision', 'HEAD', ...record],
      ['memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v'],
    ]) {
      const { status, stderr } = at(...args);
      expect({ args, status }).toEqual({ args, status: 9 });
      expect(stderr).toMatch(reason);
    }
  });
});

describeDeep('import', () => {
  test('reports what it did, and what it would do', () => {
    const { root } = Repo.create();
    const at = (...args: string[]) => runProgram(root, args, { env });
    mkdirSync(join(root, 'memory-bank'));
    writeFileSync(join(root, 'memory-bank/progress.md'), '# Progress\n');
    writeFileSync(join(root, 'memory-bank/logo.png'), '');
    expect(at('import', '--dry-run').stdout).toMatch(
      /^memory-bank \(memory-bank\): 1 to import, 1 left out\n {2}logo\.png: is not a markdown file\n$/,
    );
    expect(at('import').stdout).toMatch(/: 1 imported, 1 left out, commit [0-9a-f]{12}\n/);
    expect(JSON.parse(at('import', '--output', 'json').stdout)).toMatchObject({
      version: 1,
      reports: [{ unchanged: 1 }],
    });
    expect(at('import', 'nowhere')).toMatchObject({ status: 3, stdout: '' });
    const store = newFolder();
    writeFileSync(join(store, 'patterns.json'), '[{"key":"k","value":"v"}]');
    const options = { cwd: root, env: { ...env, MEMORY_PATH: store }, encoding: 'utf8' } as const;
    expect(spawnSync(process.execPath, [main, 'import'], options).stdout).toContain(
      'claude-memory',
    );
  });
});

describe.skipIf(!hasTerminal || !isFull)('a terminal', () => {
  test('gets colours, unless NO_COLOR says otherwise', () => {
    expect(inTerminal({}, 'status')).toContain('\u001b[33mProject');
    expect(inTerminal({ NO_COLOR: '1' }, 'status')).not.toContain('\u001b[');
  });

  test('gets no control characters of what was stored', () => {
    const shown = inTerminal({}, 'show', 'colours');
    expect(shown).toContain('red \\u{1b}[31m alert \\u{202e}.');
    expect(inTerminal({ NO_COLOR: '1' }, 'search', 'alert')).not.toContain('\u001b[31m');
  });

  test('gets no hidden characters from a tool either, and a pipe gets them as they are', () => {
    const invisible = 'a\u200bb\u00adc\u061cd\u{e0041}e\u2066f\u2028g\u202e';
    run('memory-write', '--category', 'patterns', '--key', 'invisible', '--value', invisible);
    const tool = ['memory-read', '--key', 'invisible'];
    const escaped = /[\u0000-\u0008\u200b\u00ad\u061c\u{e0041}\u2066\u2028\u202e]/u;
    const shown = inTerminal({}, ...tool);
    expect(shown).toContain('a\\u{200b}b\\u{ad}c\\u{61c}d\\u{e0041}e');
    expect(shown).not.toMatch(escaped);
    const json = inTerminal({}, ...tool, '--output', 'json');
    expect(json).not.toMatch(escaped);
    expect(JSON.parse(json)).toMatchObject({ entries: [{ value: invisible }] });
    expect(run(...tool).stdout).toContain('a\u200bb\u00adc\u061cd\u{e0041}e');
    expect(run(...tool, '--output', 'json').stdout).toContain(invisible);
  });

  test('is as narrow as COLUMNS says, also for a pipe', () => {
    const { stdout } = spawnSync(process.execPath, [main, 'help', 'search'], {
      env: { ...env, COLUMNS: '60' },
      encoding: 'utf8',
    });
    const lengths = stdout.split('\n').map((line) => line.length);
    expect(Math.max(...lengths.slice(1))).toBeLessThanOrEqual(60);
  });

  test('gets a long text through the pager of the environment', () => {
    const pager = "sed 's/^/paged: /'";
    const long = `# Long\n${'\n- Stateless'.repeat(40)}\n`;
    run('write-memory-bank-file', '--filename', 'long.md', '--content', long);
    expect(inTerminal({ PAGER: pager, NO_COLOR: '1' }, 'show', 'long.md')).toContain(
      'paged: # Long',
    );
    expect(inTerminal({ PAGER: 'no-such-pager' }, 'show', 'long.md')).toContain('Stateless');
    expect(inTerminal({ PAGER: pager }, 'show', 'colours')).not.toContain('paged');
  });
});

deep('a history without memory is said to be that, and one imported record is one', () => {
  const other = Repo.create();
  const inOther = (...args: string[]) => runProgram(other.root, args, { env });
  expect(inOther('log').stderr).toBe('There is no commit of the memory here.\n');
  other.write('memory-bank/notes.md', '# Notes\n');
  expect(inOther('import').status).toBe(0);
  expect(other.git('log', '-1', '--format=%s')).toMatch(/^memory: import 1 record from /);
});

test('printable text has no character that steers, hides or reorders', () => {
  expect(printable('a\tb\r\nc\u0000\u009b\u200b\ud800 é 😀')).toBe(
    'a\tb\nc\\u{0}\\u{9b}\\u{200b}\\u{d800} é 😀',
  );
});
