import { MemoryError } from '../../core/values/error.ts';
import {
  composeDecisions,
  decisionsInLog,
  filedDecisions,
  splitDecisions,
} from './decision-entries.ts';
import { digestOf, type EntryFile, type LogFiles } from './entry-files.ts';
import {
  context,
  decisions,
  type EntryLog,
  entryFolders,
  isEntryPath,
  type LogPath,
  logAt,
  logsOf,
  progress,
} from './log-paths.ts';
import {
  composeContext,
  composeProgress,
  countItems,
  filedProgress,
  itemsInLog,
  splitContext,
  splitProgress,
  withNoteMarks,
  withNotesEnd,
} from './progress-entries.ts';

/** The stored files of a memory, as their layout has them. */
export interface StoredFiles {
  /** The text of a file; undefined if there is none. */
  text(path: string): string | undefined;
  /** The files of a folder and those below it, sorted by name. */
  entries(folder: string): readonly EntryFile[];
}

/** A change of a text; a missing file has none. */
export interface StoredChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const composers: Readonly<Record<LogPath, (files: StoredFiles) => string | undefined>> = {
  'decisionLog.md': (files) => composed(filesOf(files, decisions), composeDecisions),
  'progress.md': (files) => composed(filesOf(files, progress), composeProgress),
  'activeContext.md': (files) => {
    const own = files.text(context.path);
    return own === undefined ? undefined : composeContext(own, filesOf(files, progress));
  },
};

/** Returns the text of a log as its files have it. */
export function composeLog(files: StoredFiles, path: string): string | undefined {
  const log = logAt(path);
  return log && composers[log.path](files);
}

/**
 * Turns changes of logs into changes of the files that they are stored in. One that adds an entry also moves
 * those that a merge has left in the log.
 *
 * @param edits with the paths of records.
 * @param session names the file of new progress.
 * @throws MemoryError `invalid_input` for a change of an entry file itself.
 */
export function storedChanges(
  edits: readonly StoredChange[],
  files: StoredFiles,
  session: string,
): StoredChange[] {
  const left = new Set(entriesInLogs(files).map(({ path }) => path));
  const written = (
    { path }: EntryLog,
    before: LogFiles,
    split: (text: string, before: LogFiles) => LogFiles,
    move: (text: string, before: LogFiles) => LogFiles,
  ): LogFiles => {
    const edit = edits.find((one) => one.path === path);
    if (edit?.after === undefined) return edit ? { own: undefined, entries: [] } : before;
    return (left.has(path) && isAddition(edit) ? move : split)(edit.after, before);
  };
  const [decided, done] = [filesOf(files, decisions), filesOf(files, progress)];
  const nowDecided = written(decisions, decided, splitDecisions, filedDecisions);
  const shown = edits.find(({ path }) => path === context.path)?.after;
  const isNoted = shown !== undefined;
  const filed = written(
    progress,
    done,
    (...of) => splitProgress(...of, session, isNoted),
    (...of) => filedProgress(...of, session, isNoted),
  );
  const nowDone = isNoted ? withNoteMarks(filed, shown) : withNotesEnd(filed, done);
  const others = edits.flatMap((edit): StoredChange[] => {
    if (isEntryPath(edit.path)) throw isEntry(edit.path);
    if (edit.path === decisions.path) return changesOf(decisions, decided, nowDecided);
    if (edit.path === progress.path) return [];
    if (edit.path !== context.path || edit.after === undefined) return [edit];
    const before = files.text(context.path);
    const own = splitContext(edit.after, before, nowDone);
    return before === own ? [] : [{ path: context.path, before, after: own }];
  });
  // The entries also say which of them are session notes.
  const changes = [...others, ...changesOf(progress, done, nowDone)];
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether a change only adds a part to a text: then entries that a merge has left there can be moved. */
function isAddition({ before = '', after = '' }: StoredChange): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const rest = before.length - start;
  return rest <= after.length - start && after.endsWith(before.slice(start));
}

/** Numbers for a person who converts a memory. */
export interface Conversion {
  readonly changes: readonly StoredChange[];
  readonly decisions: number;
  /** The number of progress entries. */
  readonly progress: number;
}

/**
 * Turns the logs of a memory into entry files, and what a merge has left in logs of such a memory.
 *
 * @throws MemoryError `already_exists` if other files are in a folder of entries.
 */
export function toEntries(files: StoredFiles, isOn: boolean): Conversion {
  const others = isOn
    ? []
    : entryFolders.flatMap((folder) =>
        files.entries(folder).map(({ name }) => `${folder}/${name}`),
      );
  if (others.length > 0) throw isTaken(others);
  const older = olderNames.find(([name]) => files.text(name) !== undefined);
  if (older) throw isOlder(older[0], older[1]);
  const [before, done] = [filesOf(files, decisions), filesOf(files, progress)];
  const decided = filedDecisions(composeDecisions(before), before);
  const text = composeProgress(done);
  // The same entries have the same file on every branch that converts them.
  const filed = filedProgress(text, done, digestOf(text).slice(0, 8), true);
  const own = files.text(context.path);
  const made = isOn || own === undefined ? filed : withNoteMarks(filed, own);
  const rest = own === undefined ? undefined : splitContext(own, own, made, true);
  return {
    changes: [
      ...changesOf(decisions, before, kept(before, decided)),
      ...changesOf(progress, done, kept(done, made)),
      ...(own === rest ? [] : [{ path: context.path, before: own, after: rest }]),
    ],
    decisions: decided.entries.length,
    progress: made.entries.reduce((sum, file) => sum + countItems(file), 0),
  };
}

/** The entries that are in logs although entries have files: the lines where they begin, by log. */
export function entriesInLogs(
  files: StoredFiles,
): readonly { readonly path: string; readonly lines: readonly number[] }[] {
  return [
    { path: decisions.path, lines: decisionsInLog(files.text(decisions.path) ?? '') },
    { path: progress.path, lines: itemsInLog(files.text(progress.path) ?? '') },
  ].filter(({ lines }) => lines.length > 0);
}

/** A missing file stays missing without entries. */
function kept(before: LogFiles, after: LogFiles): LogFiles {
  return before.own === undefined && after.entries.length === 0 ? before : after;
}

/** Turns entry files into logs. */
export function toLogs(files: StoredFiles): Conversion {
  const sides = [decisions, progress].map((log) => {
    const before = filesOf(files, log);
    return { log, before, own: composeLog(files, log.path) };
  });
  const shown = composeLog(files, context.path);
  const own = files.text(context.path);
  return {
    changes: [
      ...sides.flatMap(({ log, before, own }) => changesOf(log, before, { own, entries: [] })),
      ...(own === shown ? [] : [{ path: context.path, before: own, after: shown }]),
    ],
    decisions: files.entries(decisions.folder).length,
    progress: files.entries(progress.folder).reduce((sum, file) => sum + countItems(file), 0),
  };
}

/** The logs by the names that older memories have. */
const olderNames = [
  ['decision-log.md', decisions.path],
  ['active-context.md', context.path],
] as const;

function isOlder(name: string, now: string): MemoryError {
  return new MemoryError('unsupported', `${name} has the name of older memories.`, {
    hint: `Rename it first: git mv ${name} ${now}, and commit. Nothing was changed.`,
    data: { path: name },
  });
}

function isTaken(paths: readonly string[]): MemoryError {
  return new MemoryError(
    'already_exists',
    `${paths.slice(0, 5).join(', ')} would be read as entries of a log.`,
    {
      hint: 'Move these files to another folder first. Nothing was changed.',
      data: { paths: paths.slice(0, 20) },
    },
  );
}

function changesOf(
  { path, folder }: Pick<EntryLog, 'path' | 'folder'>,
  before: LogFiles,
  after: LogFiles,
): StoredChange[] {
  const old = new Map(before.entries.map(({ name, text }) => [name, text]));
  const now = new Map(after.entries.map(({ name, text }) => [name, text]));
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changes = names.map((name) => ({
    path: `${folder}/${name}`,
    before: old.get(name),
    after: now.get(name),
  }));
  return [{ path, before: before.own, after: after.own }, ...changes].filter(
    (change) => change.before !== change.after,
  );
}

function isEntry(path: string): MemoryError {
  const [log = path] = logsOf(path);
  return new MemoryError('invalid_input', `${path} is an entry of ${log}.`, {
    hint: `Change it as a part of ${log}, by its heading or line.`,
    data: { path },
  });
}

function filesOf(
  files: StoredFiles,
  { path, folder }: Pick<EntryLog, 'path' | 'folder'>,
): LogFiles {
  return { own: files.text(path), entries: files.entries(folder) };
}

/** Limit of the composed logs that are kept: the steps of one call read few states, each of them often. */
const maxRecent = 4;
const recent: { readonly files: LogFiles; readonly compose: Compose; readonly text: string }[] = [];

type Compose = (files: LogFiles) => string;

function composed(files: LogFiles, compose: Compose): string | undefined {
  const { own, entries } = files;
  if (own === undefined && entries.length === 0) return undefined;
  // An entry file is the same object as long as its file stays as it is.
  const at = recent.findIndex(
    (one) =>
      one.compose === compose &&
      one.files.own === own &&
      one.files.entries.length === entries.length &&
      one.files.entries.every((file, index) => file === entries[index]),
  );
  const [known] = at < 0 ? [] : recent.splice(at, 1);
  const one = known ?? { files, compose, text: compose(files) };
  recent.unshift(one);
  if (recent.length > maxRecent) recent.pop();
  return one.text;
}
