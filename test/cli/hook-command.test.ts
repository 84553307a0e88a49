import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { editHooks, hookCommands } from '../../src/cli/setup/hook/client-hooks.ts';
import { hookClients } from '../../src/cli/setup/hook/hook-table.ts';
import { hookCommand, readHookCommand } from '../../src/cli/setup/program/hook-command.ts';
import { sample } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';
import { notOnWindows } from '../support/windows.ts';

const windows = process.platform === 'win32';
const ended = notOnWindows('Node.js cannot end a program that cmd has started');

/** The ways in which clients start a command line, of the shells that are on this machine. */
const shells = windows
  ? [
      { name: 'cmd', words: ['cmd', '/d', '/s', '/c'], checksOutput: false },
      { name: 'powershell', words: ['powershell', '-NoProfile', '-Command'], checksOutput: true },
      { name: 'pwsh', words: ['pwsh', '-NoProfile', '-Command'], checksOutput: true },
    ]
  : [
      { name: 'sh', words: ['/bin/sh', '-c'], checksOutput: true },
      { name: 'bash', words: ['/bin/bash', '--norc', '-c'], checksOutput: true },
      { name: 'zsh', words: ['/bin/zsh', '-f', '-c'], checksOutput: true },
      { name: 'busybox', words: ['/bin/busybox', 'sh', '-c'], checksOutput: true },
    ];
const present = shells.filter(({ words: [program = '', ...rest] }) => {
  const { stdout } = spawnSync(program, [...rest, 'echo present'], { encoding: 'utf8' });
  return stdout?.trim() === 'present';
});

/** Runs a command line with one folder on the PATH. */
function run(shell: (typeof shells)[number], command: string, path: string, input = '{}') {
  const [program = '', ...rest] = shell.words;
  const folder = join(process.env.SystemRoot ?? '', 'System32');
  const system = windows ? [path, folder].join(delimiter) : path;
  const isCmd = shell.name === 'cmd';
  const { status, stdout, stderr } = spawnSync(
    program,
    [...rest, isCmd ? `"${command}"` : command],
    {
      env: { ...(windows && process.env), PATH: system },
      encoding: 'utf8',
      windowsVerbatimArguments: isCmd,
      input,
    },
  );
  return { status, stdout: stdout.trimEnd(), stderr };
}

/** A folder with a program of the name `memory-bank`. */
function stub(sh: readonly string[], cmd: readonly string[]): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'memory-bank.cmd'), ['@echo off', ...cmd, ''].join('\r\n'));
  writeFileSync(join(folder, 'memory-bank'), ['#!/bin/sh', ...sh, ''].join('\n'));
  chmodSync(join(folder, 'memory-bank'), 0o755);
  return folder;
}

const command = hookCommand(['memory-bank'], 'prompt');
const silent = { status: 0, stdout: '', stderr: '' };

describe.each(present)('a hook in $name', (shell) => {
  it('is silent and succeeds where the program is missing', () => {
    expect(run(shell, command, newFolder())).toEqual(silent);
  });

  it('is silent and succeeds where the program fails', () => {
    for (const status of [1, 2, 127]) {
      const path = stub(
        ['echo Usage >&2', `exit ${status}`],
        ['echo Usage 1>&2', `exit /b ${status}`],
      );
      expect(run(shell, command, path)).toEqual(silent);
    }
  });

  it('succeeds, and is silent where the shell can check it, if the program prints nonsense', () => {
    const path = stub(['echo Usage', 'echo "{}" >&2'], ['echo Usage', 'echo {} 1>&2']);
    expect(run(shell, command, path)).toEqual({
      ...silent,
      stdout: shell.checksOutput ? '' : 'Usage',
    });
    const blocked = stub(['echo "{}"', 'exit 2'], ['echo {}', 'exit /b 2']);
    expect(run(shell, command, blocked)).toEqual({
      ...silent,
      stdout: shell.checksOutput ? '' : '{}',
    });
  });

  ended('does not hold a client that gives a hanging program up', () => {
    const path = stub(['/bin/sleep 3', 'echo > "$0.ended"'], []);
    expect(isGivenUp(shell, command, path)).toBe(true);
    expect(existsSync(join(path, 'memory-bank.ended'))).toBe(false);
  });

  it('passes the input and the answer on', () => {
    const answer = '{"text":"a\\\\n\\u00e9 $HOME `x` it\'s"}';
    const path = stub(
      ['IFS= read -r line', 'test "$line" = "{}" || exit 0', `cat <<'END'`, answer, 'END'],
      [`echo ${answer}`],
    );
    const tools = windows ? path : `${path}:/bin:/usr/bin`;
    expect(run(shell, command, tools, '{}\n')).toEqual({ ...silent, stdout: answer });
  });
});

describe.each(present.filter(({ checksOutput }) => checksOutput))(
  'a hook of a client that takes a text, in $name',
  (shell) => {
    const named = hookCommand(['memory-bank'], 'prompt', 'kiro');

    it('passes a text of this program on, and nothing else', () => {
      const text = ['# Project memory', '## Two words', '- one'];
      const path = stub(
        ['test "$*" = "hook prompt kiro" || exit 0', ...text.map((line) => `echo '${line}'`)],
        text.map((line) => `echo ${line}`),
      );
      const { stdout, ...ended } = run(shell, named, path);
      expect(stdout.split(/\r?\n/)).toEqual(text);
      expect(ended).toEqual({ status: 0, stderr: '' });
      for (const other of ['{}', 'Usage']) {
        expect(run(shell, named, stub([`echo '${other}'`], [`echo ${other}`]))).toEqual(silent);
      }
    });
  },
);

/** A command in the file that `init` writes for the hooks of a client. */
interface Written {
  readonly command: string;
  /** The shells that the client runs it in. */
  readonly shells: typeof present;
}

/** The different commands in the text of a file of hooks. */
function written(text: string): Written[] {
  const found = new Map<string, Written>();
  JSON.parse(text, (key, command) => {
    if (!['command', 'bash', 'powershell'].includes(key) || !readHookCommand(command))
      return command;
    const own = present.filter(({ name }) => {
      if (key === 'powershell') return name === 'powershell' || name === 'pwsh';
      return key === 'command' || name !== 'cmd';
    });
    found.set(`${key} ${command}`, { command, shells: own });
    return command;
  });
  return [...found.values()];
}

describe('the files of hooks that init writes', () => {
  const repo = new Repo().begin();

  beforeAll(() => {
    const args = ['init', '--clients', 'all', '--hooks', '--command', 'memory-bank', '--yes'];
    const env = { PATH: process.env.PATH, HOME: newFolder(), MEMORY_BANK_DURABILITY: 'relaxed' };
    expect(runProgram(repo.root, args, { env })).toMatchObject({ status: 0 });
  });
  afterAll(() => repo.remove());

  const files = new Set(Object.values(hookClients).map(({ path }) => path.join('/')));

  it.each([...files])('have commands that cannot fail or speak for another program: %s', (file) => {
    const commands = written(repo.read(file));
    expect(commands).not.toEqual([]);
    const none = newFolder();
    const old = stub(['echo Usage >&2', 'exit 2'], ['echo Usage 1>&2', 'exit /b 2']);
    const other = stub(['echo Usage', 'echo "{}" >&2'], ['echo Usage', 'echo {} 1>&2']);
    const hangs = stub(['exec /bin/sleep 3'], []);
    for (const { command, shells } of sample(commands, 1)) {
      for (const shell of sample(shells, 1)) {
        expect(run(shell, command, none), command).toEqual(silent);
        expect(run(shell, command, old), command).toEqual(silent);
        const stdout = shell.checksOutput ? '' : 'Usage';
        expect(run(shell, command, other), command).toEqual({ ...silent, stdout });
        if (!windows) expect(isGivenUp(shell, command, hangs), command).toBe(true);
      }
    }
  });
});

/** Whether a client that ends a hook at its time limit gets no answer, and does not wait longer. */
function isGivenUp(shell: (typeof shells)[number], command: string, path: string): boolean {
  const [program = '', ...rest] = shell.words;
  const { error, stdout } = spawnSync(program, [...rest, command], {
    env: { PATH: path },
    timeout: 150,
    killSignal: 'SIGKILL',
    input: '{}',
  });
  return Object(error).code === 'ETIMEDOUT' && stdout.length === 0;
}

describe('the command of a hook', () => {
  it.each([
    [['memory-bank']],
    [['npx', '-y', '@scope/memory-bank@1.0.0']],
    [['C:\\Program Files (x86)\\node\\node.exe', 'D:\\émile\\main.cjs']],
  ])('is read as it was written: %j', (program) => {
    for (const event of ['prompt', 'session-start']) {
      const line = hookCommand(program, event);
      expect(readHookCommand(line)).toEqual({ words: program, event, guarded: true });
    }
    // One text for all shells, which clients take as an argument.
    expect(hookCommand(program, 'prompt')).not.toMatch(/[\r\n]/);
  });

  it('is read with the client that it names', () => {
    const line = hookCommand(['memory-bank'], 'prompt', 'kiro');
    const read = { words: ['memory-bank'], event: 'prompt', client: 'kiro', guarded: true };
    expect(readHookCommand(line)).toEqual(read);
    expect(readHookCommand('memory-bank hook prompt other')).toBeUndefined();
  });

  it.each(["it's", 'a"b', 'a%b%', 'a&b', '$(x)', 'a`b', ''])('refuses the program %j', (word) => {
    expect(() => hookCommand([word], 'prompt')).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it('has a time limit of ten seconds in every client', () => {
    for (const client of Object.values(hookClients)) {
      const commands: unknown[] = [];
      const text = editHooks('', client, ['memory-bank'], '/', 'add');
      JSON.parse(text, (_, value) => {
        const { action, command = action?.command, bash, timeout, timeoutSec } = Object(value);
        const limit = timeout ?? timeoutSec;
        if ((command ?? bash) && limit !== undefined) commands.push(limit);
        return value;
      });
      expect(commands).toHaveLength(hookCommands(text, client.root).length);
      for (const limit of commands) expect([10, 10_000]).toContain(limit);
    }
  });
});
