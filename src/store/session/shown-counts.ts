import { join } from 'node:path';
import type { HitChange } from '../../core/memory/search-hit.ts';
import { checksum } from '../../core/values/checksum.ts';
import { isObject, own } from '../../core/values/json.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';

/** A record, or an entry of a log, that hooks show; see `BriefLine`. */
export interface ShownText {
  readonly path: string;
  readonly entry?: string | undefined;
  readonly changed?: HitChange | undefined;
}

/** After this number of sessions that were shown a text and did not use it, hooks leave it out. */
const mostShown = 12;
/** Limits of the file; the records that were shown last stay. */
const maxRecords = 500;
const maxEntries = 40;
const maxBytes = 1024 * 1024;
const fileName = 'shown.json';

/** How often the entries of a record were shown since the change that has a time. */
interface EntryCounts {
  [entry: string]: readonly [count: number, changed: string];
}

/**
 * How often hooks have shown records that nobody has read, cited or changed since, in one small file of the
 * git directory.
 *
 * A caller that changes it holds the lock of the hooks. It may be lost: a damaged file counts as empty.
 */
export class ShownCounts {
  readonly #disk: Disk;
  readonly #path: string | undefined;
  #known: Map<string, EntryCounts> | undefined;
  /** The file that they were read from. */
  #stat: Stat | undefined;

  /** @param folder undefined outside a repository: nothing is counted. */
  constructor(disk: Disk, folder: string | undefined) {
    this.#disk = disk;
    this.#path = folder && join(folder, fileName);
  }

  /** Whether a text was shown so often without a use that it is not shown any more. */
  isWorn(text: ShownText): boolean {
    return this.#countOf(text) >= mostShown;
  }

  /** Counts texts that a session is shown now. */
  async add(texts: readonly ShownText[]): Promise<void> {
    this.#known = undefined;
    const counts = this.#counts();
    for (const text of texts) {
      const count = this.#countOf(text) + 1;
      const { [keyOf(text)]: _, ...others } = counts.get(text.path) ?? {};
      // Those that were shown last are at the end.
      const kept = Object.entries(others).slice(1 - maxEntries);
      counts.delete(text.path);
      counts.set(text.path, {
        ...Object.fromEntries(kept),
        [keyOf(text)]: [count, timeOf(text)],
      });
    }
    await this.#save([...counts].slice(-maxRecords));
  }

  /** Whether a record was counted that meets a condition; the file is read again only if it has changed. */
  some(isUsed: (path: string) => boolean): boolean {
    if (this.#path === undefined) return false;
    if (!sameStat(this.#stat, this.#disk.files.lstat(this.#path))) this.#known = undefined;
    return [...this.#counts().keys()].some(isUsed);
  }

  /** Forgets what was counted of records that were used. */
  async forget(isUsed: (path: string) => boolean): Promise<void> {
    this.#known = undefined;
    await this.#save([...this.#counts()].filter(([path]) => !isUsed(path)));
  }

  #countOf(text: ShownText): number {
    const [count, changed] = own(this.#counts().get(text.path) ?? {}, keyOf(text)) ?? [0, ''];
    const now = timeOf(text);
    return now !== '' && changed !== '' && now !== changed ? 0 : count;
  }

  #counts(): Map<string, EntryCounts> {
    this.#known ??= new Map(this.#path === undefined ? [] : this.#read(this.#path));
    return this.#known;
  }

  #read(path: string): [string, EntryCounts][] {
    const { files } = this.#disk;
    this.#stat = files.lstat(path);
    const size = this.#stat?.size ?? 0;
    if (size === 0 || size > maxBytes) return [];
    try {
      const value: unknown = JSON.parse(files.read(path)?.toString('utf8') ?? '');
      return Object.entries(isObject(value) ? value : {}).flatMap(([record, entries]) => {
        return isCounts(entries) ? [[record, entries] as [string, EntryCounts]] : [];
      });
    } catch {
      return [];
    }
  }

  async #save(counts: readonly (readonly [string, EntryCounts])[]): Promise<void> {
    if (this.#path === undefined) return;
    this.#known = undefined;
    const bytes = Buffer.from(`${JSON.stringify(Object.fromEntries(counts))}\n`);
    if (bytes.length <= maxBytes) await this.#disk.replace(this.#path, [bytes], 0o600);
  }
}

/** The short name of the entry of a record; `''` for the record as a whole. */
function keyOf({ entry }: ShownText): string {
  return entry === undefined ? '' : checksum(entry.trim());
}

/** The time of the last change or confirmation of a text; `''` if it is not known. */
function timeOf({ changed }: ShownText): string {
  return changed?.confirmation?.at ?? changed?.at ?? '';
}

function isCounts(value: unknown): value is EntryCounts {
  return (
    isObject(value) &&
    Object.values(value).every((one) => {
      return Array.isArray(one) && Number.isInteger(one[0]) && typeof one[1] === 'string';
    })
  );
}
