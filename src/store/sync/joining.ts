import {
  type Conflict,
  type Decisions,
  MergeConflict,
  shownValue,
} from '../../core/memory/conflict.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { FileChange } from '../../git/commit/commit-plan.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { type Oid, objectId } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import type { TreeDifference } from '../../git/objects/tree.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { entryAt, outsideOf } from '../history/last-change.ts';
import { checkLineFormat } from '../history/line-format.ts';
import type { StoredChange } from '../layout/entry-logs.ts';
import { isStoredApart, logOfEntry } from '../layout/log-paths.ts';
import { isSame } from '../merge/merge-file.ts';
import { maxFileBytes } from '../records/record-file.ts';
import { forbidden } from '../records/record-reader.ts';
import { Decided } from './decided.ts';
import { inMergedLayout, logSides, toStored } from './merged-layout.ts';
import { checkPlain, checkUnconverted } from './outside.ts';
import { checkSizes, maxBrought } from './size-check.ts';
import { checkTwins } from './twin-check.ts';

/** Limit of paths that an error names. */
const maxNamed = 10;

/** Two lines of history to merge. */
export interface JoiningHistories {
  /** The last common commit; undefined for changes without one, which are additions. */
  readonly base: Oid | undefined;
  readonly head: Oid;
  readonly tip: Oid;
  /** The name of the other side. */
  readonly name: string;
}

/** The changes that the other line of history brings. */
export interface Brought {
  readonly changes: readonly FileChange[];
  /** The changed files of the memory, relative to `.memory-bank/`. */
  readonly records: readonly string[];
  /** The number of changed files outside the memory. */
  readonly files: number;
}

/**
 * Plans the changes that merge another line of history into HEAD.
 *
 * Files of the memory that both lines changed are merged; uncommitted edits count as ours. Files outside
 * the memory are taken from the other line, if only that line changed any.
 *
 * @throws MemoryError `conflict`, `unsupported`, `forbidden`, `too_large`, `already_exists`.
 */
export function bringIn(
  { history: { memory, repository }, access }: HistoryReader,
  lines: JoiningHistories,
  decisions: Decisions,
): Brought {
  const { odb, work } = repository;
  const folder = memory.inTree('');
  // A line that continues ours is taken as it is.
  if (lines.base !== lines.head) checkLineFormat(odb, lines.tip, folder);
  const before = lines.base === undefined ? undefined : treeOf(odb, lines.base);
  const all = [...differences(odb, before, treeOf(odb, lines.tip))];
  const inside = all.filter(({ path }) => path.startsWith(`${folder}/`));
  const outside = codeOf(odb, lines, folder, all);
  checkPlain([...inside, ...outside]);
  checkSizes(odb, [...inside, ...outside], folder);
  const paths = outside.map(({ path }) => path);
  checkUnconverted(odb, lines.tip, repository.config(), paths);
  const merged: FileChange[] = [];
  const decided = new Decided(memory.types, decisions);
  const conflicts: Conflict[] = [];
  const inLogs =
    lines.base === lines.head ? undefined : logSides(odb, folder, memory.storedFiles, lines);
  const files = inside.filter(
    ({ path }) => !inLogs || !isStoredApart(path.slice(folder.length + 1)),
  );
  for (const difference of files) {
    const { path, after } = difference;
    const record = path.slice(folder.length + 1);
    const seen = work.read(path, maxFileBytes);
    const sides = {
      base: contentOf(odb, difference.before),
      ours: seen,
      theirs: contentOf(odb, after),
    };
    const { bytes, conflict, notes, fields } = decided.merge(record, path, sides);
    const committed = entryAt(odb, lines.head, path)?.oid;
    const isKept =
      isSame(bytes, seen) && committed === (seen && objectId('blob', seen, odb.format));
    if (!isKept && !access.mayWrite(record)) throw forbidden('change', record, access);
    const shown = access.mayRead(record) ? fields : [];
    if (conflict) conflicts.push({ path: record, reasons: notes, fields: shown });
    else if (!isKept) merged.push({ path, bytes, seen, mode: after?.mode });
  }
  const edits: StoredChange[] = [];
  for (const [record, sides] of inLogs ?? []) {
    const { bytes, conflict, notes, fields } = decided.merge(record, `${folder}/${record}`, sides);
    if (isSame(bytes, sides.ours)) continue;
    if (!access.mayWrite(record)) throw forbidden('change', record, access);
    const shown = access.mayRead(record) ? fields : [];
    if (conflict) conflicts.push({ path: record, reasons: notes, fields: shown });
    const [before, after] = [sides.ours, bytes].map((one) => one?.toString('utf8'));
    edits.push({ path: record, before, after });
  }
  decided.checkState();
  if (conflicts.length > 0) throw inConflict(conflicts, decided.state, lines.name);
  // A line that continues ours has one layout.
  const changes =
    lines.base === lines.head
      ? merged
      : inMergedLayout(work, folder, memory.storedFiles, [
          ...merged,
          ...toStored(work, folder, memory.storedFiles, edits),
        ]);
  checkTwins(work, changes);
  const names = changes.map(({ path }) => path.slice(folder.length + 1));
  const records = [
    ...new Set(names.map((path) => (memory.settings.hasEntryFiles && logOfEntry(path)) || path)),
  ];
  return {
    changes: [...changes, ...takeOver(repository, outside)],
    records,
    files: outside.length,
  };
}

/** The bytes of a tree entry; undefined without one. */
function contentOf(odb: ObjectDatabase, entry: TreeDifference['after']): Buffer | undefined {
  return entry && odb.content(entry.oid, 'blob');
}

/**
 * Lists the changes of the other line outside the memory.
 *
 * @throws MemoryError `conflict` if both lines changed files there.
 */
function codeOf(
  odb: ObjectDatabase,
  { base, head, tip }: JoiningHistories,
  folder: string,
  all: readonly TreeDifference[],
): TreeDifference[] {
  const outside = all.filter(({ path }) => !path.startsWith(`${folder}/`));
  const [there, here] = [outsideOf(odb, tip, folder), outsideOf(odb, head, folder)];
  if (outside.length === 0 || there === here) return [];
  if (base !== undefined && here === outsideOf(odb, base, folder)) return outside;
  const files = outside.slice(0, maxNamed).map(({ path }) => path);
  throw new MemoryError('conflict', 'Both sides changed files outside the memory.', {
    hint: `Only git can merge those: run "git pull", then sync again; resolve_conflicts merges records that it leaves in conflict. The upstream changed ${files.join(', ')}${outside.length > maxNamed ? ', …' : ''}. Nothing was changed.`,
    data: { files },
  });
}

function takeOver({ odb, work }: Repository, outside: readonly TreeDifference[]): FileChange[] {
  return outside.map(({ path, after }) => {
    const bytes = contentOf(odb, after);
    return { path, bytes, seen: work.read(path, maxBrought), mode: after?.mode, foreign: true };
  });
}

function inConflict(conflicts: readonly Conflict[], state: string, name: string): MergeConflict {
  const named = conflicts.slice(0, maxNamed).map(({ path, reasons, fields }) => {
    const values = fields.slice(0, maxNamed).map(({ field, ours, theirs }) => {
      return `${field} is ${shownValue(ours)} here and ${shownValue(theirs)} there`;
    });
    return `${path} (${[...reasons, ...values].join('; ')})`;
  });
  const more = conflicts.length > maxNamed ? ', …' : '';
  const [log] = conflicts.flatMap(({ path }) => logOfEntry(path) ?? []);
  const whole = log === undefined ? '' : ` "${log}" decides all its entries.`;
  return new MergeConflict(
    `Both sides changed ${named.join(', ')}${more}.`,
    { conflicts, state },
    {
      hint: `Name each path in \`ours\` or \`theirs\` to decide its conflicts for that side, or a single field of it, "path#field".${whole} diff_memory from HEAD to ${name} shows the differences. Or run "git pull", then resolve_conflicts. Nothing was changed.`,
      data: {
        state,
        conflicts: conflicts.map(({ path, reasons, fields }) => ({
          path,
          reasons: [...reasons],
          fields: fields.map(({ field }) => field),
        })),
      },
    },
  );
}
