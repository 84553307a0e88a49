import { MemoryError } from './error.ts';
import { jsonProblem } from './json.ts';
import type { AnyRecordType } from './record-type.ts';
import type { Reader } from './store.ts';

/** The files of another program, as an importer sees them; reading is all that can be done to them. */
export interface Source {
  /** Name of the folder or file, for messages. */
  readonly name: string;
  /** Its files relative to the folder, sorted, with `/` between segments; of a single file its name. */
  readonly files: readonly string[];
  /** @throws MemoryError `storage` or `too_large`. */
  bytes(file: string): Uint8Array;
  /** @throws MemoryError as `bytes`, and `damaged` for what is not UTF-8. */
  text(file: string): string;
}

/** A record that a source holds. */
export interface ImportedRecord {
  readonly type: AnyRecordType;
  readonly value: object;
  /** Where it was found: a file of the source, or a place in one. */
  readonly from: string;
  /** Its text as the source has it, for a type whose own codec can read that. */
  readonly written?: string;
  /** Whether its times are those of the import, because the source tells none. */
  readonly undated?: boolean;
  /** Whether it takes the place of a record that differs: one that holds nothing of its own yet. */
  replaces?(present: object): boolean;
  /** Whether it belongs to the user and not to the project. */
  readonly home?: boolean;
}

/** What is not taken over, and why; or what a person should know of what was. */
export interface Remark {
  readonly from: string;
  readonly message: string;
}

/** What a source holds. */
export interface Findings {
  readonly found: readonly ImportedRecord[];
  /** Left where it is. */
  readonly left: readonly Remark[];
  /** Taken over, but not quite as it was. */
  readonly notes: readonly Remark[];
  /** The id of the project whose memory it is, where the source tells it. */
  readonly projectId?: string | undefined;
}

/** What an exporter may read. */
export interface ExportSource {
  readonly project: Reader;
  /** The records of the user. */
  readonly home: Reader;
  readonly projectId: string | undefined;
}

/** How another program keeps what a toolset keeps: an import and an export of it. */
export interface ExchangeFormat {
  /** What `--from` and `export` take. */
  readonly name: string;
  /** In a few words, for people. */
  readonly title: string;
  /** Where it usually lies below a project; `.` is the project's folder itself. */
  readonly places: readonly string[];
  /** Whether only the files directly in the folder count. */
  readonly shallow?: boolean;
  /**
   * Whether a folder or file looks like it.
   *
   * @param name the last segment of its path.
   * @param entries what lies directly in the folder, folders with a `/` at the end; of a file, its name.
   */
  recognises(name: string, entries: readonly string[]): boolean;
  /** Whether a file in a folder is of it though its name does not tell, from the first line of its text. */
  recognisesLine?(line: string): boolean;
  /** What it holds; of what cannot be read, that is told. */
  read(source: Source, now: () => string): Findings;
  /** The records in this format: path to content. Nothing where there are none. */
  write(memory: ExportSource): Promise<ReadonlyMap<string, string | Uint8Array>>;
}

/** Collects what an importer finds, file by file: one that cannot be read does not stop the rest. */
export class Gathering implements Findings {
  readonly found: ImportedRecord[] = [];
  readonly left: Remark[] = [];
  readonly notes: Remark[] = [];
  projectId: string | undefined;

  /** Does the work on a part of the source, and remarks what hinders it. */
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

/** A Unix time counts milliseconds from here on; in seconds this is the year 5138. */
const firstMilliseconds = 1e11;

/**
 * Converts a time of another program to ISO 8601 in UTC with milliseconds, or to undefined.
 *
 * A date alone is the moment at which it begins, a number a Unix time in seconds or milliseconds, and
 * what names no zone is in UTC.
 */
export function isoTime(given: unknown): string | undefined {
  const time = typeof given === 'number' ? unixTime(given) : parsedTime(given);
  if (time === undefined || !(Math.abs(time) <= 8.64e15)) return undefined;
  const iso = new Date(time).toISOString();
  return /^\d{4}-/.test(iso) ? iso : undefined;
}

/** Zero says that a program knew no time. */
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

/** A JSON text. @throws MemoryError `damaged`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new MemoryError('damaged', `Not valid JSON: ${jsonProblem(cause)}.`, { cause });
  }
}
