import { MemoryError } from '../../core/error.ts';
import {
  type AnnotationChanges,
  type Annotations,
  readAnnotations,
  withAnnotations,
} from '../../core/evidence/annotations.ts';
import { encodeName, withHash } from '../../core/names/name.ts';
import type { AnyRecordType, RecordType } from '../../core/record-type.ts';
import type { Listing, ListOptions, Located, Reader, Transaction } from '../../core/store.ts';
import type { Access } from '../modes/access.ts';
import type { TextChange } from '../secrets/guard.ts';
import { boundedListing } from './bounded-listing.ts';
import { fanOutPath, fullFolder } from './fan-out.ts';
import { FoldedPaths } from './folded-paths.ts';
import { maxDepth } from './folder-scan.ts';
import type { LiveRecords } from './live-records.ts';
import type { RecordFile } from './record-file.ts';
import { folderOf } from './record-path.ts';
import { inSlices } from './slices.ts';

/** Size limit of a text that a tool writes, in bytes. */
export const maxRecordBytes = 2 * 1024 * 1024;

/** The records of a memory, and how to bring them in line with the disk. */
export interface Records {
  readonly view: LiveRecords;
  refresh(): Promise<void>;
}

/** Limit of numbers for records with the same file name. */
const maxNamesakes = 100;

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
    return toListing(files, this.view);
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

interface Write {
  readonly type: AnyRecordType;
  readonly key: string;
  readonly path: string;
  /** Undefined: the record is removed. */
  readonly value: object | undefined;
  readonly text: string | undefined;
}

/** The records as a change sees them: the view with the writes of the change on top. */
export class LiveTransaction extends RecordReader implements Transaction {
  readonly #writes = new Map<string, Write>();
  readonly #byKey = new Map<AnyRecordType, Map<string, Write>>();
  /** The text of each existing file on which a new text is based. */
  readonly #based = new Map<string, string>();
  /** The paths of a type, with the written ones; filled when a twin is searched for. */
  readonly #folded = new Map<AnyRecordType, FoldedPaths>();
  /** The number of new files by folder. */
  readonly #added = new Map<string, number>();
  readonly #readText: (record: RecordFile) => string;

  /** @param readText returns the text of a known file, and throws if it has changed since. */
  constructor(records: Records, access: Access, readText: (record: RecordFile) => string) {
    super(records, access);
    this.#readText = readText;
  }

  override async get<T extends object>(
    type: RecordType<T>,
    key: string,
  ): Promise<Located<T> | undefined> {
    const write = this.#byKey.get(type)?.get(key);
    if (!write) return super.get(type, key);
    return write.value && { key, path: write.path, value: write.value as T };
  }

  override async list<T extends object>(
    type: RecordType<T>,
    options: ListOptions = {},
  ): Promise<Listing<T>> {
    const listing = await super.list(type, options);
    const records = listing.records.filter(({ path }) => !this.#writes.has(path));
    for (const { key, path, value } of this.#byKey.get(type)?.values() ?? []) {
      if (!value) continue;
      const written = { key, path, value: value as T };
      if (isAsked(type, written, options)) records.push(written);
    }
    return { ...listing, records: records.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  async put<T extends object>(
    type: RecordType<T>,
    value: T,
    written?: string,
  ): Promise<Located<T>> {
    const key = type.key(value);
    const earlier = this.#byKey.get(type)?.get(key);
    const existing = earlier ? undefined : await this.find(type, key);
    if (existing?.error) throw existing.error;
    const path = earlier?.path ?? existing?.path ?? this.#place(type, value);
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    const before = earlier ? earlier.text : existing && this.#base(existing);
    const text = type.codec.encode(value, written ?? before);
    checkText(text);
    this.#set({ type, key, path, value, text });
    return { key, path, value };
  }

  async annotations(path: string): Promise<Annotations | undefined> {
    const text = (await this.#textAt(path))?.text;
    return text === undefined ? undefined : readAnnotations(path, text);
  }

  async annotate(path: string, changes: AnnotationChanges): Promise<void> {
    await this.rewrite(path, (text) => withAnnotations(path, text, changes));
  }

  /**
   * Changes the text of a record, which keeps its key and path.
   *
   * @throws MemoryError `not_found`, `forbidden`, `damaged`, `too_large`.
   */
  async rewrite(path: string, change: (text: string) => string): Promise<void> {
    const found = await this.#textAt(path);
    if (!found) {
      throw new MemoryError('not_found', `There is no record at ${path}.`, {
        hint: 'Give a path relative to .memory-bank/, as search results do.',
        data: { path },
      });
    }
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    const { type, key } = found;
    const text = change(found.text);
    checkText(text);
    this.#set({ type, key, path, value: type.codec.decode(text, path), text });
  }

  async #textAt(path: string) {
    const write = this.#writes.get(path);
    if (write) {
      const { text, type, key } = write;
      return text === undefined ? undefined : { text, type, key };
    }
    await this.refresh();
    const record = this.view.typeOf(path) && this.view.look(path);
    if (record?.error) throw record.error;
    if (record?.key === undefined) return undefined;
    if (!this.mayRead(path)) throw forbidden('read', path, this.access);
    return { text: this.#base(record), type: record.type, key: record.key };
  }

  async remove<T extends object>(type: RecordType<T>, key: string): Promise<boolean> {
    const earlier = this.#byKey.get(type)?.get(key);
    const existing = earlier ? undefined : await this.find(type, key);
    if (existing?.error) throw existing.error;
    const path = earlier?.path ?? existing?.path;
    if (path === undefined || (earlier && earlier.value === undefined)) return false;
    if (!this.access.mayWrite(path)) throw forbidden('remove', path, this.access);
    if (existing) this.#base(existing);
    this.#set({ type, key, path, value: undefined, text: undefined });
    return true;
  }

  /**
   * Restores a record byte for byte, at its current path or else at its earlier one. Unlike any
   * other change, it replaces a file that cannot be read.
   *
   * @returns its path; undefined if it is already the same.
   */
  async restore(record: Located<object>, type: AnyRecordType, text: string) {
    const { key, value } = record;
    const there = this.view.look(record.path);
    const existing = (await this.find(type, key)) ?? (there?.error ? there : undefined);
    const path = existing?.path ?? this.#free(record.path, type, key);
    if (existing && this.#base(existing) === text) return undefined;
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    this.#set({ type, key, path, value, text });
    return path;
  }

  /** Returns the differences from the disk, by path. */
  changes(): TextChange[] {
    const changes: TextChange[] = [];
    for (const { path, type, text, value } of this.#writes.values()) {
      const before = this.#based.get(path);
      // A restored record may have taken its name before a twin was removed.
      if (before === undefined && text !== undefined) this.#checkTwins(path, type);
      if (before !== text) changes.push({ path, before, after: text, value });
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A path that may be changed may also be read: an update needs the old text. */
  override mayRead(path: string): boolean {
    return super.mayRead(path) || this.access.mayWrite(path);
  }

  #base(existing: RecordFile): string {
    const text = this.#readText(existing);
    this.#based.set(existing.path, text);
    return text;
  }

  #place(type: AnyRecordType, value: object): string {
    const path = type.path(value);
    const free = this.#free(this.#fannedOut(path, type), type, type.key(value));
    this.#checkTwins(free, type);
    return free;
  }

  /**
   * Refuses a new file that some file system would confuse with another one of its type.
   *
   * A type that fans out makes file names from keys that every file system keeps
   * apart; any other type uses the given names.
   */
  #checkTwins(path: string, type: AnyRecordType): void {
    if (type.fanOut) return;
    let folded = this.#folded.get(type);
    if (!folded) {
      const written = [...(this.#byKey.get(type)?.values() ?? [])];
      folded = new FoldedPaths([...this.view.pathsOf(type), ...written.map(({ path }) => path)]);
      this.#folded.set(type, folded);
    }
    const twin = folded.twinsOf(path).find((other) => {
      const write = this.#writes.get(other);
      return write ? write.value !== undefined : this.view.look(other);
    });
    if (twin === undefined) return;
    throw new MemoryError('already_exists', `${path} cannot be kept next to ${twin}.`, {
      hint: 'They differ in letter case or Unicode normal form only, and some file systems take them for one file: give it another name, or rename the one that is there.',
      data: { path: twin },
    });
  }

  /** The path, or the one below a sub-folder if the folder is full. */
  #fannedOut(path: string, type: AnyRecordType): string {
    const folder = folderOf(path);
    const size = this.view.sizeOf(folder) + (this.#added.get(folder) ?? 0);
    return type.fanOut && size >= fullFolder ? fanOutPath(path) : path;
  }

  #free(place: string, type: AnyRecordType, key: string): string {
    const folders = place.split('/').length - 1;
    if (folders > maxDepth) {
      throw new MemoryError('too_large', `The record would be below ${folders} folders.`, {
        hint: `At most ${maxDepth} are looked into: give it a name of fewer levels.`,
        data: { folders, limit: maxDepth },
      });
    }
    for (const candidate of this.#candidates(place, type, key)) {
      const write = this.#writes.get(candidate);
      if (write ? !write.value : !this.view.look(candidate)) return candidate;
    }
    throw new MemoryError('already_exists', `Another record is at ${place}.`, {
      hint: 'Give this one another name, or mend that file if its key is wrong.',
      data: { path: place },
    });
  }

  /** The paths that a record may get, best first. */
  *#candidates(place: string, type: AnyRecordType, key: string): Generator<string> {
    yield place;
    // A path that follows from the key must stay findable by it; any other may get a number.
    for (const path of type.locate?.(key) ?? []) yield this.#fannedOut(path, type);
    if (type.locate) return;
    const suffixed = (suffix: string) => place.replace(/(?=\.[a-z]+$)/, suffix);
    for (let i = 2; i <= maxNamesakes; i++) yield suffixed(`-${i}`);
    yield suffixed(withHash('', key));
    yield suffixed(`-${encodeName(key)}`);
  }

  #set(write: Write): void {
    if (!this.#based.has(write.path) && !this.#writes.has(write.path)) {
      const folder = folderOf(write.path);
      this.#added.set(folder, (this.#added.get(folder) ?? 0) + 1);
    }
    this.#writes.set(write.path, write);
    const keys = this.#byKey.get(write.type) ?? new Map<string, Write>();
    this.#byKey.set(write.type, keys);
    keys.set(write.key, write);
    this.#folded.get(write.type)?.add(write.path);
  }
}

/** @throws MemoryError `invalid_input` for a text that is not Unicode, `too_large`. */
function checkText(text: string): void {
  if (/\p{Cs}/u.test(text)) {
    throw new MemoryError('invalid_input', 'The text holds half of a surrogate pair.', {
      hint: 'It is not Unicode and cannot be kept as UTF-8: send whole characters.',
    });
  }
  const size = Buffer.byteLength(text);
  if (size > maxRecordBytes) {
    throw new MemoryError('too_large', `The record would be ${size} bytes large.`, {
      hint: `At most ${maxRecordBytes} bytes fit; split it.`,
      data: { size, limit: maxRecordBytes },
    });
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

/** Converts record files to a listing: readable records, and damaged files by name. */
export function toListing<T>(files: readonly RecordFile[], view: LiveRecords): Listing<T> {
  const records: Located<T>[] = [];
  const damaged: Listing<T>['damaged'][number][] = [];
  for (const file of files) {
    const twin = view.shadowedBy(file);
    if (file.error) damaged.push({ path: file.path, error: file.error });
    else if (twin !== undefined) damaged.push({ path: file.path, error: duplicate(file, twin) });
    else records.push(located(file));
  }
  return { records, damaged };
}

function duplicate(file: RecordFile, twin: string): MemoryError {
  return new MemoryError('conflict', `${file.path} has the same key as ${twin}.`, {
    hint: 'The one that comes first by name counts; remove or rename the other.',
    data: { path: file.path, twin },
  });
}

/** The error for an access that the mode of a session does not allow. */
export function forbidden(verb: string, path: string, access: Access): MemoryError {
  return new MemoryError('forbidden', `The mode "${access.mode}" may not ${verb} ${path}.`, {
    hint: 'Switch to a mode whose rule file allows it, or leave the mode.',
    data: { path, mode: access.mode ?? null },
  });
}
