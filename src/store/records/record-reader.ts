import {
  byTime,
  type CopiedRecord,
  type Damaged,
  type KeyListing,
  type Listing,
  type ListOptions,
  type Located,
} from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import type { AnyRecordType, RecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Access } from '../modes/access.ts';
import { boundedListing } from './bounded-listing.ts';
import { copiedFrom } from './copied-file.ts';
import type { LiveRecords } from './live-records.ts';
import type { RecordFile } from './record-file.ts';
import { inSlices } from './slices.ts';

/** The records of a memory, and how to bring them in line with the disk. */
export interface Records {
  readonly view: LiveRecords;
  refresh(): Promise<void>;
}

/** Reads records for one call, as they are on disk when the call begins. */
export class RecordReader implements Reader {
  protected readonly view: LiveRecords;
  protected readonly access: Access;
  readonly #records: Records;
  #fresh: Promise<void> | undefined;

  constructor(records: Records, access: Access) {
    this.view = records.view;
    this.#records = records;
    this.access = access;
  }

  /** Sees the disk as another reader has seen it. */
  protected share(other: RecordReader): void {
    this.#fresh = other.#fresh;
  }

  async get<T extends object>(type: RecordType<T>, key: string): Promise<Located<T> | undefined> {
    const found = await this.find(type, key);
    if (!found) return undefined;
    if (!this.mayRead(found.path)) throw forbidden('read', found.path, this.access);
    return located<T>(found);
  }

  async list<T extends object>(
    type: RecordType<T>,
    options: ListOptions = {},
  ): Promise<Listing<T>> {
    await this.refresh();
    const all = await inSlices(boundedListing(this.view, type, options));
    const files = all.filter(({ path }) => this.mayRead(path));
    return toListing(files, this.view, located<T>);
  }

  /** See `Store.keys`. */
  async keys(type: AnyRecordType): Promise<KeyListing> {
    await this.refresh();
    const all = await inSlices(this.view.identifying(type));
    const files = all.filter(({ path }) => this.mayRead(path));
    const { records, damaged } = toListing(files, this.view, ({ key = '', created = 0 }) => {
      return { key, created };
    });
    return { keys: records.sort(byTime).map(({ key }) => key), damaged };
  }

  /** Refreshes once per call; all reads of the call see the same state. */
  refresh(): Promise<void> {
    this.#fresh ??= this.#records.refresh();
    return this.#fresh;
  }

  /** Looks in the expected path first, which is cheap; otherwise in all records, once per call. */
  protected async find(type: AnyRecordType, key: string): Promise<RecordFile | undefined> {
    const found = this.#fresh ? undefined : this.view.at(type, key);
    if (found) return found;
    await this.refresh();
    await inSlices(this.view.reading(type));
    return this.view.find(type, key);
  }

  mayRead(path: string): boolean {
    return this.access.mayRead(path);
  }

  /** Whether no mode restricts what may be read. */
  get readsAll(): boolean {
    return this.access.mode === undefined;
  }
}

/** Whether a listing with these options contains this record. */
export function isAsked<T extends object>(
  type: RecordType<T>,
  { key, path, value }: Located<T>,
  { under, keys, ids }: ListOptions,
): boolean {
  const folder = [type.folder, under].filter((part) => part).join('/');
  if (folder !== '' && !path.startsWith(`${folder}/`)) return false;
  if (!keys && !ids) return true;
  const id = type.id?.(value);
  return (keys?.includes(key) || (id !== undefined && ids?.includes(id))) ?? false;
}

function located<T>(record: RecordFile): Located<T> {
  if (record.error) throw record.error;
  return { key: record.key ?? '', path: record.path, value: record.value as T };
}

/**
 * Divides record files into readable records and damaged files.
 *
 * @param convert what to list of a readable record.
 */
export function toListing<R>(
  files: readonly RecordFile[],
  view: LiveRecords,
  convert: (file: RecordFile) => R,
): {
  readonly records: R[];
  readonly damaged: Damaged[];
  readonly copies?: readonly CopiedRecord[];
} {
  const records: R[] = [];
  const damaged: Damaged[] = [];
  const copies: CopiedRecord[] = [];
  for (const file of files) {
    const twin = view.shadowedBy(file);
    if (file.error) damaged.push({ path: file.path, error: file.error });
    else if (twin !== undefined) damaged.push({ path: file.path, error: duplicate(file, twin) });
    else {
      const original = view.copyOf(file);
      if (original !== undefined) copies.push({ path: file.path, original });
      records.push(convert(file));
    }
  }
  return { records, damaged, ...(copies.length > 0 && { copies }) };
}

function duplicate({ path }: RecordFile, twin: string): MemoryError {
  const isCopy = copiedFrom(path) !== undefined && copiedFrom(twin) === undefined;
  const why = isCopy ? ': by its name it is a copy' : '';
  return new MemoryError('conflict', `${path} has the same key as ${twin}${why}.`, {
    hint: `Only ${twin} counts. Take over what it lacks, then remove ${path}, or give it another key.`,
    data: { path, twin },
  });
}

/** The error for an access that the mode of a session does not allow. */
export function forbidden(verb: string, path: string, access: Access): MemoryError {
  return new MemoryError('forbidden', `The mode "${access.mode}" may not ${verb} ${path}.`, {
    hint: 'Switch to a mode whose rule file allows it, or leave the mode.',
    data: { path, mode: access.mode ?? null },
  });
}
