import { Sections } from '../../core/markdown/section-statements.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { reachableCommits } from '../../git/refs/reachability.ts';
import { pathChanges } from '../history/change-index.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { isSame, mergeFile } from '../merge/merge-file.ts';
import { proposedBy, type SquashedCommit } from '../records/message.ts';

/** A line of history with proposed changes. */
export interface ProposedLine {
  /** The name of the review or branch. */
  readonly name: string;
  readonly tip: Oid;
  /** The last commit that it has in common with the memory; undefined without one. */
  readonly base: Oid | undefined;
  /** A commit whose history is the memory: the commits of the line are those that it does not have. */
  readonly known: Oid | undefined;
}

/** A file of a part of the changes of a line. */
export interface PartFile {
  /** Relative to the memory. */
  readonly path: string;
  /** Undefined for a removed record. */
  readonly blob: Oid | undefined;
  /** The sections of the record that belong to the part; undefined for the whole record. */
  readonly sections: ReadonlySet<string> | undefined;
}

/** The commits that only a line has, oldest first, without merges. */
export function proposedCommits(
  reader: HistoryReader,
  { name, tip, known }: Omit<ProposedLine, 'base'>,
): SquashedCommit[] {
  const { odb } = reader.history.repository;
  return [...reachableCommits(odb, known, [{ name, oid: tip }]).keys()]
    .map((oid) => ({ oid, commit: parseCommit(odb.content(oid, 'commit')) }))
    .filter(({ commit }) => commit.parents.length < 2)
    .reverse();
}

/** The origin of accepted changes, in the words of a commit. */
export function acceptanceOf({
  name,
  tip,
  records,
  comment,
  commits,
}: {
  readonly name: string;
  readonly tip: Oid;
  /** Undefined for all changes. */
  readonly records?: readonly string[];
  readonly comment?: string | undefined;
  readonly commits: readonly SquashedCommit[];
}) {
  const { reason, ...by } = proposedBy(commits);
  const [only = '', ...others] = records ?? [];
  const what = others.length > 0 ? `${others.length + 1} records of ` : only && `${only} of `;
  const why = {
    subject: `accept ${what}${name}`,
    ...(reason !== undefined && { reason }),
    trailers: { Reviewed: tip, ...(comment !== undefined && { Comment: comment }) },
  };
  return { name, why, by };
}

/** The commits of a line that made the changes of some files, oldest first. */
export function contributions(
  reader: HistoryReader,
  { base, tip, known, name }: ProposedLine,
  files: ReadonlyMap<string, PartFile>,
): SquashedCommit[] {
  const { odb } = reader.history.repository;
  const own = proposedCommits(reader, { name, tip, known });
  const since = new Map<PartFile, readonly SquashedCommit[]>();
  for (const one of own) {
    const [parent] = one.commit.parents;
    const before = parent === undefined ? undefined : reader.history.tree(parent);
    for (const { path } of pathChanges(odb, before, reader.history.tree(one.oid))) {
      const file = files.get(path);
      if (!file) continue;
      const state = stateOf(reader, one.oid, file);
      if (state === stateOf(reader, parent, file)) continue;
      if (!file.sections && isPartOfBase(reader, { base, parent, commit: one.oid, path })) continue;
      // A change that was taken back, or is a part of the base, does not count.
      const isBack = state === stateOf(reader, base, file);
      since.set(file, isBack ? [] : [...(since.get(file) ?? []), one]);
    }
  }
  const found = new Set([...since.values()].flat());
  return own.filter((one) => found.has(one));
}

/** Whether the base of a line already has what a commit of the line changes in a record. */
function isPartOfBase(
  reader: HistoryReader,
  at: { base: Oid | undefined; parent: Oid | undefined; commit: Oid; path: string },
): boolean {
  const { odb } = reader.history.repository;
  const bytesAt = (commit: Oid | undefined) => {
    const blob = commit && blobAt(reader, commit, at.path);
    return blob ? odb.content(blob, 'blob') : undefined;
  };
  const sides = { base: bytesAt(at.parent), ours: bytesAt(at.base), theirs: bytesAt(at.commit) };
  if (isSame(sides.ours, sides.base)) return false;
  const { bytes, conflict } = mergeFile(reader.history.memory.types, at.path, sides, 7);
  return !conflict && isSame(bytes, sides.ours);
}

/** The state of a file or its sections in a commit, for a comparison. */
function stateOf(
  reader: HistoryReader,
  commit: Oid | undefined,
  { path, sections }: PartFile,
): string | undefined {
  if (commit === undefined) return undefined;
  if (!sections) return blobAt(reader, commit, path);
  const text = textAt(reader, commit, path) ?? '';
  const all = new Sections(path, text);
  return [...sections]
    .map((name) => {
      const section = all.find(name);
      return section ? text.slice(section.start, section.end).trimEnd() : '';
    })
    .join('\0');
}

function blobAt(reader: HistoryReader, commit: Oid, path: string): Oid | undefined {
  return reader.history.blob(commit, path);
}

/** The text of a record in a commit. */
export function textAt(
  reader: HistoryReader,
  commit: Oid | undefined,
  path: string,
): string | undefined {
  const blob = commit && blobAt(reader, commit, path);
  return blob && reader.versions.text(path, blob);
}
