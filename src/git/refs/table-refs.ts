import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import { nameOf } from '../reftable/table-bytes.ts';
import { TableStack } from '../reftable/table-stack.ts';
import { folderOf, idsIn, maxLogLines, type RefPlaces, type RefStore } from './ref-store.ts';

/** The folder of the tables in a git directory. */
const folderName = 'reftable';

/** Refs and reflogs in tables: one stack for the refs of all work trees, and one for each linked work tree. */
export class TableRefs implements RefStore {
  readonly #files: Files;
  readonly #places: RefPlaces;
  readonly #shared: TableStack;
  readonly #own: TableStack;
  /** The number of the last transaction of refs, and when their table was written. */
  readonly #changes = new Map<string, { readonly index: number; readonly time: number }>();

  constructor(files: Files, places: RefPlaces) {
    [this.#files, this.#places] = [files, places];
    const { gitDir, commonDir } = places;
    this.#shared = new TableStack(files, join(commonDir, folderName));
    this.#own =
      gitDir === commonDir ? this.#shared : new TableStack(files, join(gitDir, folderName));
  }

  value(ref: string): string | undefined {
    return this.#stack(ref).find(ref)?.record.value;
  }

  values(prefix: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const { key, value } of this.#shared.list(prefix)) {
      if (value !== undefined) found.set(nameOf(key), value);
    }
    return found;
  }

  lost(ref: string): MemoryError {
    const value = this.value(ref);
    return new MemoryError('damaged', `The ref ${ref} cannot be read: it has the value ${value}.`, {
      hint: `Set it with "git update-ref --no-deref ${ref} <commit>".`,
      data: { ref },
    });
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  lastChange(refs: readonly string[]): number {
    return Math.max(0, ...refs.map((ref) => this.#changeOf(ref)));
  }

  /** When a ref last changed. Merging tables keeps the number of the transaction, but not the time of the file. */
  #changeOf(ref: string): number {
    const found = this.#stack(ref).find(ref);
    if (!found) return 0;
    const { index } = found.record;
    const known = this.#changes.get(ref);
    if (known?.index === index) return known.time;
    const time = this.#files.lstat(found.table.path)?.ctimeMs ?? 0;
    this.#changes.set(ref, { index, time });
    return time;
  }

  earlierValues(ref: string): Oid[] {
    const lines = this.#stack(ref).log(ref, maxLogLines);
    return idsIn(lines.flatMap(({ entry }) => (entry ? [[entry.to, entry.from]] : [])));
  }

  lockedFiles(branch: string | undefined): string[] {
    const refs = branch === undefined ? ['HEAD'] : ['HEAD', branch];
    return [...new Set(refs.map((ref) => this.#stack(ref).listPath))];
  }

  strays(): [] {
    return [];
  }

  #stack(ref: string): TableStack {
    return folderOf(this.#places, ref) === this.#places.commonDir ? this.#shared : this.#own;
  }
}
