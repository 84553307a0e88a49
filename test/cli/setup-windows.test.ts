import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configPath } from '../../src/cli/setup/client/client.ts';
import { clients } from '../../src/cli/setup/client/client-table.ts';
import { planSetup } from '../../src/cli/setup/plan/setup-plan.ts';
import { clientPrograms } from '../../src/cli/setup/program/client-programs.ts';
import { findOnPath, NotStarted, startOfEntry } from '../../src/cli/setup/program/entry-start.ts';
import { hookCommand } from '../../src/cli/setup/program/hook-command.ts';
import { otherUse, packageVersion } from '../../src/cli/setup/program/own-entry.ts';
import type { Surroundings } from '../../src/cli/setup/program/surroundings.ts';
import { newFolder } from '../support/process.ts';

/** A folder of the PATH as npm fills it on Windows. */
function npmFolder(): string {
  const folder = newFolder();
  for (const name of ['memory-bank', 'npx']) {
    // The first is for Git Bash, and no program for Windows.
    for (const ending of ['', '.cmd', '.ps1']) writeFileSync(join(folder, name + ending), '');
  }
  return folder;
}

function windows(env: Surroundings['env'] = {}): Surroundings {
  return { root: newFolder(), home: newFolder(), env, platform: 'win32' };
}

const npx = ['npx', '-y', `memory-bank@${packageVersion}`];

describe('on Windows', () => {
  it('a file of the user starts npx with a shell, and one of the project serves all systems', () => {
    const cached = 'C:\\Users\\Ada\\AppData\\Local\\npm-cache\\_npx\\a\\main.cjs';
    expect(clientPrograms(undefined, cached, 'win32')).toEqual({
      shared: npx,
      personal: ['cmd', '/c', ...npx],
    });
    expect(clientPrograms(undefined, cached, 'linux')).toEqual({ shared: npx, personal: npx });
    const main = 'C:\\Users\\Ada\\AppData\\Roaming\\npm\\node_modules\\memory-bank\\dist\\main.cjs';
    expect(clientPrograms(undefined, main, 'win32')).toEqual({
      shared: ['memory-bank'],
      personal: ['node', main],
    });
  });

  it.each([
    ['cmd', ['/c', ...npx]],
    ['cmd.exe', ['/d', '/s', '/c', 'memory-bank', '--toolsets', 'graph']],
    ['C:\\Windows\\System32\\cmd.exe', ['/C', 'memory-bank.cmd']],
    ['C:\\Users\\Ada\\AppData\\Roaming\\npm\\memory-bank.cmd', []],
  ])('the entry %s %j is ours', (command, args) => {
    expect(otherUse({ command, args }, ['memory-bank'], newFolder())).toBeUndefined();
  });

  it.each([
    ['cmd', ['/c', 'other', 'memory-bank'], 'starts "cmd other"'],
    ['cmd', ['/k', 'memory-bank'], 'starts "cmd"'],
  ])('the entry %s %j is not', (command, args, use) => {
    expect(otherUse({ command, args }, ['memory-bank'], newFolder())).toBe(use);
  });

  it('a hook needs no cmd before its program', () => {
    const command = hookCommand(['memory-bank'], 'prompt');
    expect(hookCommand(['cmd', '/c', 'memory-bank'], 'prompt')).toBe(command);
  });

  it('a program is found by the endings of Windows', () => {
    const PATH = npmFolder();
    const found = join(PATH, 'memory-bank.cmd');
    expect(findOnPath('memory-bank', { env: { PATH }, platform: 'win32' })).toBe(found);
    expect(findOnPath('memory-bank.cmd', { env: { Path: PATH }, platform: 'win32' })).toBe(found);
    const around = windows({ PATH });
    for (const entry of [
      { command: 'memory-bank', args: [] },
      { command: 'memory-bank.cmd', args: ['--toolsets', 'graph'] },
      { command: 'cmd', args: ['/c', 'memory-bank'] },
    ]) {
      expect(startOfEntry(entry, around, false)).toMatchObject({ process: { command: found } });
    }
    const other = { command: 'cmd', args: ['/c', 'npx', 'other'] };
    expect(() => startOfEntry(other, around, false)).toThrow(NotStarted);
  });

  it('the files of the user are in the folders of Windows', async () => {
    const APPDATA = newFolder();
    const around = windows({ APPDATA });
    const cline = ['Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev'];
    const settings = [...cline, 'settings', 'cline_mcp_settings.json'];
    const pathOf = (name: string, where: Surroundings) => {
      const client = clients[name];
      if (!client) throw new Error(`There is no client ${name}.`);
      return configPath(client, where);
    };
    expect(pathOf('cline', around)).toBe(join(APPDATA, ...settings));
    const usual = windows({ APPDATA: '' });
    const roaming = ['AppData', 'Roaming', ...settings];
    expect(pathOf('cline', usual)).toBe(join(usual.home, ...roaming));
    expect(pathOf('codex', around)).toBe(join(around.home, '.codex', 'config.toml'));
    const main = 'C:\\a b\\dist\\main.cjs';
    const { edits } = await planSetup({
      names: ['cline', 'codex'],
      hooks: false,
      instructions: [],
      programs: clientPrograms(undefined, main, 'win32'),
      server: { options: [], profile: 'agent' },
      around,
      mayReplace: async () => false,
    });
    // A path with a blank and backslashes survives JSON and TOML.
    for (const { after } of edits) expect(after).toContain('C:\\\\a b\\\\dist\\\\main.cjs');
    expect(edits).toHaveLength(2);
  });
});
