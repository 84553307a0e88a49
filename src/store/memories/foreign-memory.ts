import { readStatements } from '../../core/markdown/section-statements.ts';
import type { ForeignHit, ForeignRecord, MemoryPin } from '../../core/memory/pinned-memories.ts';
import type { HitChange, SearchHit, SearchRequest } from '../../core/memory/search-hit.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { PastRecords } from '../history/past-records.ts';
import type { RecordFile } from '../records/record-file.ts';
import { inSlices } from '../records/slices.ts';
import { hasSecret } from '../secrets/scan.ts';

/** Limit of the files of a memory that a list reads. */
const maxListed = 2_000;

/** The records of one pinned commit, which never change. */
export class ForeignMemory {
  readonly pin: MemoryPin;
  readonly #records: PastRecords;
  readonly #changed: HitChange | undefined;
  #all: Promise<readonly ForeignFile[]> | undefined;

  /** @param seconds the time of the pinned commit: of the commits before it, nothing is fetched. */
  constructor(pin: MemoryPin, records: PastRecords, seconds: number) {
    this.pin = pin;
    this.#records = records;
    const at = new Date(1000 * seconds);
    // A commit of others can name any time.
    if (!Number.isNaN(at.getTime())) {
      this.#changed = { at: at.toISOString(), by: '', maker: 'git', isLatest: true };
    }
  }

  /** The number of its record files. */
  async count(): Promise<number> {
    await this.#records.refresh();
    return this.#records.view.count;
  }

  /** @throws MemoryError `not_found`, `secret`, `damaged`. */
  read(path: string): ForeignFile {
    const file = this.#records.view.read(path);
    const text = file && this.#records.text(path);
    if (!file || text === undefined) {
      throw new MemoryError('not_found', `The memory ${this.pin.name} has no record ${path}.`, {
        hint: `Commit ${this.pin.commit.slice(0, 12)} is pinned. A search lists the records of all memories.`,
        data: { path: `${this.pin.name}:${path}` },
      });
    }
    const found = this.#toFile(file, text);
    if (found.withheld) throw withheld(found.record.path);
    return found;
  }

  /** All of its record files; those that cannot be read have a reason. */
  all(): Promise<readonly ForeignFile[]> {
    this.#all ??= this.#records.refresh().then(() => inSlices(this.#read()));
    return this.#all;
  }

  *#read(): Generator<undefined, ForeignFile[]> {
    const found: ForeignFile[] = [];
    for (const path of this.#records.view.paths().sort().slice(0, maxListed)) {
      yield;
      const file = this.#records.view.read(path);
      const text = file && this.#textOf(path);
      if (file && text !== undefined) found.push(this.#toFile(file, text));
    }
    return found;
  }

  /** Searches the records that may be read and have no credential. */
  async search(
    request: SearchRequest,
    readable: ((path: string) => boolean) | undefined,
  ): Promise<readonly ForeignHit[]> {
    const { hits } = await this.#records.find(request, readable);
    return hits.flatMap((hit) => this.#toHit(hit));
  }

  #toHit(hit: SearchHit): ForeignHit[] {
    const text = this.#textOf(hit.path);
    if (text === undefined || hasSecret(text, hit.fields)) return [];
    const { name, commit } = this.pin;
    const { caution } = cautionsIn(hit.path, text, name);
    return [
      {
        ...hit,
        path: `${name}:${hit.path}`,
        memory: name,
        commit,
        ...(this.#changed && { changed: this.#changed }),
        ...(caution.length > 0 && { caution }),
      },
    ];
  }

  /** The text of a file; undefined for one that is not text, or too large. */
  #textOf(path: string): string | undefined {
    try {
      return this.#records.text(path);
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  #toFile({ type, path, key, value, error }: RecordFile, text: string): ForeignFile {
    const { name, commit } = this.pin;
    const cautions = cautionsIn(path, text, name);
    const address = `${name}:${path}`;
    const record = { memory: name, commit, type, path: address, key, value, text, ...cautions };
    const isWithheld = hasSecret(text, value && type.search(value));
    return { inner: path, record, error, withheld: isWithheld, expires: cautions.expires };
  }
}

/** A record of a pinned memory, and what is wrong with it. */
export interface ForeignFile {
  /** Its path in its memory. */
  readonly inner: string;
  readonly record: ForeignRecord;
  readonly error: MemoryError | undefined;
  /** Whether it contains a credential, so that it is not shown. */
  readonly withheld: boolean;
  /** The last day on which it holds. */
  readonly expires: string | undefined;
}

/** The statements of a record against itself; its code is not looked at: another project has it. */
function cautionsIn(path: string, text: string, memory: string) {
  const { expires, supersededBy } = readStatements(path, text).annotations;
  const superseded = supersededBy !== undefined;
  const caution = superseded ? [`It was superseded by ${memory}:${supersededBy}.`] : [];
  return { caution, superseded, expires };
}

/** The error for a record with a credential. */
function withheld(address: string): MemoryError {
  return new MemoryError('secret', `${address} is not shown: it contains a credential.`, {
    hint: 'Tell the owner of that repository to remove and revoke it.',
    data: { path: address },
  });
}
