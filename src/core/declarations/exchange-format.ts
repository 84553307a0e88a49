import type { History } from '../memory/history.ts';
import type { Reader } from '../memory/store.ts';
import type { AnyRecordType } from '../record/record-type.ts';
import { MemoryError } from '../values/error.ts';
import { jsonProblem, readJsonText } from '../values/json.ts';

/** The files of another program, read-only, as an importer sees them. */
export interface Source {
  /** Name of the folder or file, for messages. */
  readonly name: string;
  /** Sorted paths relative to the folder, with `/` between segments; of a single file, its name. */
  readonly files: readonly string[];
  /**
   * Reads a file.
   *
   * @throws MemoryError `storage` or `too_large`.
   */
  bytes(file: string): Uint8Array;
  /**
   * Reads a text file.
   *
   * @throws MemoryError as `bytes` does, and `damaged` for a file that is not UTF-8.
   */
  text(file: string): string;
  /**
   * The lines of a file, without their ends, read piece by piece: a file of any length takes little memory.
   *
   * @throws MemoryError as `text`, at the piece that is wrong, and `too_large` for a line of many megabytes.
   */
  lines(file: string): Iterable<string>;
}

/** A record that a source contains. */
export interface ImportedRecord {
  readonly type: AnyRecordType;
  readonly value: object;
  /** Its origin for messages: a file of the source, or a part of one. */
  readonly from: string;
  /** Its text in the source, if the codec of its type can read it. */
  readonly written?: string;
  /** Whether its timestamps are those of the import, because the source has none. */
  readonly undated?: boolean;
  /** Whether it replaces a record that differs, because that one is still an unchanged template. */
  replaces?(present: object): boolean;
  /** Whether it belongs to the user instead of the project. */
  readonly home?: boolean;
}

/** Why something is not imported, or what a person should know about an imported record. */
export interface Remark {
  readonly from: string;
  readonly message: string;
}

/** The content of a source. */
export interface Findings {
  /** The importer takes them over, and can change the list. */
  readonly found: ImportedRecord[];
  /** Files and parts that are not imported. */
  readonly left: readonly Remark[];
  /** Differences between imported records and their source. */
  readonly notes: readonly Remark[];
  /** The id of the project whose memory it is, if the source has one. */
  readonly projectId?: string | undefined;
}

/** Reads a source in steps; other calls can run between two of them. */
export type Reading = Generator<void, Findings>;

/** The memory that an exporter reads. */
export interface ExportSource {
  readonly project: Reader;
  /** The records of the user. */
  home(): Promise<Reader>;
  readonly projectId: string | undefined;
  readonly history: History;
  /** Reads texts of records of the project as they are on disk. */
  texts(): Promise<(path: string) => string>;
}

/** The files in which another program stores the same kind of data as a toolset. */
export interface ExchangeFormat {
  /** Its name on the command line, for `--from` and `export`. */
  readonly name: string;
  /** A few words for people. */
  readonly title: string;
  /** Its usual paths in a project; `.` is the project's folder itself. */
  readonly places: readonly string[];
  /** Whether only the files directly in the folder count. */
  readonly shallow?: boolean;
  /**
   * Whether a folder or file looks like this format.
   *
   * @param name the last segment of its path.
   * @param entries names in the folder, those of folders with a `/` at the end; of a file, its name.
   */
  recognises(name: string, entries: readonly string[]): boolean;
  /** Whether the first line of a file shows this format, for files with other names. */
  recognisesLine?(line: string): boolean;
  /** Reads a source, and reports what cannot be read. */
  read(source: Source, now: () => string): Reading;
  /**
   * Returns the files with the records, by path; none if there are no records.
   *
   * Absent in a format that is only imported.
   */
  write?(memory: ExportSource): Promise<ReadonlyMap<string, string>>;
}

/** Collects the findings of an importer; a file that cannot be read does not stop the others. */
export class Gathering implements Findings {
  readonly found: ImportedRecord[] = [];
  readonly left: Remark[] = [];
  readonly notes: Remark[] = [];
  projectId: string | undefined;

  /** Runs work on a part of the source; an error becomes a remark. */
  attempt(from: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      this.leave(from, error.text);
    }
  }

  leave(from: string, message: string): void {
    this.left.push({ from, message });
  }

  note(from: string, message: string): void {
    this.notes.push({ from, message });
  }
}

/** Unix times from this number on are in milliseconds; in seconds it is the year 5138. */
const firstMilliseconds = 1e11;

/**
 * Converts a timestamp of another program to ISO 8601 in UTC with milliseconds, or to undefined.
 *
 * A date without a time means its beginning, a number is a Unix time in seconds or milliseconds, and a
 * text without a zone is in UTC.
 */
export function isoTime(given: unknown): string | undefined {
  const time = typeof given === 'number' ? unixTime(given) : parsedTime(given);
  if (time === undefined || !(Math.abs(time) <= 8.64e15)) return undefined;
  const iso = new Date(time).toISOString();
  return /^\d{4}-/.test(iso) ? iso : undefined;
}

/** Returns a Unix time in milliseconds; zero means an unknown time. */
function unixTime(given: number): number | undefined {
  return given > 0 ? given * (given < firstMilliseconds ? 1000 : 1) : undefined;
}

function parsedTime(given: unknown): number | undefined {
  const found =
    typeof given === 'string' &&
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(given);
  if (!found) return undefined;
  const [, date = '', clock = '00:00', zone = 'Z'] = found;
  // The 30th of February would be read as one of the first days of March.
  const day = Date.parse(date);
  if (Number.isNaN(day) || !new Date(day).toISOString().startsWith(date)) return undefined;
  return Date.parse(`${date}T${clock}${zone}`);
}

/**
 * Parses a JSON text.
 *
 * @throws MemoryError `damaged`.
 */
export function parseJson(text: string): unknown {
  try {
    return readJsonText(text);
  } catch (cause) {
    throw new MemoryError('damaged', `Not valid JSON: ${jsonProblem(cause)}.`, { cause });
  }
}
