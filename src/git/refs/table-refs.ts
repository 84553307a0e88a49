import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import { nameOf } from '../reftable/table-bytes.ts';
import { type FoundRef, findRef, TableStack } from '../reftable/table-stack.ts';
import { objectFormatIn } from '../repository/repository-format.ts';
import { folderOf, type RefPlaces } from './ref-places.ts';
import { idsIn, maxLogLines, type RefStore, type ValueOf, withHead } from './ref-store.ts';

/** The folder of the tables in a git directory. */
const folderName = 'reftable';

/** The refs that show an operation under way; git keeps those with more than one value in files. */
const pseudoRefs = ['CHERRY_PICK_HEAD', 'REVERT_HEAD'] as const;

/** Refs and reflogs in tables: one stack for the refs of all work trees, and one for each linked work tree. */
export class TableRefs implements RefStore {
  readonly #files: Files;
  readonly #places: RefPlaces;
  /** The tables of the refs that all work trees share. */
  readonly shared: TableStack;
  /** Those of this work tree; the same ones for the main one. */
  readonly own: TableStack;
  /** The number of the last transaction of refs, and when their table was written. */
  readonly #changes = new Map<string, { readonly index: number; readonly time: number }>();

  constructor(files: Files, places: RefPlaces) {
    [this.#files, this.#places] = [files, places];
    const { gitDir, commonDir } = places;
    this.shared = new TableStack(files, join(commonDir, folderName));
    this.own = gitDir === commonDir ? this.shared : new TableStack(files, join(gitDir, folderName));
  }

  /** The tables of a ref. */
  stackOf(ref: string): TableStack {
    return folderOf(this.#places, ref) === this.#places.commonDir ? this.shared : this.own;
  }

  value(ref: string): string | undefined {
    return this.stackOf(ref).find(ref)?.record.value;
  }

  look<T>(see: (value: ValueOf) => T): T {
    return this.#find((find) => see((ref) => find(ref)?.record.value));
  }

  /** Looks at the records of several refs as they were at one moment. */
  #find<T>(see: (find: (ref: string) => FoundRef | undefined) => T): T {
    // A linked work tree has its own tables for HEAD, which git reads apart as well.
    if (this.own !== this.shared) return see((ref) => this.stackOf(ref).find(ref));
    return this.shared.look((tables) => see((ref) => findRef(tables, ref)));
  }

  values(prefix: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const { key, value } of this.shared.list(prefix)) {
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

  pseudoRefs(): ReadonlySet<string> {
    const names = this.look((value) => pseudoRefs.filter((name) => value(name) !== undefined));
    return new Set(names);
  }

  lastChange(refs: readonly string[]): number {
    const found = this.#find((find) => refs.map(find));
    return Math.max(0, ...refs.map((ref, i) => this.#timeOf(ref, found[i])));
  }

  /** When a ref last changed. Merging tables keeps the number of the transaction, but not the time of the file. */
  #timeOf(ref: string, found: FoundRef | undefined): number {
    if (!found) return 0;
    const { index } = found.record;
    const known = this.#changes.get(ref);
    if (known?.index === index) return known.time;
    const time = this.#files.lstat(found.table.path)?.ctimeMs ?? 0;
    this.#changes.set(ref, { index, time });
    return time;
  }

  earlierValues(ref: string): Oid[] {
    const lines = this.stackOf(ref).log(ref, maxLogLines);
    return idsIn(lines.flatMap(({ entry }) => (entry ? [[entry.to, entry.from]] : [])));
  }

  lockedFiles(branch: string | undefined): string[] {
    return [...new Set(withHead(branch).map((ref) => this.stackOf(ref).listPath))];
  }

  /** The format of the object ids. */
  get format(): ObjectFormat {
    return objectFormatIn(this.#files, this.#places.commonDir);
  }

  strays(): [] {
    return [];
  }
}
