import type { Damaged } from '../../core/memory/listing.ts';
import type { Store } from '../../core/memory/store.ts';
import { byKey } from './crud.ts';
import { listPaths } from './paths.ts';
import { type Path, path } from './records.ts';

/** Maximum number of paths that match only words of the query. */
export const relatedLimit = 20;

/** Maximum number of search hits to filter; they include paths of other features. */
const searchLimit = 1_000;

export interface RelevanceQuery {
  readonly query: string;
  /** Only paths of these features; all paths when absent or empty. */
  readonly feature_slugs?: readonly string[] | undefined;
  readonly type?: Path['type'] | undefined;
}

/** Paths, each with what is known against its record. */
export interface RelevantPaths {
  readonly paths: readonly {
    readonly value: Path;
    readonly caution?: readonly string[] | undefined;
  }[];
  /** The words that each of them was found by, the best first. */
  readonly matches: readonly (readonly string[])[];
  readonly damaged: readonly Damaged[];
}

/**
 * Finds the paths whose description or condition of use matches a query.
 *
 * Paths that contain the whole query, in any letter case, come first, sorted by path. At most 20 that
 * match words of it follow: those with most words first, then by path. The path itself does not count:
 * seed 000 searches only description and use_when.
 *
 * @throws MemoryError `not_found` when one of the features does not exist.
 */
export async function findRelevantPaths(
  store: Store,
  { query, feature_slugs = [], type }: RelevanceQuery,
): Promise<RelevantPaths> {
  const features = feature_slugs.length === 0 ? undefined : feature_slugs;
  const { records, damaged } = await listPaths(store, features, type);
  const found = records.filter(({ value }) => says(value, query));
  const cautions = await store.cautions(found.map(({ path }) => path));
  const exact = byKey(found)
    .map(({ path, value }) => ({ value, caution: cautions.get(path) }))
    .sort((a, b) => Number(!!a.caution) - Number(!!b.caution));
  const rest = new Map(records.map(({ key, value }) => [key, value]));
  for (const { value } of exact) rest.delete(value.path);
  const whole = exact.map(() => [query]);
  if (rest.size === 0 || !/[\p{L}\p{N}]/u.test(query)) {
    return { paths: exact, matches: whole, damaged };
  }

  const { hits } = await store.search({
    query,
    types: [path],
    fields: ['body', 'notes'],
    limit: searchLimit,
  });
  const asked = new Set(query.toLowerCase().split(/[^\p{L}\p{M}\p{N}]+/u));
  const related = hits.flatMap(({ key, matches, caution }) => {
    const value = rest.get(key);
    // The search splits "v2" into "v" and "2": such a piece is not a word of the query.
    const words = new Set(matches.map((match) => match.toLowerCase())).values();
    const own = [...words].filter((word) => [...word].length > 1 || asked.has(word));
    return value && own.length > 0 ? [{ value, caution, words: own }] : [];
  });
  related.sort(
    (a, b) =>
      b.words.length - a.words.length ||
      Number(!!a.caution) - Number(!!b.caution) ||
      (a.value.path < b.value.path ? -1 : 1),
  );
  const matches = [...whole, ...related.map(({ words }) => words)];
  return { paths: [...exact, ...related.slice(0, relatedLimit)], matches, damaged };
}

function says({ description = '', use_when = [] }: Path, words: string): boolean {
  const wanted = words.toLowerCase();
  return [description, ...use_when].some((text) => text.toLowerCase().includes(wanted));
}
