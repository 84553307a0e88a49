import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editHooks, hookCommands } from '../../src/cli/setup/hook/client-hooks.ts';
import { checkHooks } from '../../src/cli/setup/hook/hook-check.ts';
import { hookClients, isListed } from '../../src/cli/setup/hook/hook-table.ts';
import { planSetup } from '../../src/cli/setup/plan/setup-plan.ts';
import { hookCommand } from '../../src/cli/setup/program/hook-command.ts';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';
import { slashed } from '../support/slashed.ts';

const program = ['memory-bank'];
/** Clients whose events are in an object under "hooks", as in Claude Code. */
const likeClaude = Object.values(hookClients).filter(
  ({ root, settings }) => root[0] === 'hooks' && !isListed(settings.hooks),
);
const root = newFolder();
const files = [...new Set(Object.values(hookClients).map(({ path }) => path.join('/')))];

describe('the hooks of a client', () => {
  const mine = '{ "type": "command", "command": "./mine.sh" }';

  it.each([
    ['a file of other settings', '{\n  "model": "x" // mine\n}\n'],
    [
      'hooks of a person',
      `{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{ "hooks": [${mine}] }\r\n\t\t]\r\n\t}\r\n}\r\n`,
    ],
    ['hooks on one line', `{"hooks":{"SessionStart":[{"hooks":[${mine}]}],"Other":[]}}`],
    ['trailing commas', `{\n  "hooks": {\n    "SessionStart": [\n      {},\n    ],\n  },\n}\n`],
    ['the same words', '{ "note": "memory-bank hook stop" }'],
  ])('are added once and removed again: %s', (_, text) => {
    for (const client of likeClaude) {
      const edited = editHooks(text, client, program, root, 'add');
      const events = hookCommands(edited, client.root).map(({ event }) => event);
      expect(events).toHaveLength(Object.keys(client.settings.hooks).length);
      expect(editHooks(edited, client, program, root, 'add')).toBe(edited);
      expect(editHooks(edited, client, program, root, 'remove')).toBe(text);
    }
  });

  it('keep what a person adds to them', () => {
    const [client] = Object.values(hookClients);
    if (!client) throw new Error('There is no client with hooks.');
    const edited = editHooks('', client, program, root, 'add');
    const extended = edited.replace(/("hooks": \[)(\s+\{\s+"type")/, `$1 ${mine},$2`);
    const undone = editHooks(extended, client, program, root, 'remove');
    expect(JSON.parse(undone)).toEqual({
      hooks: { SessionStart: [{ hooks: [JSON.parse(mine)] }] },
    });
  });

  it('get the command of a new setup', () => {
    const [client] = Object.values(hookClients);
    if (!client) throw new Error('There is no client with hooks.');
    const edited = editHooks('', client, program, root, 'add');
    const npx = ['npx', '-y', 'memory-bank@1.0.0'];
    expect(editHooks(edited, client, npx, root, 'add')).toBe(
      editHooks('', client, npx, root, 'add'),
    );
  });

  it.each([
    '{',
    '{"hooks": []}',
    '{"hooks": {"SessionStart": {}, "sessionStart": {}, "PreToolUse": {}}}',
  ])('are not added to %j', (text) => {
    for (const client of likeClaude) {
      expect(() => editHooks(text, client, program, root, 'add')).toThrow(
        expect.objectContaining({ code: 'damaged' }),
      );
    }
  });
});

/** The settings of a client as an earlier version wrote them. */
const earlier = ({ root: [key], settings }: (typeof hookClients)[string]) => {
  const { hooks, ...others } = settings;
  return `${JSON.stringify(key === undefined ? hooks : { ...others, [key]: hooks }, null, 2)}\n`;
};

describe('hooks that can fail', () => {
  it('get the form that cannot, and are removed', () => {
    for (const client of Object.values(hookClients)) {
      const text = earlier(client);
      const ours = editHooks('', client, program, root, 'add');
      expect(editHooks(text, client, program, root, 'guard')).toBe(ours);
      expect(editHooks(text, client, program, root, 'add')).toBe(ours);
      expect(editHooks(ours, client, program, root, 'guard')).toBe(ours);
      expect(hookCommands(editHooks(text, client, program, root, 'remove'), client.root)).toEqual(
        [],
      );
    }
  });

  it.each(['memory-bank hook prompt || exit 0', 'npx -y memory-bank@0.9.0 hook prompt; exit 0'])(
    'keep their program: %s',
    (command) => {
      const [client] = Object.values(hookClients);
      if (!client) throw new Error('There is no client with hooks.');
      const text = JSON.stringify({ hooks: { Stop: [{ hooks: [{ command }] }] } });
      const [before] = hookCommands(text);
      expect(before?.guarded).toBe(false);
      const [after] = hookCommands(editHooks(text, client, program, root, 'guard'));
      expect(after).toEqual({ ...before, guarded: true });
    },
  );

  it('are found by doctor, and brought up to date by init without --hooks', async () => {
    const repo = Repo.create();
    const around = { root: repo.root, home: newFolder(), env: {}, platform: process.platform };
    for (const client of Object.values(hookClients))
      repo.write(client.path.join('/'), earlier(client));
    const other = '{ "hooks": { "stop": [{ "command": "./mine.sh hook stop" }] } }';
    repo.write('.cursor/hooks.json', other);
    const found = () =>
      checkHooks(around, false).filter(({ text }) => text.includes('run memory-bank init'));
    expect(found().map(({ what, state }) => [what, state])).toEqual([
      ['Claude Code hooks', 'bad'],
      ['Codex hooks', 'bad'],
      ['Copilot CLI hooks', 'bad'],
      ['Gemini CLI hooks', 'bad'],
      ...['Devin CLI', 'Kiro', 'Crush', 'Qwen Code', 'Antigravity', 'Droid', 'Augment'].map(
        (title) => [`${title} hooks`, 'bad'],
      ),
    ]);
    const { edits } = await planSetup({
      names: [],
      hooks: false,
      instructions: [],
      programs: { shared: program, personal: program },
      server: { options: [], profile: undefined },
      around,
      mayReplace: async () => false,
    });
    expect(edits.map(({ path }) => slashed(relative(repo.root, path))).sort()).toEqual(
      files.filter((file) => file !== '.cursor/hooks.json').sort(),
    );
    for (const { path, after = '' } of edits) repo.write(relative(repo.root, path), after);
    expect(found()).toEqual([]);
  });
});

describe('init --hooks', () => {
  deep('writes the hooks of every client, and undo removes them', () => {
    const repo = Repo.create();
    const mine = '{\n  "hooks": {\n    "Stop": [{ "hooks": [] }]\n  }\n}\n';
    repo.write('.claude/settings.json', mine);
    const before = repo.status();
    const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };
    const run = (...args: string[]) => runProgram(repo.root, args, { env });
    const shown = run('init', '--clients', 'all', '--hooks').stdout;
    const command = JSON.stringify(hookCommand(program, 'session-start'));
    expect(shown).toContain(`"command": ${command}`);
    expect(shown).toContain('hook_file and hook_command in .memory-bank/config.yaml turn each off');
    expect(run('init', '--clients', 'all', '--hooks', '--yes').status).toBe(0);
    for (const { path, named } of Object.values(hookClients)) {
      const text = repo.read(path.join('/'));
      const start = JSON.stringify(hookCommand(program, 'session-start', named));
      if (path[0] !== 'crush.json') expect(text).toContain(start);
      expect(text).not.toContain(root);
    }
    expect(JSON.parse(repo.read('.cursor/hooks.json')).version).toBe(1);
    expect(run('init', '--clients', 'all', '--hooks', '--yes').stdout).toContain('No file has to');
    expect(run('init', '--undo', '--yes', '--clients', 'all').status).toBe(0);
    expect(repo.read('.claude/settings.json')).toBe(mine);
    expect(files.filter((file) => existsSync(repo.path(file)))).toEqual(['.claude/settings.json']);
    expect(repo.status()).toEqual(before);
  });
});

describe('doctor', () => {
  deep('runs each hook that is this program, and no other program', () => {
    const repo = Repo.create();
    const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };
    const run = (...args: string[]) => runProgram(repo.root, args, { env });
    const command = `${process.execPath} ${main}`;
    run('init', '--clients', 'claude', '--hooks', '--yes', '--command', command);
    repo.write(
      '.cursor/hooks.json',
      JSON.stringify({
        hooks: {
          sessionStart: [{ command: 'touch ./ran hook session-start' }],
          stop: [{ command: './no-such-program hook stop' }],
        },
      }),
    );
    const { stdout } = run('doctor');
    expect(
      stdout.match(/^ok +Claude Code hooks.*the hook [a-z-]+ answers in \d+ ms$/gm),
    ).toHaveLength(5);
    expect(stdout).toMatch(
      /^note +Cursor hooks.*the hook session-start is not run: it starts "touch/m,
    );
    expect(stdout).toMatch(/^WRONG +Cursor hooks.*the hook stop starts .*does not exist$/m);
    expect(existsSync(repo.path('ran'))).toBe(false);
  });
});
