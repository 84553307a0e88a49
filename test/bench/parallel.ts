import { setTimeout as sleep } from 'node:timers/promises';
import { entryRecord, type KnowledgeEntry } from '../../src/toolsets/knowledge/entry.ts';
import type { Repo } from '../support/repo.ts';
import { Times } from './figures.ts';
import { entry, placeOf } from './knowledge.ts';
import { NativeGit, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Several writers at once: servers beside each other and beside a person with native git. */

const processes = 4;
const each = 25;
/** How long the person takes between two commits, in milliseconds. */
const pace = 1000;

/** Lets writers work side by side, each on its own records, and says what became of them. */
async function race(
  name: string,
  repo: Repo,
  writers: readonly ((value: KnowledgeEntry, path: string) => Promise<unknown>)[],
  person: boolean,
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
        // It was told that it failed; there is nothing to find later.
      }
    }
  });
  const own = person ? byHand(repo, () => over) : Promise.resolve([]);
  await Promise.all(work);
  over = true;
  const files = new Set(repo.git('ls-tree', '-r', '--name-only', 'HEAD').split('\n'));
  const kept = (paths: readonly string[]) =>
    `${paths.filter((path) => files.has(path)).length} of ${paths.length}`;
  const row = [name, String(acknowledged.length), kept(acknowledged), kept(await own), times.text];
  console.log(row.join(' | '), repo.fsck());
  return row;
}

/** The files that a person commits by native git until the race is over, one after the other. */
async function byHand(repo: Repo, over: () => boolean): Promise<string[]> {
  const git = new NativeGit(repo, 'relaxed');
  const committed: string[] = [];
  for (let i = 0; !over(); i++) {
    const path = `by-hand-${i}.txt`;
    try {
      await git.commit(path, 'text');
      committed.push(path);
    } catch {
      // Git names the lock of another and asks to try again.
    }
    await sleep(pace);
  }
  git.close();
  return committed;
}

async function servers(person: boolean): Promise<string[]> {
  const repo = project();
  const starts = Array.from({ length: processes }, () => ServerProcess.start(repo.root));
  const all = await Promise.all(starts);
  const writers = all.map((server) => ({ created_at, updated_at, ...given }: KnowledgeEntry) => {
    return server.call('memory_write', given);
  });
  const name = `${processes} servers${person ? ', and a person' : ''}`;
  const row = await race(name, repo, writers, person);
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

report('parallel', 'Several writers at once', [
  `${processes} writers with ${each} mutations each and fully durable commits, in one repository; the person commits a file of his own every ${pace / 1000} s. Times are median / 95th percentile in milliseconds.`,
  table(['', 'acknowledged', 'of these in HEAD', "of the person's commits", 'ms'], rows),
]);
