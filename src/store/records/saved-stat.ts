import type { Stat } from '../../git/disk/file-layer.ts';

/** The numbers that show whether a file or folder has changed: inode, size and two timestamps. */
export const perStat = 4;

/** A saved stat. It reads its numbers from the list: an object with numbers of its own is four times as large. */
class SavedStat implements Stat {
  readonly kind: 'file' | 'directory';
  readonly #stats: Float64Array;
  readonly #at: number;

  constructor(kind: 'file' | 'directory', stats: Float64Array, row: number) {
    this.kind = kind;
    this.#stats = stats;
    this.#at = perStat * row;
  }

  get ino(): number {
    return this.#stats[this.#at] as number;
  }

  get size(): number {
    return this.#stats[this.#at + 1] as number;
  }

  get mtimeMs(): number {
    return this.#stats[this.#at + 2] as number;
  }

  get ctimeMs(): number {
    return this.#stats[this.#at + 3] as number;
  }

  get mode(): number {
    return 0;
  }

  get links(): number {
    return 1;
  }
}

/** Sets the saved stat of a row. */
export function saveStat(
  stats: Float64Array,
  row: number,
  { ino, size, mtimeMs, ctimeMs }: Stat,
): void {
  stats.set([ino, size, mtimeMs, ctimeMs], perStat * row);
}

/** The saved stat of a row; undefined if the file or folder has to be read again. */
export function toStat(
  kind: 'file' | 'directory',
  stats: Float64Array,
  row: number,
): Stat | undefined {
  return isSize(stats[perStat * row + 1] ?? -1) ? new SavedStat(kind, stats, row) : undefined;
}

/** Whether a size is that of a stat that was saved. */
export function isSize(size: number): boolean {
  return size >= 0 && size < Number.POSITIVE_INFINITY;
}
