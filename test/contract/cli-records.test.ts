import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everyCommand, flags } from '../../src/cli/cli.ts';
import { ageOf } from '../../src/cli/commands/list-records.ts';
import { commandGroups, programHelp } from '../../src/cli/line/help.ts';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

const repo = Repo.create();
const home = newFolder();

function run(args: readonly string[], variables: { readonly [name: string]: string } = {}) {
  const env = { PATH: process.env.PATH, HOME: home, ...variables };
  return runProgram(repo.root, args, { env });
}

function json(...args: string[]) {
  const { stdout } = run([...args, '--output', 'json']);
  return JSON.parse(stdout);
}

run(['initialize-memory-bank', '--path', '.']);
run(['log-decision', '--title', 'Use JWT', '--context', 'Stateless', '--decision', 'Tokens']);
run(['memory-write', '--category', 'patterns', '--key', 'colours', '--value', 'red']);
const entry = 'knowledge/patterns/colours.md';

describe('a record', () => {
  deep('is named by its key or title in the commands of history', () => {
    for (const args of [['log'], ['blame'], ['show', '--as-of', 'HEAD']]) {
      const byPath = run([...args, entry]);
      expect(byPath.status).toBe(0);
      expect(run([...args, 'colours'])).toMatchObject({ status: 0, stdout: byPath.stdout });
    }
    expect(run(['restore', 'colours', '--as-of', 'HEAD'])).toMatchObject({ status: 0, stderr: '' });
    expect(run(['log', 'Use JWT']).stdout).toContain('memory: log decision "Use JWT"');
    expect(run(['log', 'nothing'])).toMatchObject({
      status: 3,
      stdout: '',
      stderr: expect.stringContaining('"memory-bank log" lists the commits that have it.'),
    });
  });

  deep('with a similar name is suggested', () => {
    expect(run(['show', 'colors']).stderr).toContain('Did you mean "colours"');
    expect(run(['show', 'use jwts']).stderr).toContain('Did you mean "Use JWT"');
    expect(run(['show', 'something else']).stderr).not.toContain('Did you mean');
  });
});

describe('list', () => {
  test('shows the records by toolset and folder, with their age', () => {
    const { status, stdout } = run(['list']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^memory-bank\n {2}Current Context +activeContext\.md +just now\n/);
    expect(stdout).toMatch(/^knowledge {2}knowledge\/patterns\/\n {2}colours +colours\.md +just/m);
  });

  deep('is narrowed by path and toolset, sorted by age, and limited', () => {
    expect(json('list', '.memory-bank/knowledge/')).toMatchObject({
      version: 1,
      records: [
        {
          toolset: 'knowledge',
          record: 'knowledge-entry',
          key: 'patterns/colours',
          path: entry,
          changed: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
      total: 1,
      damaged: [],
    });
    expect(json('list', '--toolset', 'memory-bank', '--limit', '1')).toMatchObject({ total: 5 });
    expect(run(['list', '--limit', '5']).stdout).toContain('1 more record: --limit 6');
    expect(run(['list', '--sort', 'age']).stdout).toContain(entry);
  });

  deep('says that there is nothing, and refuses what does not exist', () => {
    expect(run(['list', 'graph'])).toMatchObject({
      status: 3,
      stdout: '',
      stderr: 'There are no records at or below "graph".\n',
    });
    expect(run(['list', '--toolset', 'nothing']).stderr).toContain('The toolsets with records');
  });

  test('works before the first commit', () => {
    const empty = Repo.create();
    empty.write('.memory-bank/notes.md', '# Notes\n');
    const { stdout } = runProgram(empty.root, ['list'], {
      env: { PATH: process.env.PATH, HOME: home },
    });
    expect(stdout).toMatch(/Notes +notes\.md +not committed/);
  });

  test.each([
    [10, 'just now'],
    [60, '1 minute ago'],
    [7300, '2 hours ago'],
    [86_400, '1 day ago'],
    [200_000, '2 days ago'],
    [64_000_000, '2 years ago'],
    [-5, 'just now'],
  ])('calls %i seconds %s', (seconds, words) => {
    const now = Date.parse('2026-11-22T12:00:00Z');
    expect(ageOf(new Date(now - seconds * 1000).toISOString(), now)).toBe(words);
  });
});

describe('show', () => {
  deep('prints a decision by its title, with or without the date', () => {
    const { stdout } = run(['show', 'Use JWT']);
    expect(stdout).toMatch(/^## Use JWT - \d{4}-\d\d-\d\d\n\n### Context\n\nStateless\n/);
    expect(stdout).not.toContain('# Decision Log');
    expect(run(['show', stdout.split('\n', 1)[0]?.slice(3) ?? '']).stdout).toBe(stdout);
    expect(json('show', 'Use JWT')).toMatchObject({
      version: 1,
      path: 'decisionLog.md',
      section: expect.stringContaining('Use JWT'),
      text: stdout.trimEnd(),
    });
  });

  test('answers as JSON with the value and the text of the file', () => {
    expect(json('show', entry)).toMatchObject({
      path: entry,
      toolset: 'knowledge',
      record: 'knowledge-entry',
      key: 'patterns/colours',
      value: { key: 'colours', category: 'patterns' },
      text: expect.stringContaining('key: colours'),
    });
  });
});

describe('results as JSON', () => {
  deep('have a version and the same shape in every command of the program', () => {
    expect(json('status')).toMatchObject({
      version: 1,
      project: repo.root,
      initialized: true,
      head: { branch: 'main', commit: expect.stringMatching(/^[0-9a-f]{40,64}$/) },
      records: { 'memory-bank': { 'bank-file': 5 }, knowledge: { 'knowledge-entry': 1 } },
      damaged: [],
    });
    expect(json('search', 'colours')).toMatchObject({
      version: 1,
      results: [{ path: entry, toolset: 'knowledge' }],
      total: 1,
    });
    expect(json('search', '--explain', 'colours').results[0].explain).toMatchObject({
      words: [{ asked: 'colours', found: expect.any(Array) }],
      signals: { same_title: 1 },
    });
    expect(json('doctor').findings).toContainEqual({
      what: 'Repository',
      state: 'good',
      text: expect.any(String),
    });
    expect(json('init', '--dry-run', '--clients', 'claude')).toMatchObject({
      version: 1,
      edits: [{ path: repo.path('.mcp.json'), diff: expect.stringContaining('+') }, {}],
      untouched: [],
      done: [],
    });
    expect(json('squash', '--dry-run')).toMatchObject({
      version: 1,
      commits: [{}, {}, {}],
      message: expect.stringContaining('memory:'),
      made: null,
    });
    expect(json('export', 'markdown')).toMatchObject({
      version: 1,
      format: 'markdown',
      content: expect.stringContaining('colours'),
    });
    expect(json('export', 'markdown', join(newFolder(), 'out'))).toMatchObject({
      files: [expect.stringContaining('out')],
    });
  });
});

describe('export', () => {
  const folder = newFolder();
  const target = (name: string) => join(folder, name);

  test('writes a single file under the name that it is given', () => {
    expect(run(['export', 'markdown', target('notes/memory.MD')]).status).toBe(0);
    expect(readFileSync(target('notes/memory.MD'), 'utf8')).toContain('colours');
    // It would be lost.
    const again = run(['export', 'markdown', target('notes/memory.MD')]);
    expect(again).toMatchObject({ status: 4, stdout: '' });
    expect(again.stderr).toContain(`In ${target('notes')} there is memory.MD already. Nothing was`);
  });

  deep.each([
    [['export'], 2, 'The formats are: markdown (everything as one text), site ('],
    [['export', 'html'], 2, 'One page with everything is: memory-bank export site memory.html.'],
    [
      ['export', 'memory-bank-db'],
      2,
      'can be imported, but not exported. The formats markdown and',
    ],
    [['export', 'markdown', ''], 2, 'The folder must not be empty.'],
    [['export', 'adr'], 3, 'no records for the format adr (architecture decision records'],
    [['export', 'markdown', target('file/sub')], 10, 'a file is in the way of a folder'],
    [['export', 'markdown', target('file')], 10, 'Give a folder in which files can be written.'],
  ])('says what is wrong: %j', (args, status, text) => {
    writeFileSync(target('file'), '');
    const found = run(args);
    expect(found).toMatchObject({ status, stdout: '' });
    expect(found.stderr).toContain(text);
  });
});

test.skipIf(!existsSync('/proc'))('export ends where no folder can be made', () => {
  const { status, stderr } = run(['export', 'markdown', '/proc/no-such/folder']);
  expect({ status, stderr }).toMatchObject({
    status: 10,
    stderr: expect.stringContaining('mkdir'),
  });
});

describe('restore', () => {
  test.each([
    [['restore', entry], 2, 'was not removed. To restore an earlier state, give --as-of, such as'],
    [['restore', `${entry}#Part`, '--as-of', 'HEAD'], 3, `${entry} has no section "Part"`],
    [['restore', 'no-such.md'], 3, 'No commit of this branch has the record no-such.md.'],
  ])('says what is wrong: %j', (args, status, text) => {
    const found = run(args);
    expect(found).toMatchObject({ status, stdout: '' });
    expect(found.stderr).toContain(text);
  });

  test('says when there is nothing to do', () => {
    const { status, stdout } = run(['restore', entry, '--as-of', 'HEAD']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^nothing to restore: it is as of [0-9a-f]{12} {2}memory: /),
    });
  });
});

describe('edit', () => {
  const inEditor = (command: string, ...args: string[]) =>
    run(['edit', entry, ...args], { EDITOR: command });

  /** An editor that changes the text, by an expression of JavaScript. */
  const editor = (changed: string, status = 0) => {
    const script = join(newFolder(), 'editor.mjs');
    writeFileSync(
      script,
      `import { readFileSync, writeFileSync } from 'node:fs';
      const path = process.argv[2];
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, ${changed});
      process.exit(${status});`,
    );
    return `"${process.execPath}" "${script}"`;
  };

  test('commits what the editor leaves, as the person, with the reason', () => {
    repo.write('staged.txt', 'mine');
    repo.git('add', 'staged.txt');
    const { status, stdout } = inEditor(
      editor("text.replace('red', 'blue')"),
      '--reason',
      'A new brand',
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Changed ${entry}, commit [0-9a-f]{12}\\.\n$`));
    expect(repo.git('show', '--format=%an%n%B', '--name-only').trim()).toMatch(
      new RegExp(`^Ada Lovelace\nmemory: edit ${entry}\n\nA new brand\n[\\s\\S]*\n${memoryPath}$`),
    );
    expect(repo.read(memoryPath)).toContain('blue');
    expect(repo.git('status', '--porcelain', '--', 'staged.txt')).toContain('A  staged.txt');
  });

  test('keeps comments and the order of keys as they were typed', () => {
    const text = repo.read(memoryPath).replace('key: colours', '# by hand\nkey: colours');
    const file = join(newFolder(), 'text');
    writeFileSync(file, text);
    expect(json('edit', entry, '--from', file)).toMatchObject({
      path: entry,
      commit: expect.stringMatching(/^[0-9a-f]{40,64}$/),
    });
    expect(repo.read(memoryPath)).toBe(text);
  });

  test('drops a byte order mark that the editor adds', () => {
    const file = join(newFolder(), 'text');
    writeFileSync(file, `\ufeff${repo.read(memoryPath).replace(/red|blue/, 'green')}`);
    expect(run(['edit', entry, '--from', file]).status).toBe(0);
    expect(repo.read(memoryPath)).toMatch(/^---[\s\S]*green/);
  });

  deep('changes nothing for the same text, or when the editor fails', () => {
    const head = repo.git('rev-parse', 'HEAD');
    expect(inEditor('true').stderr).toContain('Nothing was changed.');
    expect(inEditor('false')).toMatchObject({
      status: 130,
      stderr: 'memory-bank: "false" ended with status 1; nothing was changed.\n',
    });
    expect(inEditor('no-such-editor').stderr).toMatch(/status 127; .* Set EDITOR to the command/);
    expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  test('keeps what the person typed into an editor that fails', () => {
    const { stderr } = inEditor(editor("text.concat('more\\n')", 1));
    const [, file = ''] = / --from (\S+)" saves it\.$/m.exec(stderr) ?? [];
    expect(readFileSync(file, 'utf8')).toMatch(/more\n$/);
  });

  test('keeps the text of the person where it cannot be saved', () => {
    const before = repo.read(memoryPath);
    const { status, stderr } = inEditor(editor("text.replace(/.*\\n/, '')"));
    expect(status).toBe(6);
    const [, file = ''] = /--from (\S+)"/.exec(stderr) ?? [];
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(before.replace(/.*\n/, ''));
    expect(repo.read(memoryPath)).toBe(before);
  });

  deep('refuses a text that would be another record, or one that was changed meanwhile', () => {
    expect(inEditor('sed -i "s/key: colours/key: shapes/"')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the record "patterns/shapes"'),
    });
    const { status, stderr } = inEditor(
      `printf '\\nmore' >> '${repo.path(memoryPath)}'; printf x >>`,
    );
    expect(status).toBe(4);
    expect(stderr).toContain('was changed while it was edited');
  });

  test('of nothing fails', () => {
    expect(run(['edit', 'nothing'])).toMatchObject({ status: 3, stdout: '' });
  });
});

const memoryPath = `.memory-bank/${entry}`;

describe('help', () => {
  test('has every command in a group, and one line for each', async () => {
    const grouped = commandGroups.flatMap(([, names]) => names);
    const shown = [...(await everyCommand())].filter(
      ([name, { hidden, toolset }]) => !hidden && (!toolset || name === 'brief'),
    );
    expect([...grouped].sort()).toEqual(shown.map(([name]) => name).sort());
    const text = programHelp(await everyCommand(), flags);
    expect(text.split('\n').length).toBeLessThanOrEqual(58);
  });

  deep('is given by option, by letter and by command', () => {
    const whole = run(['--help']).stdout;
    expect(whole).toContain('Usage: memory-bank');
    expect(run(['-h']).stdout).toBe(whole);
    expect(run(['help']).stdout).toBe(whole);
    expect(run(['-v']).stdout).toBe(run(['--version']).stdout);
    const one = run(['list', '-h']).stdout;
    expect(one).toContain('Usage: memory-bank list [path] [options]');
    expect(run(['help', 'list']).stdout).toBe(one);
    expect(run(['help', 'nothing'])).toMatchObject({ status: 2, stdout: '' });
  });

  deep('shows tools of one word with their toolset, and both forms run', () => {
    expect(run(['help', 'tools']).stdout).toMatch(/banks\n {4}banks activate, banks list, /);
    expect(run(['help', 'banks', 'swap']).stdout).toContain('Usage: memory-bank banks swap');
    expect(run(['banks', 'list']).status).toBe(0);
    expect(run(['swap', '--help']).stdout).toContain('Usage: memory-bank swap');
    expect(run(['banks', 'nothing']).stderr).toMatch(/no command "banks".*\nDid you mean banks/);
  });
});

// The last one: the tests above count the records and commits.
deep('a record that cannot be read is restored by its key or title as by its path', () => {
  run(['store-memory', '--title', 'The plan', '--type', 'rules', '--content', 'C']);
  const all = repo.git('ls-files').split('\n');
  const file = all.find((name) => name.includes('/documents/')) ?? '';
  const document = file.slice('.memory-bank/'.length);
  const [, id = ''] = /^id: (\S+)$/m.exec(repo.read(file)) ?? [];
  for (const [path, ...names] of [
    [entry, 'colours', 'patterns/colours', entry],
    [document, 'The plan', id, document],
  ]) {
    const file = `.memory-bank/${path}`;
    const whole = repo.git('show', `HEAD:${file}`);
    for (const name of names) {
      repo.write(file, '---\nkey: [\n---\nx\n');
      const restored = run(['restore', name, '--as-of', 'HEAD']);
      expect(restored).toMatchObject({ status: 0, stderr: '' });
      expect(restored.stdout).toContain(`restored ${path}`);
      expect(repo.read(file)).toBe(whole);
    }
  }
  // Bytes that are not a text cannot be kept by a commit first.
  repo.write(`.memory-bank/${document}`, Buffer.from([0xff, 0xfe, 0x41]));
  const refused = run(['restore', document, '--as-of', 'HEAD']);
  expect(refused.stderr).toContain('is not valid UTF-8, so a commit cannot keep it. Move the file');
  // A removed record needs no revision, committed or not.
  repo.git('rm', '-qf', '--', `.memory-bank/${document}`);
  expect(run(['restore', 'The plan']).stdout).toContain(`restored ${document}`);
  repo.git('rm', '-q', '--', `.memory-bank/${document}`);
  repo.git('commit', '-qm', 'Remove the plan');
  expect(run(['restore', id]).stdout).toContain(`restored ${document}`);
  const unknown = run(['restore', 'nothing', '--as-of', 'HEAD']);
  expect(run(['restore', 'nothing'])).toMatchObject({ status: 3, stdout: '' });
  expect(unknown).toMatchObject({ status: 3, stdout: '' });
});
