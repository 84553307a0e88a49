import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** A user whom modes of files concern, unlike root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const posix = process.platform === 'win32' ? test.skip : deep;

posix(
  'a home directory without permission stops no change, and hides only the clients in it',
  () => {
    const repo = Repo.create();
    const home = newFolder();
    repo.write('.kiro/steering/mine.md', 'Mine\n');
    if ('uid' in nobody) {
      spawnSync('chown', ['-R', `${nobody.uid}:${nobody.gid}`, repo.root]);
      chmodSync(repo.root, 0o755);
    }
    chmodSync(home, 0);
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [main, ...args], {
        ...nobody,
        cwd: repo.root,
        env: { PATH: process.env.PATH, HOME: home, MEMORY_BANK_DURABILITY: 'relaxed' },
        encoding: 'utf8',
      });
    const command = `${process.execPath} ${main}`;
    const both = run('init', '--clients', 'codex,kiro', '--command', command, '--yes');
    // Codex cannot be set up, which the status says; the rest is done.
    expect(both).toMatchObject({ status: 6, stderr: '' });
    expect(both.stdout).toMatch(
      /config\.toml is left alone: it cannot be reached: permission denied/,
    );
    expect(both.stdout).toMatch(/^Kiro: the server in .* \(added\)/m);
    expect(repo.read('.kiro/settings/mcp.json')).toContain('memory-bank');
    expect(run('init', '--yes', '--command', command)).toMatchObject({ status: 0, stderr: '' });
    const { stdout, stderr, status } = run('doctor');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    expect(stdout).toMatch(
      /^note +Codex +.*config\.toml: it cannot be reached: permission denied$/m,
    );
    expect(stdout).toMatch(/^ok +Kiro .* starts the server$/m);
    const logged = run('log-decision', '--title', 'T', '--context', 'C', '--decision', 'D');
    expect(logged).toMatchObject({ status: 0, stderr: '' });
    expect(run('init', '--undo', '--yes')).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(repo.path('.kiro/settings'))).toBe(false);
    expect(readFileSync(join(repo.root, '.memory-bank/decisionLog.md'), 'utf8')).toContain('T');
    chmodSync(home, 0o700);
  },
);
