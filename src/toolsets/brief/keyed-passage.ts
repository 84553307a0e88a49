/** A part of a record that is about files of the project, or about a command. */
export interface KeyedPassage {
  /** Of the record, relative to `.memory-bank/`. */
  readonly path: string;
  /** The heading that it is below; undefined for a record as a whole. */
  readonly entry: string | undefined;
  readonly text: string;
  /** ISO 8601 date or time of the record. */
  readonly at: string | undefined;
  /** See `passageRanks`. */
  readonly rank: number;
  /** The number of files that it names. */
  readonly files: number;
  /** It is found by these. */
  readonly keys: readonly string[];
}

/** The kinds of passages, in the order in which they are shown. */
export const passageRanks = { correction: 0, decision: 1, other: 2 } as const;

/** An action that an agent is about to take, with the keys of the passages about it; the surest first. */
export interface Action {
  /** The file as it is shown, or the command. */
  readonly subject: string;
  readonly keys: readonly string[];
}

/** Orders passages: corrections first, then decisions; those about few files first, then the newest. */
export function surestFirst(a: KeyedPassage, b: KeyedPassage): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.files !== b.files) return a.files - b.files;
  const [one = '', other = ''] = [a.at, b.at];
  if (one !== other) return one > other ? -1 : 1;
  return a.path === b.path ? 0 : a.path < b.path ? -1 : 1;
}

/** The first of some passages that are not known, each once. */
export function firstUnknown(
  passages: Iterable<KeyedPassage>,
  isKnown: (passage: KeyedPassage) => boolean,
  limit: number,
): KeyedPassage[] {
  const found = new Map<string, KeyedPassage>();
  for (const passage of passages) {
    if (found.size === limit) break;
    const name = `${passage.path}\0${passage.text}`;
    if (!found.has(name) && !isKnown(passage)) found.set(name, passage);
  }
  return [...found.values()];
}

export const fileKey = (path: string) => `p ${path}`;
export const folderKey = (path: string) => `f ${path.replace(/\/$/, '')}`;

/** The keys of a file: its own, and those of the folders that it is in, the nearest first. */
export function keysOfFile(path: string): string[] {
  const keys = [fileKey(path)];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    keys.push(folderKey(path.slice(0, end)));
  }
  return keys;
}
