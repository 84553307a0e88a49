import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { authorName } from '../../core/memory/author-name.ts';
import type { CommitInfo, LogEntry } from '../../core/memory/commit-log.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { CommitData, Entry, RecordReference } from '../page/answers.ts';
import type { KnownRecord } from './record-source.ts';

/** Maximum number of changes that one commit lists. */
const maxChanges = 50;

/** The state to answer from. */
export const at = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe('A commit, branch, tag or time; without it the present state');

/** A full commit id, of either object format. */
export const commitId = z.string().regex(/^(?:[0-9a-f]{64}|[0-9a-f]{40})$/);

/** A record, or a folder of records. */
export const path = z.string().min(1).max(1000).describe('Relative to .memory-bank/');

export const toolset = z.string().max(100).optional().describe('Only records of this toolset');
export const type = z.string().max(100).optional().describe('Only records of this type');

/** Returns the types of a kind of records. */
export function typesOf(
  types: readonly AnyRecordType[],
  { toolset, type }: { readonly [name in 'toolset' | 'type']?: string | undefined },
): readonly AnyRecordType[] {
  return types.filter(
    (one) => one.toolset === (toolset ?? one.toolset) && one.name === (type ?? one.name),
  );
}

export const skip = z.coerce.number().int().min(0).max(10_000_000).default(0);

/** Whether the index of the history, which has the last changes of records, is not complete yet. */
export async function isHistoryPart({ history }: Context, at = 'HEAD'): Promise<boolean> {
  try {
    return !(await history.isIndexed(at));
  } catch (error) {
    // A memory without a commit has no history.
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

/** Returns a commit without the address of its author, which no page needs. */
export function commitData({ author, isAcceptance: _, ...commit }: CommitInfo): CommitData {
  return { ...commit, author: author.replace(/ <[^<>]*>$/, '') };
}

/** Returns a commit with its first changes. */
export function entryData({ commit, changes }: LogEntry): Entry {
  const shown = changes.slice(0, maxChanges);
  return {
    commit: commitData(commit),
    changes: shown.map(({ fields, ...change }) => ({
      ...change,
      ...(fields && { fields: [...fields] }),
    })),
    more: changes.length - shown.length,
  };
}

export function referenceTo({ path, title, type }: KnownRecord): RecordReference {
  return { path, title, type: type.name };
}

/** Counts commits by the agent or person that made them, the most first. */
export function countMakers(commits: Iterable<CommitInfo>): { name: string; count: number }[] {
  const numbers = new Map<string, number>();
  for (const commit of commits) {
    const name = authorName(commit);
    numbers.set(name, (numbers.get(name) ?? 0) + 1);
  }
  return sortedAuthors(numbers);
}

/** Returns the numbers of commits of agents and persons, the most first. */
export function sortedAuthors(numbers: ReadonlyMap<string, number>) {
  return [...numbers]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
