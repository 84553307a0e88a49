import type { Stat } from '../../git/disk/file-layer.ts';

/**
 * The state of a place in the work tree, as far as a verdict about it depends on it.
 *
 * @param precise whether the content matters, and not only that the place exists.
 */
export function placeState(stat: Stat | undefined, precise: boolean): string {
  if (stat?.kind !== 'file' || !precise) return stat?.kind ?? '';
  return [stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino].join(' ');
}
