import { setTimeout as sleep } from 'node:timers/promises';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';
import type { Repo } from '../support/repo.ts';
import { Times } from './figures.ts';
import { entry, placeOf } from './knowledge.ts';
import { NativeGit, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Measures concurrent writers: several servers, with and without a user of native git. */

const processes = 4;
const each = 25;
/** Time between two commits of the user, in milliseconds. */
const pace = 1000;

/** Runs writers concurrently, each on its own records, and counts the results. */
async function race(
  name: string,
  repo: Repo,
  writers: readonly ((value: KnowledgeEntry, path: string) => Promise<unknown>)[],
  withUser: boolean,
): Promise<string[]> {
  const times = new Times();
  const acknowledged: string[] = [];
  let over = false;
  const work = writers.map(async (write, w) => {
    for (let i = 0; i < each; i++) {
      const value = entry(w * each + i, 'By one of several');
      const path = placeOf(0, value);
      try {
        await times.measure(() => write(value, path));
        acknowledged.push(path);
      } catch {
        // An error was reported; the change must not count.
      }
    }
  });
  const own = withUser ? byHand(repo, () => over) : Promise.resolve([]);
  await Promise.all(work);
  over = true;
  const files = new Set(repo.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n'));
  const kept = (paths: readonly string[]) =>
    `${paths.filter((path) => files.has(path)).length} of ${paths.length}`;
  const row = [name, String(acknowledged.length), kept(acknowledged), kept(await own), times.text];
  console.log(row.join(' | '), repo.fsck());
  return row;
}

/** Commits files with native git until the race is over, and returns their paths. */
async function byHand(repo: Repo, over: () => boolean): Promise<string[]> {
  const git = new NativeGit(repo, 'relaxed');
  const committed: string[] = [];
  for (let i = 0; !over(); i++) {
    const path = `by-hand-${i}.txt`;
    try {
      await git.commit(path, 'text');
      committed.push(path);
    } catch {
      // Git reports the lock of another process and asks the user to retry.
    }
    await sleep(pace);
  }
  git.close();
  return committed;
}

async function servers(withUser: boolean): Promise<string[]> {
  const repo = project();
  const starts = Array.from({ length: processes }, () => ServerProcess.start(repo.root));
  const all = await Promise.all(starts);
  const writers = all.map((server) => ({ created_at, updated_at, ...given }: KnowledgeEntry) => {
    return server.call('memory_write', given);
  });
  const name = `${processes} servers${withUser ? ', and a user' : ''}`;
  const row = await race(name, repo, writers, withUser);
  await Promise.all(all.map((server) => server.end()));
  repo.remove();
  return row;
}

async function natives(): Promise<string[]> {
  const repo = project();
  const shells = Array.from({ length: processes }, () => new NativeGit(repo, 'full'));
  const writers = shells.map((git) => (value: KnowledgeEntry, path: string) => {
    return git.commit(path, entryRecord.codec.encode(value));
  });
  const row = await race(`${processes} × native git`, repo, writers, false);
  for (const git of shells) git.close();
  repo.remove();
  return row;
}

const rows = [await servers(false), await servers(true), await natives()];

report('parallel', 'Concurrent writers', [
  `${processes} writers make ${each} mutations each in one repository, with fully durable commits. The user commits a file of their own every ${pace / 1000} s. Times are median / 95th percentile, in milliseconds.`,
  table(['', 'acknowledged', 'in HEAD', "the user's commits in HEAD", 'ms'], rows),
]);
