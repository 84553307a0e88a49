import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editHooks, hookClients } from '../../src/cli/setup/client-hooks.ts';
import { hookCommand, readHookCommand } from '../../src/cli/setup/hook-command.ts';
import { newFolder } from '../support/process.ts';

const windows = process.platform === 'win32';

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

  // Node.js cannot end a program that cmd has started.
  it.skipIf(windows)('does not hold a client that gives a hanging program up', () => {
    const path = stub(['/bin/sleep 3', 'echo > "$0.ended"'], []);
    const [program = '', ...rest] = shell.words;
    const { error } = spawnSync(program, [...rest, command], {
      env: { PATH: path },
      timeout: 300,
      killSignal: 'SIGKILL',
      input: '{}',
    });
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
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

  it.each(["it's", 'a"b', 'a%b%', 'a&b', '$(x)', 'a`b', ''])('refuses the program %j', (word) => {
    expect(() => hookCommand([word], 'prompt')).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  it('has a time limit of ten seconds in every client', () => {
    for (const client of Object.values(hookClients)) {
      const commands: unknown[] = [];
      JSON.parse(editHooks('', client, ['memory-bank'], '/', 'add'), (_, value) => {
        const { command, bash, timeout, timeoutSec } = Object(value);
        if (command ?? bash) commands.push(timeout ?? timeoutSec);
        return value;
      });
      expect(commands.length).toBeGreaterThan(1);
      for (const limit of commands) expect([10, 10_000]).toContain(limit);
    }
  });
});
