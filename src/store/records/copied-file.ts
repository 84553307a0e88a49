import type { AnyRecordType } from '../../core/record/record-type.ts';
import { fanOutPath } from './fan-out.ts';

/** The names that cloud folders and file managers give to copies, without the extension. */
const copyNames = [
  /^(.+) \(\d+\)$/,
  /^(.+) \([^()]*conflicted copy[^()]*\)$/i,
  /^(.+) \([^()]*(?:'s|\u2019s) copy[^()]*\)$/i,
  /^(.+?)(?: -)? copy(?: \(?\d+\)?)?$/i,
  /^copy(?: \(?\d+\)?)? of (.+)$/i,
  /^(.+)\.sync-conflict-[\w-]+$/,
  /^(.+) \d+$/,
];

/** The characters that all names of copies have: a fast test of many other names. */
const sign = / |\.sync-conflict-/;

/** The path of the file of which this one is a copy, by its name; undefined for no such name. */
export function copiedFrom(path: string): string | undefined {
  if (!sign.test(path)) return undefined;
  const [, folder = '', name = '', extension = ''] =
    /^(.*\/)?([^/]+?)(\.[a-z]+)?$/.exec(path) ?? [];
  const original = copyNames.map((one) => one.exec(name)?.[1]).find((found) => found !== undefined);
  return original === undefined ? undefined : `${folder}${original}${extension}`;
}

/**
 * Orders the files of one key, the one that counts first: a tracked one, then one whose name the key makes,
 * then one that does not have the name of a copy, then the first by name.
 *
 * @param paths sorted by name.
 */
export function byRank(
  paths: readonly string[],
  type: AnyRecordType,
  key: string,
  isTracked: (path: string) => boolean,
): readonly string[] {
  if (paths.length < 2) return paths;
  const places = new Set(
    (type.locate?.(key) ?? []).flatMap((path) => (type.fanOut ? [path, fanOutPath(path)] : path)),
  );
  const rank = (path: string) =>
    (isTracked(path) ? 0 : 4) +
    (places.has(path) ? 0 : 2) +
    (copiedFrom(path) === undefined ? 0 : 1);
  const ranks = new Map(paths.map((path) => [path, rank(path)]));
  return [...paths].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}
