import {
  historyHeading,
  maxNotes,
  notesHeading,
  notesNotice,
} from '../../core/declarations/progress-log.ts';
import { lineNumber } from '../../core/markdown/line.ts';
import { listEntries } from '../../core/markdown/list-entries.ts';
import { addTo } from '../../core/values/multimap.ts';
import {
  dayOfName,
  type EntryFile,
  EntryNames,
  type EntryPlace,
  exactFiles,
  type LogFiles,
  placeIn,
  trimmed,
} from './entry-files.ts';
import {
  type Item,
  itemsBelow,
  type NoteMark,
  toItem,
  withItems,
  withoutItems,
} from './log-items.ts';

/** The comments at the end of the first line of an entry in a file; no log has them. */
const comments: Readonly<Record<NoteMark, string>> = {
  'left out': '<!-- not a session note -->',
  end: '<!-- session notes end above -->',
};

/** Composes `progress.md` from its files: their entries are above those of its own list. */
export function composeProgress({ own = '', entries }: LogFiles): string {
  const filed = filedItems(entries);
  const { rest } = withoutItems(own, historyHeading, oneOf(filed));
  return withItems(rest, historyHeading, filed) ?? own;
}

/** Composes `activeContext.md`: its own text, and the newest entries of the progress. */
export function composeContext(own: string, progress: LogFiles): string {
  const all = progressItems(progress);
  const { rest } = withoutItems(own, notesHeading, oneOf(all));
  const { shown, isCut } = notesOf(all);
  const notice = isCut ? `${notesNotice}\n\n` : '';
  return withItems(withoutNotice(rest), notesHeading, shown, notice) ?? own;
}

/** The entries that are session notes: the newest of those that have no mark. */
function notesOf(all: readonly Item[]): {
  readonly shown: readonly Item[];
  /** Whether there are older ones. */
  readonly isCut: boolean;
} {
  const end = all.findIndex(({ mark }) => mark === 'end');
  const notes = (end < 0 ? all : all.slice(0, end)).filter(({ mark }) => mark === undefined);
  return { shown: notes.slice(0, maxNotes), isCut: notes.length > maxNotes || end >= 0 };
}

/**
 * Divides `progress.md` into files, so that they are composed to the same text; an entry that has a file
 * keeps it.
 *
 * @param session names the file of new entries.
 * @param isNoted whether new entries can be session notes.
 */
export function splitProgress(
  text: string,
  before: LogFiles,
  session: string,
  isNoted: boolean,
): LogFiles {
  return exactFiles(
    text,
    before,
    (isKept) => filedProgress(text, before, session, isNoted, isKept),
    composeProgress,
  );
}

/**
 * Gives the dated entries of `progress.md` files.
 *
 * @param isNoted whether new entries can be session notes.
 * @param isKept whether those that are in its list stay there.
 */
export function filedProgress(
  text: string,
  before: LogFiles,
  session: string,
  isNoted: boolean,
  isKept = false,
): LogFiles {
  const own = before.own ?? '';
  const inLog = oneOf(itemsBelow(own, historyHeading).map((one) => toItem(own, one)));
  const stays = isKept ? inLog : none;
  const filed = oneOf(filedItems(before.entries));
  const isFiled = (item: Item) => filed(item) || (isDated(item) && !stays(item));
  const { rest, taken } = withoutItems(text, historyHeading, isFiled);
  const { placed, added } = matched(taken, before.entries);
  const names = new EntryNames(before.entries.map(({ name }) => name));
  for (const one of added) {
    const item = isNoted || inLog(one) ? one : { ...one, mark: 'left out' as const };
    const old = replacedIn(placed, item.day);
    const isLeft = before.entries.length > 0 && inLog(item);
    if (old) old.item = { ...item, mark: old.mark };
    else if (isLeft)
      addTo(placed, names.addLeft(item.day, 'merged', item.text), { item, isNew: true });
    else addTo(placed, names.ofSession(item.day, session), { item, isNew: true });
  }
  const known = new Map(before.entries.map((file) => [file.name, file]));
  const entries = [...placed].flatMap(([name, places]): EntryFile[] => {
    const fresh = places.flatMap((one) => (one.isNew && one.item ? [one.item] : []));
    const old = places.flatMap((one) => (!one.isNew && one.item ? [one.item] : []));
    const ordered = [...fresh, ...old];
    const lines = linesOf(ordered);
    const file = known.get(name);
    if (file && linesOf(listedIn(file)) === lines) return [file];
    return ordered.length === 0 ? [] : [{ name, text: lines }];
  });
  return {
    own: isAlike(withoutItems(own, historyHeading, filed).rest, rest) ? own : rest,
    entries,
  };
}

function linesOf(items: readonly Item[]): string {
  return items.map((item) => `${storedText(item)}\n`).join('');
}

/** The lines of an entry in a file. */
function storedText({ text, mark }: Item): string {
  return mark ? text.replace(/(?=\r?$)/m, ` ${comments[mark]}`) : text;
}

/**
 * Marks the entries of files so that the session notes are those of a text.
 *
 * @param shown the text of `activeContext.md`.
 */
export function withNoteMarks(files: LogFiles, shown: string): LogFiles {
  const isNoted = oneOf(itemsBelow(shown, notesHeading).map((one) => toItem(shown, one)));
  const all = progressItems(files);
  const last = all.findLastIndex(isNoted);
  const marked = all.map((item, at): Item => {
    const own = item.mark === 'end' ? undefined : item.mark;
    return { ...item, mark: isNoted(item) ? undefined : at < last ? 'left out' : own };
  });
  const end = notesOf(marked).shown.find((item) => !isNoted(item));
  return marksSet(files, new Map(marked.map((one) => [one.text, one === end ? 'end' : one.mark])));
}

/** Keeps the end of the session notes where it was if the entry that has it is removed. */
export function withNotesEnd(files: LogFiles, before: LogFiles): LogFiles {
  const isEnd = ({ mark }: Item) => mark === 'end';
  const all = progressItems(before);
  const older = new Set(all.slice(all.findIndex(isEnd)).map(({ text }) => text));
  const now = progressItems(files);
  const next = now.find(({ text }) => older.has(text));
  if (!next || !all.some(isEnd) || now.some(isEnd)) return files;
  const marks = now.map((one) => [one.text, one === next ? 'end' : one.mark] as const);
  return marksSet(files, new Map(marks));
}

/** Gives the entries of files other marks, by their texts. */
function marksSet(files: LogFiles, marks: ReadonlyMap<string, NoteMark | undefined>): LogFiles {
  const entries = files.entries.map((file) => {
    const items = listedIn(file);
    if (items.every(({ text, mark }) => marks.get(text) === mark)) return file;
    const lines = linesOf(items.map((item) => ({ ...item, mark: marks.get(item.text) })));
    return { name: file.name, text: lines };
  });
  return { own: files.own, entries };
}

/**
 * Divides `activeContext.md`: the notes that the progress has are not written a second time.
 *
 * @param isWritten whether the file has such notes now, as that of a log has.
 */
export function splitContext(
  text: string,
  before: string | undefined,
  progress: LogFiles,
  isWritten = false,
): string {
  const isNote = oneOf(progressItems(progress));
  const bare = (one: string) => withoutNotice(withoutItems(one, notesHeading, isNote).rest);
  const rest = bare(text);
  return !isWritten && before !== undefined && isAlike(bare(before), rest) ? before : rest;
}

/** Finds the entry of a file that a line of a log is in. */
export function itemAt(
  log: string,
  entries: readonly EntryFile[],
  line: number,
): EntryPlace | undefined {
  const item = listEntries(log)
    .map((entry) => toItem(log, entry))
    .findLast(({ start }) => lineNumber(log, start) <= line);
  const file = item && entries.find((one) => listedIn(one).some(({ text }) => text === item.text));
  const stored = file && listedIn(file).find(({ text }) => text === item.text);
  if (!item || !file || !stored) return undefined;
  return placeIn(file, log, item, line, lineNumber(file.text, stored.start));
}

/** The number of entries in a file. */
export function countItems(file: EntryFile): number {
  return listedIn(file).length;
}

/** The lines of the dated entries of `progress.md` that have no file. */
export function itemsInLog(own: string): readonly number[] {
  return itemsBelow(own, historyHeading)
    .filter((entry) => isDated(toItem(own, entry)))
    .map(({ start }) => lineNumber(own, start));
}

function withoutNotice(text: string): string {
  const start = text.indexOf(`${notesNotice}\n`);
  if (start < 0) return text;
  return (
    text.slice(0, start) + text.slice(start + notesNotice.length).replace(/^(?:[ \t]*\r?\n)+/, '')
  );
}

/** All dated entries, the newest first. */
function progressItems({ own = '', entries }: LogFiles): readonly Item[] {
  const filed = filedItems(entries);
  const isFiled = oneOf(filed);
  const left = itemsBelow(own, historyHeading).map((one) => toItem(own, one));
  return [...filed, ...left.filter((one) => isDated(one) && !isFiled(one))];
}

/** The entries of files, the newest day first, and of a day the newest file. */
function filedItems(entries: readonly EntryFile[]): Item[] {
  return [...entries]
    .sort(
      (a, b) => dayOfName(b.name).number - dayOfName(a.name).number || (a.name < b.name ? 1 : -1),
    )
    .flatMap((file) => listedIn(file))
    .sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : 0));
}

/** The entries of a file; a text that is not a list becomes one. */
function listedIn(file: EntryFile): readonly Item[] {
  const found = parsed.get(file) ?? parse(file);
  parsed.set(file, found);
  return found;
}

const parsed = new WeakMap<EntryFile, readonly Item[]>();

function parse({ name, text }: EntryFile): Item[] {
  const { day } = dayOfName(name);
  const entries = listEntries(text);
  const items: Item[] = [];
  let from = 0;
  const other = (part: string) => {
    const words = part.trim().replace(/\s+/g, ' ');
    const start = from + part.search(/\S/);
    if (words !== '')
      items.push({ day, text: `- [${day || '0000-00-00'}] - Note: ${words}`, start });
  };
  for (const entry of entries) {
    other(text.slice(from, entry.start));
    const item = withoutComment(toItem(text, entry));
    items.push(item.day === '' ? { ...item, day } : item);
    from = entry.end;
  }
  other(text.slice(from));
  return items;
}

/** Reads the mark of an entry in a file. */
function withoutComment(item: Item): Item {
  const [first = ''] = item.text.split(/\r?\n/, 1);
  for (const mark of ['left out', 'end'] as const) {
    if (!first.trimEnd().endsWith(comments[mark])) continue;
    const own = first.slice(0, first.lastIndexOf(comments[mark])).trimEnd();
    return { ...item, text: own + item.text.slice(first.length), mark };
  }
  return item;
}

interface Place {
  item: Item | undefined;
  readonly isNew?: boolean;
  readonly day?: string;
  readonly mark?: NoteMark | undefined;
}

/** Finds the file of each entry; those that are left over in a file have no item. */
function matched(items: readonly Item[], files: readonly EntryFile[]) {
  const open = new Map<string, Item[]>();
  for (const item of items) addTo(open, item.text, item);
  const placed = new Map<string, Place[]>();
  for (const file of files) {
    placed.set(
      file.name,
      listedIn(file).map(({ text, day, mark }) => {
        const item = open.get(text)?.shift();
        return { item: item && { ...item, mark }, day, mark };
      }),
    );
  }
  const left = new Set([...open.values()].flat());
  return { placed, added: items.filter((item) => left.has(item)) };
}

/** An entry of the same day that is gone, which another text replaces. */
function replacedIn(placed: ReadonlyMap<string, Place[]>, day: string): Place | undefined {
  for (const places of placed.values()) {
    const gone = places.find((one) => one.item === undefined && one.day === day);
    if (gone) return gone;
  }
  return undefined;
}

/** Whether two texts differ in blank lines at most. */
function isAlike(a: string, b: string): boolean {
  const plain = (text: string) => trimmed(text).replace(/(?:\r?\n[ \t]*){2,}/g, '\n\n');
  return a === b || plain(a) === plain(b);
}

function none(): boolean {
  return false;
}

function isDated({ day }: Item): boolean {
  return day !== '';
}

function oneOf(items: readonly Item[]): (item: Item) => boolean {
  const texts = new Set(items.map(({ text }) => text));
  return ({ text }) => texts.has(text);
}
