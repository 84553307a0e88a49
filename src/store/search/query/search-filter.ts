import { Minimatch } from 'minimatch';
import type { SearchRequest } from '../../../core/memory/search-hit.ts';
import type { AnyRecordType } from '../../../core/record/record-type.ts';
import { invalid } from '../../../core/values/error.ts';
import { maxClasses } from '../../modes/access.ts';
import type { Labels } from '../terms/saved-search.ts';

/** The parts of a request that select records. */
type Wanted = Pick<SearchRequest, 'type' | 'categories' | 'path'>;

/** Selects the records of a search by type, category and path, whatever their words. */
export class SearchFilter {
  /** The types of the records that it can accept. */
  readonly #types: ReadonlySet<AnyRecordType>;
  readonly #wanted: Wanted;
  readonly #inPath: (path: string) => boolean;

  /**
   * @param types the types that are searched.
   * @throws MemoryError `invalid_input` if no record of these types can match.
   */
  constructor(wanted: Wanted, types: readonly AnyRecordType[]) {
    const { type, categories, path } = wanted;
    this.#wanted = wanted;
    const typed = type === undefined ? types : ofType(types, type);
    this.#types = new Set(categories === undefined ? typed : ofCategories(typed, categories));
    this.#inPath = path === undefined ? () => true : pathFilter(path);
  }

  /** Returns whether every record of these types is accepted. */
  acceptsAll(types: readonly AnyRecordType[]): boolean {
    const { type, categories, path } = this.#wanted;
    if (type !== undefined || categories !== undefined || path !== undefined) return false;
    return types.every((one) => this.#types.has(one));
  }

  /** Returns whether a record of this type at this path can be accepted, whatever its fields are. */
  covers(path: string, type: AnyRecordType): boolean {
    return this.#types.has(type) && this.#inPath(path);
  }

  accepts(path: string, type: AnyRecordType, fields: Labels): boolean {
    if (!this.covers(path, type)) return false;
    const wanted = this.#wanted;
    if (wanted.type !== undefined && wanted.type !== type.name && wanted.type !== fields.type) {
      return false;
    }
    return wanted.categories?.includes(fields.category ?? '') ?? true;
  }
}

/** The record types with this name, and those whose records can be of this type. */
function ofType(types: readonly AnyRecordType[], wanted: string): readonly AnyRecordType[] {
  const names = (type: AnyRecordType) => [type.name, ...(type.vocabulary?.type ?? [])];
  const found = types.filter((type) => names(type).includes(wanted));
  if (found.length === 0) throw unknown('type', 'types', wanted, types.flatMap(names));
  return found;
}

function ofCategories(
  types: readonly AnyRecordType[],
  wanted: readonly string[],
): readonly AnyRecordType[] {
  const names = (type: AnyRecordType) => type.vocabulary?.category ?? [];
  const known = types.flatMap(names);
  const missing = wanted.find((category) => !known.includes(category));
  if (missing !== undefined) throw unknown('category', 'categories', missing, known);
  return types.filter((type) => names(type).some((category) => wanted.includes(category)));
}

function unknown(field: string, plural: string, value: string, known: readonly string[]) {
  const list = [...new Set(known)].join(', ') || 'none';
  const what = `no record that is searched can have the ${field} ${JSON.stringify(value)}`;
  return invalid([field], `${what}; their ${plural} are: ${list}`);
}

/** Matches a path as in results, a folder with everything below it, or a glob. */
function pathFilter(given: string): (path: string) => boolean {
  const pattern = given
    .normalize('NFC')
    .replace(/^(?:.*\/)?\.memory-bank(?:\/|$)|^(?:\.?\/)+/, '')
    .replace(/\/+$/, '/');
  const folder = pattern.replace(/\/(?:\*\*)?$/, '');
  if (folder === '' || folder === '.') return () => true;
  const glob = pathGlob(pattern.endsWith('/') ? `${pattern}**` : pattern);
  return (path) => {
    const name = path.normalize('NFC');
    // A file name may contain glob characters.
    return name === folder || name.startsWith(`${folder}/`) || glob.match(name);
  };
}

function pathGlob(pattern: string): Minimatch {
  if (pattern.length > 256) {
    throw invalid(['path'], 'must have at most 256 characters', 'size');
  }
  if (pattern.split('[').length - 1 > maxClasses) {
    throw invalid(['path'], `must have at most ${maxClasses} "["`, 'size');
  }
  // Braces and extended globs can take exponential time on a hostile pattern.
  return new Minimatch(pattern, { dot: true, nobrace: true, noext: true, nocomment: true });
}
