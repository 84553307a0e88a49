import type { Annotations } from '../../core/evidence/annotations.ts';
import { isOfAgent, isOfPerson } from '../../core/memory/author-name.ts';
import { type CommitInfo, isOfVerify, isVerification } from '../../core/memory/commit-log.ts';
import type { History } from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';

/** Limit of the commits that are read. */
const maxCommits = 100_000;
const pageSize = 1000;

/** The commits that wrote and confirmed a record. */
export interface RecordCommits {
  /** The last one that changed what it says. */
  readonly written?: CommitInfo;
  /** The last verification, and the last acceptance by a person. */
  readonly confirmed: readonly CommitInfo[];
}

/** Reads the commits of all records in one pass; a repository without history has none. */
export async function commitsByPath(history: History): Promise<ReadonlyMap<string, RecordCommits>> {
  const found = new Map<string, { written?: CommitInfo; confirmed: CommitInfo[] }>();
  try {
    for (let skip = 0; skip < maxCommits; skip += pageSize) {
      const { entries, total } = await history.log({ revision: 'HEAD', limit: pageSize, skip });
      for (const { commit, changes } of entries) {
        for (const { change, path } of changes) {
          const known = found.get(path) ?? { confirmed: [] };
          found.set(path, known);
          if (known.written) continue;
          if (change === 'confirmed') {
            // By a person, as an acceptance.
            known.confirmed.push({ ...commit, isAcceptance: true });
            continue;
          }
          if (commit.isAcceptance || verifies(commit, path)) known.confirmed.push(commit);
          // It leaves what a record says as it was.
          if (!isOfVerify(commit)) known.written = commit;
        }
      }
      if (total <= skip + pageSize) break;
    }
  } catch (error) {
    // Records can be exported where git has no commit yet.
    if (!(error instanceof MemoryError) || error.code === 'cancelled') throw error;
  }
  return found;
}

/** Whether a commit verifies a record or a section of it, and does not only mark it as superseded. */
function verifies(commit: CommitInfo, path: string): boolean {
  if (!isVerification(commit)) return false;
  const { subject } = commit;
  const whole = `memory: verify ${path}`;
  // A long subject is cut off.
  const said = subject.replace(/\s*…$/, '');
  return (
    said === whole || said.startsWith(`${whole}#`) || (said !== subject && whole.startsWith(said))
  );
}

/** The keys of a concept file about its origin, its confirmation and its end. */
export function trustKeys(
  { verified, expires, supersededBy, status }: Annotations,
  { written, confirmed }: RecordCommits,
): JsonObject {
  const last = confirmed.find(({ isAcceptance }) => !isAcceptance);
  // A record says itself when it was verified and by which client; the commit, by which person.
  const { by = 'process:memory-bank', at } = verified ?? {};
  const own = at !== undefined && { by: last && isOfPerson(by) ? personOf(last) : by, at };
  const events = [
    ...(own ? [own] : []),
    ...confirmed.flatMap((commit) => {
      if (!commit.isAcceptance && verified) return [];
      return [{ by: commit.isAcceptance ? personOf(commit) : actorOf(commit), at: commit.at }];
    }),
  ];
  const state = supersededBy !== undefined ? 'deprecated' : status === 'open question' && 'draft';
  return {
    ...(written && { generated: { by: actorOf(written), at: written.at } }),
    ...(events.length > 0 && { verified: events }),
    ...(state && { status: state }),
    ...(expires !== undefined && { stale_after: dayAfter(expires) }),
  };
}

function actorOf(commit: CommitInfo): string {
  return isOfAgent(commit.agent) ? commit.agent : personOf(commit);
}

function personOf({ author }: CommitInfo): string {
  return `human:${author.replace(/ <[^>]*>$/, '')}`;
}

/** The instant after a day: `2026-02-01T00:00:00Z`. */
function dayAfter(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + 1);
  return date.toISOString().replace('.000Z', 'Z');
}
