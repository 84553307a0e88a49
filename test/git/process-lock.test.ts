import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { MemoryError } from '../../src/core/values/error.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import { ProcessLock } from '../../src/git/locks/process-lock.ts';
import { isDead, newToken, type ProcessToken } from '../../src/git/locks/token.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles, logLine } from '../support/fault-files.ts';
import { newFolder } from '../support/process.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A pid that no process has. */
const nobody = 2 ** 22 + 1;

function lock(files = new FaultFiles()): ProcessLock {
  return new ProcessLock(new Disk(files, 'relaxed'), folder);
}

/** Makes another process hold the lock. */
function hold(token: ProcessToken): void {
  const own = join(folder, `owner-${token.id}`);
  writeFileSync(own, `${JSON.stringify(token)}\n`);
  rmSync(join(folder, 'lock'), { force: true });
  linkSync(own, join(folder, 'lock'));
}

const holder = () => JSON.parse(readFileSync(join(folder, 'lock'), 'utf8')).id;

describe('the lock of a process', () => {
  test('that is alive is never taken, however long it is held', async () => {
    const token = newToken();
    hold(token);
    await expect(lock().take({ limit: 30 })).rejects.toMatchObject({ code: 'busy' });
    expect(holder()).toBe(token.id);
    expect(readdirSync(folder).sort()).toEqual(['lock', `owner-${token.id}`]);
  });

  test('that is released during the attempt of another is taken by its next attempt', async () => {
    let released = false;
    const files = new FaultFiles();
    const { link } = files;
    const token = newToken();
    hold(token);
    files.link = (target, path) => {
      try {
        link.call(files, target, path);
      } finally {
        if (!released && path.endsWith('lock')) rmSync(join(folder, 'lock'));
        released ||= path.endsWith('lock');
      }
    };
    const taken = await lock(files).take({ limit: 1_000 });
    expect(released).toBe(true);
    expect(holder()).toBe(taken.id);
  });

  test('that died with the lock on a disk without hard links has left it behind', () => {
    const token = { ...newToken(), pid: nobody };
    mkdirSync(join(folder, 'lock'));
    for (const name of ['lock/holder', `owner-${token.id}`]) {
      writeFileSync(join(folder, name), `${JSON.stringify(token)}\n`);
    }
    const left = lock().leftovers().get(token.id) ?? [];
    expect([...left].sort()).toEqual(['lock', `owner-${token.id}`]);
    expect(lock().isAtRest('lock')).toBe(false);
  });

  test('that waits for git is reported so, and no message advises to remove a lock', async () => {
    const token = newToken();
    hold(token);
    const refused = async () => {
      const error = await lock()
        .take({ limit: 0 })
        .catch((thrown: MemoryError) => thrown);
      return 'text' in error ? error.text : '';
    };
    expect(await refused()).toMatch(/locked by the memory-bank process \d+/);
    const proof = join(folder, `index-${token.id}`);
    writeFileSync(proof, '');
    expect(await refused()).toMatch(
      /^Another git process holds its lock of the index; .*"git commit"/,
    );
    expect(await refused()).not.toContain('emove');
    linkSync(proof, join(folder, 'index.lock'));
    expect(await refused()).toMatch(/locked by the memory-bank process \d+/);
    expect(await refused()).not.toContain('emove');
  });

  test('that is dead is taken, also if another process has its pid', async () => {
    // Only Linux reports when a process started. Elsewhere the lock waits for the other process or a restart.
    const reused = process.platform === 'linux' ? [{ start: '1' }] : [];
    for (const gone of [{ pid: nobody }, ...reused]) {
      hold({ ...newToken(), ...gone });
      const one = lock();
      const token = await one.take({ limit: 1000 });
      expect(holder()).toBe(token.id);
      one.release(token);
    }
  });

  test('in another container is never taken', async () => {
    hold({ ...newToken(), pid: nobody, namespace: 'pid:[1]' });
    await expect(lock().take({ limit: 30 })).rejects.toMatchObject({ code: 'busy' });
  });

  test('in another container keeps its file for a day', async () => {
    const token = { ...newToken(), pid: nobody, namespace: 'pid:[1]' };
    const own = join(folder, `owner-${token.id}`);
    writeFileSync(own, `${JSON.stringify(token)}\n`);
    expect([...lock().leftovers()]).toEqual([]);
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    utimesSync(own, yesterday, yesterday);
    expect([...lock().leftovers()]).toEqual([[token.id, [`owner-${token.id}`]]]);
    linkSync(own, join(folder, `waiting-${token.id}`));
    expect([...lock().leftovers().keys()]).toEqual([token.id]);
    const journal = join(folder, `journal-${token.id}`);
    writeFileSync(journal, '');
    expect([...lock().leftovers()]).toEqual([]);
    utimesSync(journal, yesterday, yesterday);
    expect([...lock().leftovers().keys()]).toEqual([token.id]);
    writeFileSync(journal, '{}\n');
    utimesSync(journal, yesterday, yesterday);
    expect([...lock().leftovers()]).toEqual([]);
  });

  deep('is released for waiters, also if its holder has more work', async () => {
    const [busy, other] = [lock(), lock()];
    let turns = 0;
    let over = false;
    const work = (async () => {
      for (; !over && turns < 40; turns++) {
        const token = await busy.take({ limit: 10_000 });
        await sleep(100);
        busy.release(token);
      }
    })();
    await vi.waitUntil(() => turns > 0);
    const token = await other.take({ limit: 10_000 });
    over = true;
    // A waiter that polls so rarely would find the lock free only by chance.
    expect(turns).toBeLessThan(10);
    expect(readdirSync(folder).filter((name) => name.endsWith(token.id))).toEqual([
      `owner-${token.id}`,
    ]);
    other.release(token);
    await work;
    expect(readdirSync(folder).filter((name) => name.startsWith('waiting-'))).toEqual([]);
  });

  test('whose own file was removed creates it again', async () => {
    const one = lock();
    one.release(await one.take({ limit: 1000 }));
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const { id } = await one.take({ limit: 1000 });
    expect(readdirSync(folder).sort()).toEqual(['lock', `owner-${id}`]);
  });

  test('that cannot be read is never taken', async () => {
    writeFileSync(join(folder, 'lock'), 'text');
    await expect(lock().take({ limit: 30 })).rejects.toMatchObject({ code: 'busy' });
    expect(readFileSync(join(folder, 'lock'), 'utf8')).toBe('text');
  });

  test('that replaces a dead one during our check is kept', async () => {
    const dead = { ...newToken(), pid: nobody };
    const next = newToken();
    hold(dead);
    const files = new FaultFiles();
    // Our file is created after the lock was found to be that of a dead process.
    files.plan = () => {
      if (files.log.at(-1) === logLine('link', join(folder, `break-${dead.id}`))) hold(next);
      return undefined;
    };
    await expect(lock(files).take({ limit: 30 })).rejects.toMatchObject({ code: 'busy' });
    expect(holder()).toBe(next.id);
  });
});

describe('a holder of an earlier boot', () => {
  const earlier = { ...newToken(), boot: 'earlier' };

  test.skipIf(process.platform !== 'linux')('is dead if only one kernel can use the disk', () => {
    expect(isDead(earlier, true)).toBe(true);
  });

  test('may be alive on another host that shares it', () => {
    expect(isDead(earlier, false)).toBe(false);
  });

  test('is dead without a boot id if the host has run for less time, though its pid is taken', () => {
    const host = { boot: 'host', namespace: '' };
    const token = { ...newToken(), ...host, start: '', uptime: 100 };
    expect(isDead(token, false, { ...host, uptime: 99 })).toBe(true);
    expect(isDead(token, false, { ...host, uptime: 100 })).toBe(false);
    expect(isDead({ ...token, boot: 'other' }, false, { ...host, uptime: 99 })).toBe(false);
  });
});

describe('a released lock', () => {
  const limit = 1000;

  test('is not held any longer', async () => {
    const one = lock();
    one.release(await one.take({ limit }));
    one.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is taken again with the same token', async () => {
    const one = lock();
    const first = await one.take({ limit });
    one.release(first);
    expect(readdirSync(folder)).toEqual([`owner-${first.id}`]);
    expect((await one.take({ limit })).id).toBe(first.id);
    writeFileSync(join(folder, `journal-${first.id}`), '');
    one.release(first);
    expect(readdirSync(folder).sort()).toEqual([`journal-${first.id}`, `owner-${first.id}`]);
    one.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is taken with another token if files were left behind', async () => {
    const one = lock();
    const first = await one.take({ limit });
    writeFileSync(join(folder, `journal-${first.id}`), '{}\n');
    one.release(first);
    expect(readdirSync(folder)).toEqual([`journal-${first.id}`]);
    expect([...lock().leftovers()]).toEqual([[first.id, [`journal-${first.id}`]]]);
    expect((await one.take({ limit })).id).not.toBe(first.id);
  });

  test('is no longer held if its own file cannot be removed', async () => {
    const files = new FaultFiles();
    const one = lock(files);
    const first = await one.take({ limit });
    writeFileSync(join(folder, `journal-${first.id}`), '{}\n');
    files.plan = () => {
      const failing = files.log.at(-1) === logLine('unlink', join(folder, `owner-${first.id}`));
      return failing ? { kind: 'error', code: 'EIO' } : undefined;
    };
    one.release(first);
    expect(readdirSync(folder)).not.toContain('lock');
    expect([...one.leftovers().keys()]).toEqual([first.id]);
  });
});
