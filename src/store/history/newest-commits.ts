import type { LogEntry, NewestCommits } from '../../core/memory/commit-log.ts';
import type { Confirmed } from '../../core/memory/store.ts';
import { monotonicTime } from '../../core/timing/clock.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { confirmationsIn } from '../records/message.ts';
import { type PathChange, pacer, pathChanges } from './change-index.ts';
import { pairMoves } from './comparison.ts';
import type { HistoryReader } from './history-reader.ts';
import { confirmedChanges } from './log-walk.ts';

/** Limit of the commits that are looked at; most commits of some projects leave the memory as it is. */
const maxLooked = 2_000;
/** The time after which the walk ends with what it has found, in milliseconds. */
const maxTime = 300;

interface Waiting {
  readonly oid: Oid;
  readonly time: number;
  readonly parents: readonly Oid[];
  readonly confirms: readonly Confirmed[];
}

/**
 * Lists the newest commits of the memory without an index, which takes a minute to build for a long
 * history.
 */
export async function newestCommits(
  reader: HistoryReader,
  head: Oid,
  limit: number,
): Promise<NewestCommits> {
  const pause = pacer(reader.rights.signal);
  const began = monotonicTime();
  const { odb } = reader.history.repository;
  const entries: LogEntry[] = [];
  let shallow = false;
  const seen = new Set<Oid>([head]);
  // The newest is last, so that it is cheap to take.
  const waiting: Waiting[] = [];
  const add = (oid: Oid) => {
    const { committer, parents, message } = parseCommit(odb.content(oid, 'commit'));
    // Before those of the same second, so that a parent comes after all its children.
    const at = waiting.findIndex(({ time }) => time >= committer.seconds);
    const confirms = confirmationsIn(message);
    const commit = { oid, time: committer.seconds, parents, confirms };
    waiting.splice(at < 0 ? waiting.length : at, 0, commit);
  };
  add(head);
  for (let looked = 0; looked < maxLooked; looked++) {
    if (entries.length >= limit || monotonicTime() - began > maxTime) break;
    const commit = waiting.pop();
    if (!commit) break;
    if (reader.history.endsAt(commit.oid)) {
      shallow = true;
      continue;
    }
    for (const parent of commit.parents) {
      if (!seen.has(parent)) add(parent);
      seen.add(parent);
    }
    const changes = ownChanges(reader, commit).filter(({ path }) => reader.mayRead(path));
    const confirmed = confirmedChanges(commit.confirms, (path) => reader.mayRead(path));
    if (changes.length + confirmed.length > 0) {
      entries.push({
        commit: await reader.describe(commit.oid),
        changes: [...pairMoves(changes, reader.versions).map(({ change }) => change), ...confirmed],
      });
    }
    await pause();
  }
  return { entries, total: entries.length, shallow, isPart: waiting.length > 0 };
}

/** The changes in which a commit differs from every parent; all its changes unless it is a merge. */
function ownChanges({ history }: HistoryReader, { oid, parents }: Waiting): PathChange[] {
  const { odb } = history.repository;
  const now = history.tree(oid);
  const [first, ...others] = parents.map((parent) => history.tree(parent));
  const changes = pathChanges(odb, first, now);
  if (changes.length === 0 || others.length === 0) return changes;
  const elsewhere = others.map(
    (tree) => new Set(pathChanges(odb, tree, now).map(({ path }) => path)),
  );
  return changes.filter(({ path }) => elsewhere.every((paths) => paths.has(path)));
}
