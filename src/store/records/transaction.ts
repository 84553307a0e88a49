import type { AnnotationChanges, Annotations } from '../../core/evidence/annotations.ts';
import {
  addressIn,
  annotated,
  annotationsAt,
  textAt,
} from '../../core/markdown/section-statements.ts';
import type { Listing, ListOptions, Located } from '../../core/memory/listing.ts';
import type { Transaction } from '../../core/memory/store.ts';
import { missing } from '../../core/memory/supersede.ts';
import { encodeName, withHash } from '../../core/names/name.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import type { AnyRecordType, RecordType } from '../../core/record/record-type.ts';
import { halfSurrogate, MemoryError } from '../../core/values/error.ts';
import type { Access } from '../modes/access.ts';
import type { TextChange } from '../secrets/guard.ts';
import { fanOutPath, fullFolder } from './fan-out.ts';
import { FoldedPaths } from './folded-paths.ts';
import { maxDepth } from './folder-scan.ts';
import type { RecordFile } from './record-file.ts';
import { folderOf } from './record-path.ts';
import { forbidden, isAsked, RecordReader, type Records } from './record-reader.ts';

/** Size limit of a text that a tool writes, in bytes. */
export const maxRecordBytes = 2 * 1024 * 1024;

/** Limit of numbers for records with the same file name. */
const maxNamesakes = 100;

/** Thrown in a change if a file has changed since it was read; the change is planned again. */
export class RecordChangedError extends Error {}

interface Write {
  readonly type: AnyRecordType;
  readonly key: string;
  readonly path: string;
  /** Undefined: the record is removed. */
  readonly value: object | undefined;
  readonly text: string | undefined;
}

/**
 * The records as a change sees them: the view with the writes of the change on top, and below them those
 * of earlier changes that are committed together with it.
 */
export class LiveTransaction extends RecordReader implements Transaction {
  readonly #writes = new Map<string, Write>();
  /** The writes of this change. */
  readonly #own = new Set<string>();
  /** The records that its commit is about, changed or not. */
  readonly #kept = new Set<string>();
  readonly #byKey = new Map<AnyRecordType, Map<string, Write>>();
  /** The text of each existing file on which a new text is based. */
  readonly #based = new Map<string, string>();
  /** The paths of a type, with the written ones; filled when a twin is searched for. */
  readonly #folded = new Map<AnyRecordType, FoldedPaths>();
  /** The number of new files by folder. */
  readonly #added = new Map<string, number>();
  readonly #readText: (record: RecordFile) => string;

  /**
   * @param readText returns the text of a known file; throws RecordChangedError.
   * @param earlier the change before, which is not on disk yet.
   */
  constructor(
    records: Records,
    access: Access,
    readText: (record: RecordFile) => string,
    earlier?: LiveTransaction,
  ) {
    super(records, access);
    this.#readText = readText;
    if (earlier) this.#follow(earlier);
  }

  #follow(earlier: LiveTransaction): void {
    this.share(earlier);
    for (const [folder, count] of earlier.#added) this.#added.set(folder, count);
    for (const [path, write] of earlier.#writes) {
      this.#writes.set(path, write);
      this.#keysOf(write.type).set(write.key, write);
      if (write.text !== undefined) this.#based.set(path, write.text);
    }
  }

  /** The number of files that this change and the earlier ones write or remove. */
  get size(): number {
    return this.#writes.size;
  }

  override async get<T extends object>(
    type: RecordType<T>,
    key: string,
  ): Promise<Located<T> | undefined> {
    const write = this.#byKey.get(type)?.get(key);
    if (!write) return super.get(type, key);
    if (!write.value) return undefined;
    this.#checkReadable(write.path);
    return { key, path: write.path, value: write.value as T };
  }

  override async list<T extends object>(
    type: RecordType<T>,
    options: ListOptions = {},
  ): Promise<Listing<T>> {
    const listing = await super.list(type, options);
    const records = listing.records.filter(({ path }) => !this.#writes.has(path));
    for (const { key, path, value } of this.#byKey.get(type)?.values() ?? []) {
      if (!value || !this.mayRead(path)) continue;
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
    const removed = earlier && earlier.text === undefined && !this.#own.has(earlier.path);
    const known = removed ? undefined : (earlier?.path ?? existing?.path);
    const path = known ?? this.#place(type, value);
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    const before = earlier ? earlier.text : existing && this.#base(existing);
    const text = type.codec.encode(value, written ?? before);
    checkText(text);
    this.#set({ type, key, path, value, text });
    return { key, path, value };
  }

  async repair(path: string, text: string): Promise<void> {
    await this.refresh();
    const existing = this.view.read(path);
    if (!existing) throw missing(path);
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    const { type, error } = existing;
    const value = type.codec.decode(text, path);
    const key = type.key(value);
    const owner = this.view.find(type, key)?.path ?? path;
    const counts = !error && this.view.shadowedBy(existing) === undefined;
    if (counts || owner !== path) {
      throw new MemoryError('conflict', `${owner} is already the record ${JSON.stringify(key)}.`, {
        hint: `Take over what it lacks, then remove ${path}, or give it another key.`,
      });
    }
    checkText(text);
    this.#base(existing);
    this.#set({ type, key, path, value, text });
  }

  async annotations(address: string): Promise<Annotations | undefined> {
    const text = (await this.#textAt(parseAddress(address).path))?.text;
    return text === undefined ? undefined : annotationsAt(address, text);
  }

  async addressOf(address: string): Promise<string | undefined> {
    const text = (await this.#textAt(parseAddress(address).path))?.text;
    return text === undefined ? undefined : addressIn(address, text);
  }

  async text(address: string): Promise<string | undefined> {
    const text = (await this.#textAt(parseAddress(address).path))?.text;
    return text === undefined ? undefined : textAt(address, text);
  }

  async annotate(address: string, changes: AnnotationChanges): Promise<void> {
    await this.rewrite(parseAddress(address).path, (text) => annotated(address, text, changes));
  }

  async forget(path: string): Promise<boolean> {
    const found = await this.#textAt(path);
    return found !== undefined && this.remove(found.type, found.key);
  }

  async rewrite(path: string, change: (text: string) => string): Promise<void> {
    const found = await this.#textAt(path);
    if (!found) throw missing(path);
    if (!this.access.mayWrite(path)) throw forbidden('change', path, this.access);
    const { type, key } = found;
    const text = change(found.text);
    checkText(text);
    this.#set({ type, key, path, value: type.codec.decode(text, path), text });
  }

  /** Makes the change a commit about a record, also if nothing changes its text. */
  async keep(path: string): Promise<void> {
    const found = await this.#textAt(path);
    if (!found) throw missing(path);
    const { type, key, text } = found;
    this.#set({ type, key, path, value: type.codec.decode(text, path), text });
    this.#kept.add(path);
  }

  async #textAt(path: string) {
    const write = this.#writes.get(path);
    if (write) {
      const { text, type, key } = write;
      if (text === undefined) return undefined;
      this.#checkReadable(path);
      return { text, type, key };
    }
    await this.refresh();
    const record = this.view.typeOf(path) && this.view.read(path);
    if (record?.error) throw record.error;
    if (record?.key === undefined) return undefined;
    this.#checkReadable(path);
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
   * Restores a record byte for byte, at its current path or else at its earlier one, also if the file
   * cannot be read.
   *
   * @returns its path; undefined if it is already the same.
   */
  async restore(
    record: Located<object>,
    type: AnyRecordType,
    { text, present }: { readonly text: string; readonly present: string },
  ) {
    const { key, value } = record;
    const there = this.view.read(present);
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
    for (const path of this.#own) {
      const { type, text, value } = this.#writes.get(path) as Write;
      const before = this.#based.get(path);
      // A restored record may have taken its name before a twin was removed.
      if (before === undefined && text !== undefined) this.#checkTwins(path, type);
      if (before !== text || this.#kept.has(path))
        changes.push({ path, before, after: text, value });
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A path that may be changed may also be read: an update needs the old text. */
  override mayRead(path: string): boolean {
    return super.mayRead(path) || this.access.mayWrite(path);
  }

  #checkReadable(path: string): void {
    if (!this.mayRead(path)) throw forbidden('read', path, this.access);
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
      return write ? write.value !== undefined : this.view.read(other);
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
      if (write ? !write.value : !this.view.read(candidate)) return candidate;
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
    this.#own.add(write.path);
    this.#keysOf(write.type).set(write.key, write);
    this.#folded.get(write.type)?.add(write.path);
  }

  #keysOf(type: AnyRecordType): Map<string, Write> {
    let keys = this.#byKey.get(type);
    if (!keys) {
      keys = new Map();
      this.#byKey.set(type, keys);
    }
    return keys;
  }
}

/** @throws MemoryError `invalid_input` for a text that is not Unicode, `too_large`. */
function checkText(text: string): void {
  if (!text.isWellFormed()) throw halfSurrogate();
  const size = Buffer.byteLength(text);
  if (size > maxRecordBytes) {
    throw new MemoryError('too_large', `The record would be ${size} bytes large.`, {
      hint: `At most ${maxRecordBytes} bytes fit; split it.`,
      data: { size, limit: maxRecordBytes },
    });
  }
}
