import type { Damaged, Store } from '../../core/store.ts';
import { byKey } from './crud.ts';
import { listPaths } from './paths.ts';
import { type Path, path } from './records.ts';

/** How many paths may follow that match only words of the query. */
const relatedLimit = 20;

/** How many hits of the search are looked at; other features' paths are among them. */
const searchLimit = 500;

export interface RelevanceQuery {
  readonly query: string;
  /** Only paths of these features; all paths when there are none. */
  readonly feature_slugs?: readonly string[] | undefined;
  readonly type?: Path['type'] | undefined;
}

/**
 * The paths whose description or a condition of use matches a query.
 *
 * Those that contain the whole query, in any case, come first, by path; at most 20 that match words
 * of it follow, the best first. The text of the path itself does not count (RESOLUTIONS 0.17).
 *
 * @throws MemoryError `not_found` when one of the features does not exist.
 */
export async function findRelevantPaths(
  store: Store,
  { query, feature_slugs = [], type }: RelevanceQuery,
): Promise<{ paths: Path[]; damaged: readonly Damaged[] }> {
  const features = feature_slugs.length === 0 ? undefined : feature_slugs;
  const { records, damaged } = await listPaths(store, features, type);
  const exact = byKey(records.filter(({ value }) => says(value, query)));
  const rest = new Map(records.map(({ key, value }) => [key, value]));
  for (const { path } of exact) rest.delete(path);
  if (rest.size === 0 || !/[\p{L}\p{N}]/u.test(query)) return { paths: exact, damaged };

  const { hits } = await store.search({ query, types: [path], limit: searchLimit });
  const related = hits.flatMap(({ key, matches }) => {
    const value = rest.get(key);
    return value && matches.some((match) => says(value, match)) ? [value] : [];
  });
  return { paths: [...exact, ...related.slice(0, relatedLimit)], damaged };
}

function says({ description = '', use_when = [] }: Path, words: string): boolean {
  const wanted = words.toLowerCase();
  return [description, ...use_when].some((text) => text.toLowerCase().includes(wanted));
}
