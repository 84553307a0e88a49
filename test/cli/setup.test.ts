import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { describe, expect, it, test } from 'vitest';
import { editJson, json } from '../../src/cli/setup/language/json-entry.ts';
import { editToml } from '../../src/cli/setup/language/toml-entry.ts';
import { editInstructions } from '../../src/cli/setup/plan/agent-instructions.ts';
import { newToken } from '../../src/git/locks/token.ts';
import { deep, isFull } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';
import { hasTerminal, runOnTerminal } from '../support/terminal.ts';

const path = ['mcpServers', 'memory-bank'];
const entry = { command: 'node', args: ['main.js'], env: { A: 'b' } };

describe('an entry in JSON', () => {
  it.each([
    ['nothing', ''],
    ['an empty object', '{}\n'],
    [
      'comments and trailing commas',
      '{\n  // mine\n  "a": [1, 2,], /* b */\n  "mcpServers": {"x": {}},\n}\n',
    ],
    [
      'tabs, CRLF and a byte order mark',
      '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}\r\n',
    ],
    [
      'a comma and a remark behind the last',
      '{\n  "mcpServers": {\n    "a": {}, // tail\n  }\n}\n',
    ],
    ['a comma behind the last, on one line', '{"mcpServers": {"a": {},},}'],
    ['one line with blanks', '{ "mcpServers": { "a": {} } }'],
    ['one line with a comma and a blank', '{ "a": 1, }\n'],
    ['a blank at the end of a line', '{\n  "a": 1 \n}\n'],
  ])('is set and taken out again: %s', (_, text) => {
    const edited = editJson(text, path, entry);
    expect(edited).toContain('main.js');
    expect(editJson(edited, path, entry)).toBe(edited);
    for (const piece of ['// mine', '/* b */', '"other": {}', '[1, 2,]']) {
      expect(edited.includes(piece)).toBe(text.includes(piece));
    }
    const undone = editJson(edited, path, undefined);
    if (text.trim() !== '' && text.trim() !== '{}') expect(undone).toBe(text);
  });

  it.each(['{ "a": 1 }', '{"mcpServers": { "a": {} } }', '{ "mcpServers": {}, }'])(
    'ends no line in a blank: %s',
    (text) => {
      expect(editJson(text, path, entry)).not.toMatch(/[ \t]$/m);
    },
  );

  it('is the last one of equal keys, which every reader takes', () => {
    const twice = (first: string, last: string) =>
      `{"mcpServers": {"memory-bank": ${first}}, "x": 1, "mcpServers": {"memory-bank": ${last}}}`;
    const edited = editJson(twice('{"command": "old"}', '{"command": "y"}'), path, entry);
    expect(edited).toContain('{"command": "old"}');
    expect(JSON.parse(edited).mcpServers['memory-bank']).toEqual(entry);
    expect(json.read(edited, path)).toEqual(entry);
    const inOne = '{"mcpServers": {"memory-bank": {}, "memory-bank": {"command": "y"}}}';
    expect(JSON.parse(editJson(inOne, path, entry)).mcpServers['memory-bank']).toEqual(entry);
    // An earlier one does not come back.
    for (const text of [inOne, edited, twice('{}', '{"a": 1}')]) {
      const undone = JSON.parse(editJson(text, path, undefined));
      expect(undone.mcpServers?.['memory-bank']).toBeUndefined();
    }
  });

  it.each(['{', '[]', '"text"', '{"mcpServers": []}', '{} {}'])('leaves %j alone', (text) => {
    expect(() => editJson(text, path, entry)).toThrow(expect.objectContaining({ code: 'damaged' }));
  });
});

describe('an entry in TOML', () => {
  const keys = ['mcp_servers', 'memory-bank'];

  it.each(['', 'model = "x" # mine\n', '[mcp_servers.other]\ncommand = "y"\n'])(
    'is set, changed and taken out again: %j',
    (text) => {
      const edited = editToml(text, keys, entry);
      expect(edited.startsWith(text)).toBe(true);
      expect(editToml(edited, keys, entry)).toBe(edited);
      const changed = editToml(`${edited}\n[last]\na = 1\n`, keys, { ...entry, args: ['b'] });
      expect(changed).toContain('[last]\na = 1\n');
      expect(changed).toContain('"b"');
      expect(changed).not.toContain('main.js');
      expect(editToml(edited, keys, undefined)).toBe(text);
    },
  );

  it.each(['a = ', '[mcp_servers]\nmemory-bank = { command = "x" }\n'])(
    'leaves %j alone',
    (text) => {
      expect(() => editToml(text, keys, entry)).toThrow(
        expect.objectContaining({ code: 'damaged' }),
      );
    },
  );
});

describe('an entry that a person has added to', () => {
  const change = { command: 'node', args: ['a', 'b'] };

  it('keeps the rest in JSON, comments and all', () => {
    const text =
      '{"mcpServers": {"memory-bank": {\n  // mine\n  "env": {"A": "b"}, // too\n  "command": "x", "timeout": 5\n}}}\n';
    const edited = editJson(text, path, change);
    expect(edited).toContain(
      '  // mine\n  "env": {"A": "b"}, // too\n  "command": "node", "timeout": 5',
    );
    expect(edited).toContain('"args": [');
    expect(editJson(edited, path, change)).toBe(edited);
  });

  it('keeps the rest in TOML, comments and all', () => {
    const keys = ['mcp_servers', 'memory-bank'];
    const text =
      '[mcp_servers."memory-bank"]\r\n# mine\r\nargs = [ # all\r\n  "x",\r\n]\r\ntimeout = 5\r\n[mcp_servers.memory-bank.env]\r\nA = "b"\r\n[last]\r\n';
    const edited =
      '[mcp_servers."memory-bank"]\r\ncommand = "node"\r\n# mine\r\nargs = [ "a", "b" ]\r\ntimeout = 5\r\n[mcp_servers.memory-bank.env]\r\nA = "b"\r\n[last]\r\n';
    expect(editToml(text, keys, change)).toBe(edited);
    expect(editToml(edited, keys, change)).toBe(edited);
  });

  const withProfile = { ...change, env: { MEMORY_BANK_PROFILE: 'agent' } };
  const without = { ...change, env: { MEMORY_BANK_PROFILE: undefined } };

  it('keeps its variables in JSON', () => {
    const rest = '"command": "node", "args": ["a", "b"]';
    const inside = (env: string) => `{"mcpServers": {"memory-bank": {${rest}${env}}}}\n`;
    const text = inside(', "env": {\n  "A": "b" // mine\n}');
    const edited = editJson(text, path, withProfile);
    expect(edited).toBe(
      inside(', "env": {\n  "A": "b", // mine\n  "MEMORY_BANK_PROFILE": "agent"\n}'),
    );
    expect(editJson(edited, path, without)).toBe(text);
    expect(editJson(inside(''), path, without)).toBe(inside(''));
    expect(() => editJson(inside(', "env": "x"'), path, withProfile)).toThrow('not an object');
  });

  it.each([
    ['env = { A = "b" }\n', 'env = { A = "b", MEMORY_BANK_PROFILE = "agent" }\n'],
    [
      '[mcp_servers.memory-bank.env] # mine\nA = "b"\n',
      '[mcp_servers.memory-bank.env] # mine\nMEMORY_BANK_PROFILE = "agent"\nA = "b"\n',
    ],
  ])('keeps its variables in TOML: %j', (env, changed) => {
    const keys = ['mcp_servers', 'memory-bank'];
    const head = '[mcp_servers.memory-bank]\ncommand = "node"\nargs = [ "a", "b" ]\n';
    const edited = editToml(head + env, keys, withProfile);
    expect(edited).toBe(head + changed);
    expect(editToml(edited, keys, without)).toBe(head + env);
    expect(editToml(head, keys, without)).toBe(head);
  });
});

describe('the section for agents', () => {
  it.each(['', '# Mine\n', '# Mine\n\n', 'no end', '# Mine\r\nno end'])(
    'is added once and taken out again: %j',
    (text) => {
      const edited = editInstructions(text, true);
      expect(edited).toContain('search_memory');
      expect(editInstructions(edited, true)).toBe(edited);
      expect(editInstructions(edited, false)).toBe(text);
      expect(editInstructions(`${edited}# After\n`, false)).toMatch(/(?:^|\n)# After\n$/);
    },
  );

  it('is left alone when a mark is missing', () => {
    expect(() => editInstructions('<!-- memory-bank: begin -->', true)).toThrow('only one');
    const section = editInstructions('', true);
    const conflict = section.replace(/^- .*$/m, '<<<<<<< ours\n$&\n=======\n>>>>>>> theirs');
    for (const wanted of [true, false]) {
      expect(() => editInstructions(conflict, wanted)).toThrow('holds conflict markers');
    }
  });
});

function project(files: { readonly [path: string]: string } = {}, ...initOptions: string[]) {
  const repo = Repo.create(...initOptions);
  const home = newFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(repo.path(name)), { recursive: true });
    writeFileSync(repo.path(name), text);
  }
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, USERPROFILE: home },
    MEMORY_BANK_DURABILITY: 'relaxed',
  };
  const runWith = (more: { readonly [name: string]: string }, ...args: string[]) =>
    runProgram(repo.root, args, { env: { ...env, ...more } });
  const run = (...args: string[]) => runWith({}, ...args);
  const answer = (args: readonly string[], ...answers: (readonly [string, string])[]) =>
    runOnTerminal([process.execPath, main, ...args], { cwd: repo.root, env }, answers);
  return { repo, home, run, runWith, answer };
}

describe('init', () => {
  deep('changes nothing without a yes', () => {
    const { repo, run } = project();
    const { status, stdout, stderr } = run('init', '--clients', 'claude');
    expect(status).toBe(5);
    expect(stdout).toContain('+    "memory-bank": {');
    expect(stderr).toContain('--yes');
    expect(run('init', '--dry-run').status).toBe(0);
    expect(repo.status()).toEqual([]);
  });

  deep(
    'shows the memory and the merge driver before it makes them, and asks for nothing else',
    () => {
      const { repo, run } = project();
      const head = repo.git('rev-parse', 'HEAD');
      const config = repo.read('.git/config');
      const { status, stdout } = run('init', '--dry-run', '--clients', 'none');
      expect(status).toBe(0);
      expect(stdout).toContain(`--- ${repo.path('.git/config')}\n`);
      expect(stdout).toContain('+[merge "memory-bank"]\n');
      const bank = repo.path('.memory-bank');
      expect(stdout).toContain(
        `${bank} gets config.yaml and .gitattributes, as a commit on the branch main.\n`,
      );
      expect(stdout).not.toContain('No file has to change.');
      expect(repo.read('.git/config')).toBe(config);
      expect(repo.git('rev-parse', 'HEAD')).toBe(head);
      expect(run('init', '--clients', 'none').status).toBe(5);
      expect(run('init', '--yes', '--clients', 'none').status).toBe(0);
      const none = { status: 0, stdout: 'No file has to change.\n', stderr: '' };
      expect(run('init', '--clients', 'none')).toMatchObject(none);
      const undo = run('init', '--undo', '--dry-run').stdout;
      expect(undo).toContain('-[merge "memory-bank"]\n');
      expect(undo).toContain(`${repo.path('.git/memory-bank')} is removed`);
      expect(run('init', '--undo', '--yes').status).toBe(0);
      expect(run('init', '--undo')).toMatchObject(none);
    },
  );

  deep('offers entries as files where there is a remote, and changes no memory unasked', () => {
    const { repo, run } = project();
    const init = (...args: string[]) => run('init', '--clients', 'none', ...args).stdout;
    const offer = 'so two that each log a decision or progress conflict in a log that is one file';
    expect(init('--dry-run')).not.toContain(offer);
    repo.git('remote', 'add', 'origin', 'https://example.org/project.git');
    expect(init('--dry-run')).toMatch(
      new RegExp(`^Servers merge .*, ${offer}: "--layout entries" stores`, 'm'),
    );
    expect(init('--yes', '--layout', 'entries')).toContain('The layout of its logs is "entries"');
    expect(repo.read('.memory-bank/config.yaml')).toContain('\nlayout: entries\n');
    expect(init('--yes')).toBe('No file has to change.\n');
    expect(init('--yes', '--layout', 'entries')).toBe('No file has to change.\n');
    run('track-progress', '--action', 'Fix', '--description', 'it');
    expect(init('--dry-run', '--layout', 'log')).toContain('1 progress entry become');
    expect(init('--yes', '--layout', 'log')).toContain('The layout of its logs is "log"');
    expect(init('--yes')).toBe('No file has to change.\n');
    expect(run('init', '--layout', 'files').status).toBe(2);
    expect(repo.status()).toEqual([]);
  });

  test.runIf(isFull && !!hasTerminal)('asks for entries as files', async () => {
    const { repo, answer } = project();
    repo.git('remote', 'add', 'origin', 'https://example.org/project.git');
    const { status } = await answer(
      ['init', '--clients', 'none', '--instructions', 'AGENTS.md'],
      ['[those an agent needs]: ', '\r'],
      ['Store each entry as a file? [y/N]', 'y\r'],
      ['Make these changes?', 'y\r'],
    );
    expect(status).toBe(0);
    expect(repo.read('.memory-bank/config.yaml')).toContain('\nlayout: entries\n');
  });

  it('shows that a folder becomes a repository', () => {
    const { run } = project();
    const folder = newFolder();
    const { stdout } = run('--root', folder, 'init', '--dry-run', '--clients', 'none');
    expect(stdout).toContain(`${folder} becomes a git repository.\n`);
    expect(stdout).toContain(`+++ ${join(folder, '.git', 'config')}\n`);
    expect(readdirSync(folder)).toEqual([]);
  });

  deep('sets up every client, the memory and the merge driver, and takes it all back', () => {
    const mine = '{\n  // mine\n  "servers": {\n    "x": { "command": "y" }\n  }\n}\n';
    const { repo, home, run } = project({ '.vscode/mcp.json': mine, 'AGENTS.md': '# Agents\n' });
    const before = repo.status();
    const config = readFileSync(repo.path('.git/config'), 'utf8');
    const { status, stdout, stderr } = run(
      ...['init', '--yes', '--clients', 'all', '--toolsets', 'graph,search'],
      ...['--instructions', 'AGENTS.md'],
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const oid = repo.git('rev-parse', '--short=12', 'HEAD').trim();
    expect(stdout).toContain(
      `The files of the memory itself are commit ${oid} on the branch main.`,
    );
    const left = /^Not committed: (.*)\. Commit them/m.exec(stdout)?.[1]?.split(', ').sort();
    expect(left).toEqual(
      repo
        .git('status', '--porcelain', '-uall')
        .trim()
        .split('\n')
        .map((line) => line.slice(2).trim())
        .sort(),
    );
    const start = { command: 'memory-bank', args: ['--toolsets', 'graph,search'] };
    expect(JSON.parse(repo.read('.mcp.json'))).toEqual({
      mcpServers: { 'memory-bank': { type: 'stdio', ...start } },
    });
    expect(JSON.parse(repo.read('.cursor/mcp.json')).mcpServers['memory-bank'].env).toEqual({
      MEMORY_BANK_ROOT: `\${workspaceFolder}`,
    });
    expect(repo.read('.vscode/mcp.json')).toContain('// mine\n');
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toContain(
      '[mcp_servers.memory-bank]',
    );
    expect(repo.read('AGENTS.md')).toContain('log_decision');
    expect(existsSync(repo.path('.memory-bank/config.yaml'))).toBe(true);
    expect(repo.read('.git/config')).toContain('merge-driver');
    expect(run('init', '--yes', '--clients', 'all', '--toolsets', 'graph,search').stdout).toContain(
      'No file has to change.',
    );
    expect(run('init', '--undo', '--yes', '--clients', 'all').status).toBe(0);
    expect(repo.status()).toEqual(before);
    expect(repo.read('.vscode/mcp.json')).toBe(mine);
    expect(repo.read('AGENTS.md')).toBe('# Agents\n');
    expect(repo.read('.git/config')).toBe(config);
    expect(existsSync(join(home, '.codex'))).toBe(false);
    expect(existsSync(repo.path('.memory-bank/config.yaml'))).toBe(true);
  });

  deep('leaves no trace but the memory in the clone of a foreign repository', () => {
    const foreign = Repo.create();
    foreign.write('src/main.c', 'int main(void) { return 0; }\n');
    foreign.write('CLAUDE.md', '# Mine\r\n');
    foreign.git('add', '.');
    foreign.git('commit', '-q', '-m', 'Code');
    const repo = new Repo(join(newFolder(), 'clone'));
    foreign.gitWith({ cwd: dirname(repo.root) }, 'clone', '-q', foreign.root, repo.root);
    const home = newFolder();
    repo.write('src/main.c', 'staged\n');
    repo.git('add', '.');
    repo.write('src/main.c', 'dirty\n');
    repo.write('notes', 'untracked\n');
    const look = () => {
      const own = /^\.memory-bank(\/|$)|^\.git\/(objects|logs|refs\/heads|index$)/;
      return [
        repo.git('diff'),
        repo.git('diff', '--cached', '--', ':!.memory-bank'),
        ...[repo.root, home].flatMap((top) =>
          readdirSync(top, { recursive: true, encoding: 'utf8' })
            .filter((name) => !own.test(name))
            .sort()
            .map((name) => [
              name,
              statSync(join(top, name)).isFile() ? readFileSync(join(top, name), 'utf8') : '',
            ]),
        ),
      ];
    };
    const before = look();
    const env = { PATH: process.env.PATH, HOME: home, MEMORY_BANK_DURABILITY: 'relaxed' };
    const run = (...args: string[]) => runProgram(repo.root, args, { env });
    const instructions = ['--instructions', 'AGENTS.md', '--instructions', 'CLAUDE.md'];
    expect(run('init', '--yes', '--clients', 'all', ...instructions).status).toBe(0);
    run('memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v');
    run('search', 'v');
    run('log');
    repo.write('.git/memory-bank/hooks/state.json', '{}');
    // A server that was killed while it did nothing.
    const dead = { ...newToken(), start: '1' };
    repo.write(`.git/memory-bank/owner-${dead.id}`, `${JSON.stringify(dead)}\n`);
    repo.write(`.git/memory-bank/journal-${dead.id}`, '');
    expect(look()).not.toEqual(before);
    expect(run('init', '--undo', '--yes', '--clients', 'all')).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(look()).toEqual(before);
    expect(existsSync(home)).toBe(true);
    expect(repo.git('log', '--format=%s', 'origin/main..').trim().split('\n')).toHaveLength(2);
    expect(repo.read('.memory-bank/knowledge/patterns/k.md')).toContain('v');
  });

  deep.each([
    ['another program', { command: 'npx', args: ['other'] }, 'starts "npx other"'],
    ['a script', { command: 'node', args: ['/opt/main.js'] }, 'starts "node /opt/main.js"'],
    ['a project', { command: 'memory-bank', args: ['--root', '/srv'] }, 'serves /srv'],
    ['a root', { command: 'memory-bank', env: { MEMORY_BANK_ROOT: '/srv' } }, 'serves /srv'],
    ['a folder', { command: 'node', args: [main], cwd: '/srv' }, 'serves /srv'],
    ['no command', { url: 'http://localhost:1' }, 'starts no program'],
  ])('takes back no entry of its name that is for something else: %s', (_, entry, use) => {
    const { repo, home, run } = project();
    const codex = join(home, '.codex/config.toml');
    mkdirSync(dirname(codex));
    writeFileSync(codex, stringify({ mcp_servers: { 'memory-bank': entry } }));
    const mine = JSON.stringify({ mcpServers: { 'memory-bank': entry } });
    repo.write('.cursor/mcp.json', mine);
    const before = readFileSync(codex, 'utf8');
    expect(run('init', '--yes', '--clients', 'claude').status).toBe(0);
    const { status, stdout } = run('init', '--undo', '--yes');
    expect(status).toBe(0);
    for (const file of [codex, repo.path('.cursor/mcp.json')]) {
      expect(stdout).toContain(`${file} is left alone: its entry "memory-bank" ${use}.`);
    }
    expect(readFileSync(codex, 'utf8')).toBe(before);
    expect(repo.read('.cursor/mcp.json')).toBe(mine);
    expect(existsSync(repo.path('.mcp.json'))).toBe(false);
  });

  deep(
    'writes no path of this machine into files of the project, and says what others need',
    () => {
      const { repo, home, run, runWith } = project();
      const { stdout } = run('init', '--yes', '--clients', 'all');
      expect(stdout).toMatch(
        /^"memory-bank" is not on the PATH of this machine, .*"npm link" in .* once the package is published\.$/m,
      );
      for (const file of [
        '.mcp.json',
        '.cursor/mcp.json',
        '.vscode/mcp.json',
        '.gemini/settings.json',
      ]) {
        expect(repo.read(file)).toContain('"command": "memory-bank"');
        expect(repo.read(file)).not.toContain(dirname(main));
      }
      expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toContain(main);
      // An absolute path that an earlier version has written is replaced.
      const bin = newFolder();
      symlinkSync(main, join(bin, 'memory-bank'));
      const entry = { command: 'node', args: [main] };
      repo.write('.mcp.json', JSON.stringify({ mcpServers: { 'memory-bank': entry } }));
      const again = runWith(
        { PATH: `${bin}:${process.env.PATH}` },
        'init',
        '--yes',
        '--clients',
        'claude',
      );
      expect(again.stdout).toMatch(
        /^Everybody who works on this project needs "memory-bank" on the PATH, /m,
      );
      expect(repo.read('.mcp.json')).not.toContain(main);
      const doctor = runWith({ PATH: `${bin}:${process.env.PATH}` }, 'doctor').stdout;
      expect(doctor).toMatch(/^ok +Claude Code +.*starts the server$/m);
      expect(doctor).toMatch(/^ok +Codex +.*starts the server$/m);
      expect(doctor).toMatch(/^ok +Cursor +.*starts the server$/m);
      expect(run('doctor').stdout).toMatch(
        /^WRONG +Claude Code +.*"memory-bank", which is not on the PATH: "npm link" in /m,
      );
    },
  );

  deep('changes the command of an entry that is its own, and nothing else', () => {
    const added = { env: { MEMORY_BANK_TOOLSETS: 'graph' }, timeout: 5, alwaysAllow: ['search'] };
    const mine = { command: 'memory-bank', args: ['--profile', 'agent'], ...added };
    const { repo, home, run } = project({
      '.mcp.json': JSON.stringify({ mcpServers: { 'memory-bank': mine } }),
    });
    const codex = join(home, '.codex/config.toml');
    mkdirSync(dirname(codex));
    writeFileSync(codex, stringify({ mcp_servers: { 'memory-bank': mine } }));
    expect(run('init', '--yes', '--clients', 'claude,codex').status).toBe(0);
    // An older program refuses an option that it does not know.
    const env = { ...added.env, MEMORY_BANK_PROFILE: 'agent' };
    const wanted = { command: 'node', args: [main], ...added, env };
    const shared = { command: 'memory-bank', args: [], ...added, env };
    expect(JSON.parse(repo.read('.mcp.json')).mcpServers['memory-bank']).toEqual(shared);
    expect(parse(readFileSync(codex, 'utf8'))).toEqual({ mcp_servers: { 'memory-bank': wanted } });
  });

  const foreign = '{"mcpServers":{"memory-bank":{"command":"npx","args":["other"]}}}';

  deep('leaves an entry of its name that is for something else alone', () => {
    const { repo, run } = project({ '.mcp.json': foreign });
    const { status, stdout } = run('init', '--yes', '--clients', 'claude');
    expect(status).toBe(6);
    expect(stdout).toMatch(
      /\.mcp\.json is left alone: its entry "memory-bank" starts "npx other"\./,
    );
    expect(repo.read('.mcp.json')).toBe(foreign);
    expect(run('init', '--undo', '--yes').status).toBe(0);
    expect(repo.read('.mcp.json')).toBe(foreign);
  });

  test.runIf(isFull && !!hasTerminal).each([
    ['\r', { args: [], env: { MEMORY_BANK_PROFILE: 'agent' } }],
    ['all\r', { args: [] }],
    ['graph, search\r', { args: ['--toolsets', 'graph,search'] }],
  ])('asks for the toolsets: %j', async (typed, wanted) => {
    const { repo, answer } = project();
    const { status } = await answer(
      ['init', '--clients', 'claude', '--instructions', 'AGENTS.md'],
      [') [those an agent needs]: ', typed],
      ['Add hooks to Claude Code: ', 'y\r'],
      ['Make these changes?', 'y\r'],
    );
    expect(status).toBe(0);
    const written = JSON.parse(repo.read('.mcp.json')).mcpServers['memory-bank'];
    expect(written).toEqual({ type: 'stdio', command: 'memory-bank', ...wanted });
    expect(repo.read('.claude/settings.json')).toContain('memory-bank hook prompt');
  });

  it.skipIf(!hasTerminal)('refuses a toolset that is not there', async () => {
    const { repo, answer } = project();
    const { status } = await answer(
      ['init', '--clients', 'claude'],
      ['[those an agent needs]: ', 'nonsense\r'],
    );
    expect(status).toBe(2);
    expect(repo.status()).toEqual([]);
  });

  test.runIf(isFull && !!hasTerminal)('replaces such an entry when a person says so', async () => {
    const { repo, answer } = project({ '.mcp.json': foreign });
    const { status } = await answer(
      ['init', '--clients', 'claude', '--instructions', 'AGENTS.md'],
      ['[those an agent needs]: ', '\r'],
      ['Add hooks to ', 'n\r'],
      ['starts "npx other". Replace it? [y/N]', 'y\r'],
      ['Make these changes?', 'y\r'],
    );
    expect(status).toBe(0);
    expect(JSON.parse(repo.read('.mcp.json')).mcpServers['memory-bank']).toEqual({
      type: 'stdio',
      command: 'memory-bank',
      args: [],
      env: { MEMORY_BANK_PROFILE: 'agent' },
    });
  });

  deep.each([
    ['its name', ['memory-bank'], []],
    ['its name, with a profile', ['memory-bank', '--profile', 'agent'], []],
    ['npx', ['npx', '-y', 'memory-bank@1'], []],
    ['an installed place that is gone', ['node', '/gone/memory-bank/dist/main.cjs'], []],
    ['a command that is given again', ['mise', 'x', 'memory'], ['--command', 'mise x memory']],
  ])('takes back an entry that is known as its own by %s', (_, [command, ...args], again) => {
    const { repo, run } = project();
    const entry = { command, args: [...args, '--root', '.'], env: { MEMORY_BANK_TOOLSETS: 'x' } };
    repo.write('.mcp.json', JSON.stringify({ mcpServers: { 'memory-bank': entry } }));
    expect(run('init', '--undo', '--yes', ...again).status).toBe(0);
    expect(existsSync(repo.path('.mcp.json'))).toBe(false);
  });

  test.runIf(isFull && !!hasTerminal).each([
    ['Ctrl-C', 'Clients (', '\u0003'],
    ['Ctrl-D', 'Clients (', '\u0004'],
    ['Ctrl-C', 'Make these changes? [y/N] ', '\u0003'],
  ])('is cancelled by %s at the question "%s"', async (_, question, key) => {
    const { repo, answer } = project();
    const before: [string, string][] = question.startsWith('Make')
      ? [
          ['Clients (', '\r'],
          ['[those an agent needs]: ', '\r'],
          ['Add hooks to ', '\r'],
        ]
      : [];
    const { status, seen } = await answer(['init', '--instructions', 'AGENTS.md'], ...before, [
      question,
      key,
    ]);
    expect(status).toBe(130);
    expect(seen).toMatch(/\r\nmemory-bank: It was cancelled; nothing was changed\.\r\n$/);
    expect(repo.status()).toEqual([]);
  });

  deep('leaves a file with a syntax error alone, says so, and does the rest', () => {
    const { repo, run } = project({ '.mcp.json': '{ "mcpServers": ' });
    const { status, stdout } = run('init', '--yes', '--clients', 'claude,cursor');
    expect(status).toBe(6);
    expect(stdout).toMatch(/\.mcp\.json is left alone: line 1: ValueExpected/);
    expect(repo.read('.mcp.json')).toBe('{ "mcpServers": ');
    expect(existsSync(repo.path('.cursor/mcp.json'))).toBe(true);
  });

  deep(
    'leaves comments where a client may not read them alone, also when it takes things back',
    () => {
      const mine = '{\n  // mine\n  "mcpServers": {}\n}\n';
      const { repo, run } = project({ '.cursor/mcp.json': mine, '.gemini/settings.json': mine });
      const { status, stdout } = run('init', '--yes', '--clients', 'cursor,gemini');
      expect(status).toBe(6);
      expect(stdout).toMatch(/\.cursor\/mcp\.json is left alone: line 2: a comment/);
      expect(repo.read('.cursor/mcp.json')).toBe(mine);
      expect(repo.read('.gemini/settings.json')).toContain('// mine');
      expect(run('init', '--undo', '--yes').status).toBe(0);
      expect(repo.read('.cursor/mcp.json')).toBe(mine);
      expect(repo.read('.gemini/settings.json')).toContain('// mine');
    },
  );

  it.each(['emacs', 'constructor'])('refuses an unknown client: %s', (client) => {
    const { repo, run } = project();
    expect(run('init', '--yes', '--clients', client).status).toBe(2);
    expect(repo.status()).toEqual([]);
  });
});

describe('a client with two forms', () => {
  test('gets its entry in the folder of the form that is in use', () => {
    const { home, run } = project();
    const settings = join(home, '.cline/data/settings');
    mkdirSync(settings, { recursive: true });
    run('init', '--yes', '--clients', 'cline');
    const file = readFileSync(join(settings, 'cline_mcp_settings.json'), 'utf8');
    expect(JSON.parse(file).mcpServers).toHaveProperty('memory-bank');
  });
});

describe('doctor', () => {
  deep('finds a sound project sound, and installs the merge driver when asked', () => {
    const { repo, run } = project();
    run('init', '--yes', '--clients', 'claude', '--command', `node ${main}`);
    run('install-merge-driver', '--uninstall');
    const first = run('doctor');
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toMatch(/^ok +Claude Code +.*starts the server$/m);
    expect(first.stdout).toMatch(/^note +Merge driver +It is not installed/m);
    expect(run('doctor', '--fix').stdout).toMatch(/^ok +Merge driver +installed$/m);
    expect(repo.read('.git/config')).toContain('merge-driver');
    expect(run('doctor').stdout).toMatch(/^ok +Merge driver +git merges/m);
  });

  test('says nothing but its findings, however many', () => {
    const files = ['.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json', '.gemini/settings.json'];
    const { run } = project(Object.fromEntries(files.map((file) => [file, '{}'])));
    const { stdout, stderr } = run('doctor');
    expect(stdout.split('\n').length).toBeGreaterThan(11);
    expect(stdout).toMatch(/^ok +Node\.js +[\d.]+ on (?:linux|win32|darwin) \S+, \w+$/m);
    expect(stderr).toBe('');
  });

  deep('names everything that is wrong', () => {
    const { repo, run } = project({
      '.memory-bank/knowledge/patterns/k.md': 'no front matter',
      '.clinerules-prose': 'Be kind.',
      '.gitignore': '.memory-bank/\n',
      '.mcp.json': '{',
    });
    repo.git('config', 'commit.gpgsign', 'true');
    writeFileSync(repo.path('.git/index.lock'), '');
    utimesSync(repo.path('.git/index.lock'), 1_700_000_000, 1_700_000_000);
    const { status, stdout } = run('doctor');
    expect(status).toBe(6);
    for (const line of [
      /^WRONG +Ignore rules .*\.gitignore/m,
      /^WRONG +Locks .*index\.lock exists since 2023.*Check which process holds it/m,
      /^WRONG +Records .*k\.md/m,
      /^WRONG +Claude Code .*\.mcp\.json: line 1/m,
      /^note +Rule file +\.clinerules-prose sets no mode/m,
      /^note +Signing +commit\.gpgsign is set/m,
    ]) {
      expect(stdout).toMatch(line);
    }
    expect(stdout).not.toMatch(/^.* Locks .*(?:remove|delete)/im);
    expect(existsSync(repo.path('.git/index.lock'))).toBe(true);
  });

  test.runIf(process.platform === 'linux')(
    'names records that other systems do not tell apart',
    () => {
      const { run } = project({
        '.memory-bank/caf\u00e9.md': 'one',
        '.memory-bank/cafe\u0301.md': 'two',
        '.memory-bank/plain.md': 'three',
      });
      const twins = run('doctor').stdout.match(/^note +Records .*$/gm);
      expect(twins).toEqual([
        expect.stringMatching(
          /cafe\u0301\.md and caf\u00e9\.md differ only in .* rename all but one/,
        ),
      ]);
    },
  );

  deep.each([
    ['a merge', 'note', /A merge is under way.*git merge --abort/],
    ['a conflict', 'note', /holds unmerged files.*git add/],
    ['refs of another kind', 'WRONG', /its refs are stored as other/],
  ])('says that no change can be made: %s', (kind, mark, text) => {
    const { repo, run } = project({ '.memory-bank/a.md': '' });
    const head = repo.git('rev-parse', 'HEAD');
    if (kind === 'a merge') repo.write('.git/MERGE_HEAD', head);
    if (kind === 'refs of another kind') repo.git('config', 'extensions.refStorage', 'other');
    if (kind === 'a conflict') {
      const blob = repo.git('rev-parse', 'HEAD:README.md').trim();
      const lines = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\tx\n`).join('');
      repo.gitWith({ input: lines }, 'update-index', '--index-info');
    }
    const { status, stdout } = run('doctor');
    expect(stdout).toMatch(new RegExp(`^${mark} +Repository +.*${text.source}`, 'm'));
    expect(status).toBe(mark === 'note' ? 0 : 6);
  });

  deep.each([
    ['a broken config.yaml', 'Settings', /config\.yaml: .*Fix it/],
    ['a HEAD that is garbage', 'Repository', /HEAD .*cannot be read.*git switch/],
    ['an emptied branch', 'Repository', /refs\/heads\/main cannot be read.*git update-ref/],
    ['a missing tree', 'Repository', /object [0-9a-f]{40,64} is not in this repository.*git fetch/],
    ['a sparse checkout', 'Repository', /not in this sparse.*sparse-checkout add \.memory/],
    ['a file in the way', 'Repository', /\.memory-bank is a file where a folder.*out of the way/],
    ['a file in the way, and no git', 'Repository', /\.memory-bank is a file where a folder/],
  ])('says why every change is refused: %s', (kind, what, text) => {
    const { repo, run } = project();
    const id = what === 'Settings' ? '[' : '7f1a0d4e-95cf-4f7c-8d5e-0b9f3a6f2c11';
    repo.write('.memory-bank/config.yaml', `format: 1\nproject_id: ${id}\n`);
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', 'Memory');
    const tree = repo.git('rev-parse', 'HEAD^{tree}').trim();
    if (kind === 'a HEAD that is garbage') repo.write('.git/HEAD', 'garbage');
    if (kind === 'an emptied branch') repo.write('.git/refs/heads/main', '');
    if (kind === 'a missing tree') rmSync(repo.path(`.git/objects/${tree.replace(/^../, '$&/')}`));
    if (kind === 'a sparse checkout') repo.git('sparse-checkout', 'set', '--no-cone', '/README.md');
    if (kind.startsWith('a file in the way')) {
      rmSync(repo.path('.memory-bank'), { recursive: true });
      repo.write('.memory-bank', '');
    }
    if (kind.endsWith('no git')) rmSync(repo.path('.git'), { recursive: true });
    const { status, stdout } = run('doctor');
    expect(stdout).toMatch(new RegExp(`^WRONG +${what} +.*${text.source}`, 'm'));
    expect(status).toBe(6);
    const change = ['memory-write', '--category', 'patterns', '--key', 'k', '--value', 'v'];
    expect(run(...change).stderr).toMatch(text);
  });

  deep.each([
    ['a format that is not known', { 'gpg.format': 'pgp' }, /gpg\.format is "pgp"/],
    ['no key for ssh', { 'gpg.format': 'ssh' }, /user\.signingKey is not set/],
    ['a program that is not there', { 'gpg.program': 'no-gpg' }, /no-gpg is not installed/],
    ['a path of a program', { 'gpg.openpgp.program': '/no/gpg' }, /\/no\/gpg is not installed/],
    ['a program that is there', { 'gpg.program': 'git' }, undefined],
    ['a path that is there', { 'gpg.program': process.execPath }, undefined],
  ])('says what shows of a signature that cannot be made: %s', (_, settings, text) => {
    const { repo, home, run, runWith } = project();
    for (const [key, value] of Object.entries(settings)) {
      repo.git('config', '--file', join(home, '.gitconfig'), key, value);
    }
    const { status, stdout } = runWith({ MEMORY_BANK_SIGN: 'true' }, 'doctor');
    expect(status).toBe(text ? 6 : 0);
    if (text)
      expect(stdout).toMatch(new RegExp(`^WRONG +Repository +.*${text.source}.*unset`, 'm'));
    expect(run('doctor').status).toBe(0);
  });

  test('gives no advice on what it cannot judge in a repository of another format', () => {
    const { repo, run } = project();
    repo.write('a', 'a');
    repo.git('add', 'a');
    repo.git('commit', '-q', '-m', 'Begin');
    repo.git('config', 'core.repositoryFormatVersion', '1');
    repo.git('config', 'extensions.objectFormat', 'sha512');
    const { status, stdout } = run('doctor');
    expect(stdout.match(/^WRONG .*/gm)).toEqual([expect.stringContaining('object ids are sha512')]);
    expect(stdout).not.toMatch(/delete|refs/i);
    expect(status).toBe(6);
  });

  deep.each([
    ['of a process that is gone', { start: '1' }, /^ok +Locks .*its process no longer runs/m],
    [
      'of a process at work',
      {},
      /^note +Locks .*process \d+ holds it\. If it stays, check that process/m,
    ],
  ])('reports a lock of our own: %s', (_, change, line) => {
    const { repo, run } = project({ '.memory-bank/a.md': '' });
    const lock = repo.path('.git/memory-bank/lock');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, `${JSON.stringify({ ...newToken(), ...change })}\n`);
    expect(run('doctor').stdout).toMatch(line);
    expect(existsSync(lock)).toBe(true);
  });

  deep('reports locks of git on HEAD and the branch', () => {
    const { repo, run } = project();
    for (const lock of ['HEAD.lock', 'refs/heads/main.lock']) repo.write(`.git/${lock}`, '');
    const { stdout } = run('doctor');
    expect(stdout).toMatch(/^note +Locks .*HEAD\.lock exists .*: a git command holds it/m);
    expect(stdout).toMatch(/^note +Locks .*main\.lock exists/m);
  });

  deep('survives files where folders should be', () => {
    const { repo, run } = project({ '.memory-bank': '' });
    repo.git('pack-refs', '--all');
    rmSync(repo.path('.git/refs/heads'), { recursive: true });
    repo.write('.git/refs/heads', 'this repository uses the reftable format\n');
    repo.write('.git/HEAD', 'ref: refs/heads/.invalid\n');
    const { stdout, stderr } = run('doctor');
    expect(stdout).toMatch(/^note +Merge driver/m);
    expect(stderr).not.toContain('ENOTDIR');
  });

  deep('completes the attributes of an older memory when asked, as a commit', () => {
    const { repo, run } = project();
    run('init', '--yes', '--clients', 'none');
    const complete = repo.read('.memory-bank/.gitattributes');
    repo.write('.memory-bank/.gitattributes', '* -text\n*.png binary');
    repo.git('commit', '-q', '-a', '-m', 'An older version');
    expect(run('doctor').stdout).toMatch(/^note +Attributes .*lacks rules/m);
    expect(repo.status()).toEqual([]);
    expect(run('doctor', '--fix').stdout).toMatch(/^ok +Attributes +completed and committed$/m);
    const [, missing] = complete.split('* -text\n');
    expect(repo.read('.memory-bank/.gitattributes')).toBe(`* -text\n*.png binary\n${missing}`);
    expect(repo.status()).toEqual([]);
    expect(run('doctor').stdout).not.toContain('Attributes');
  });

  deep(
    'names a client that starts what is not there, a missing identity, and the work tree',
    () => {
      const { repo, home, run } = project();
      const gone = join(newFolder(), 'main.js');
      const entry = `[mcp_servers.memory-bank]\ncommand = "node"\nargs = ["${gone}"]\n`;
      mkdirSync(join(home, '.codex'));
      writeFileSync(join(home, '.codex/config.toml'), entry);
      repo.git('config', '--unset', 'user.name');
      const tree = join(newFolder(), 'tree');
      repo.git('worktree', 'add', '-q', tree);
      const { status, stdout } = run('--root', tree, 'doctor');
      expect(status).toBe(6);
      expect(stdout).toContain(
        `starts ${gone}, which does not exist: change that entry, or remove it and run memory-bank init --clients codex`,
      );
      expect(stdout).toMatch(/^note +Identity +git knows no user\.name/m);
      expect(stdout).toMatch(/^ok +Repository +linked work tree /m);
    },
  );

  deep('says what is wrong with the place itself', () => {
    const { run } = project();
    const { status, stdout } = run('--root', '/', 'doctor');
    expect(status).toBe(6);
    expect(stdout).toMatch(/^WRONG +Project /m);
  });
});
