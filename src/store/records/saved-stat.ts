import { type Stat, statNumbers, statSize } from '../../git/disk/file-layer.ts';

/** A saved stat. It reads its numbers from the list: an object with numbers of its own is four times as large. */
class SavedStat implements Stat {
  readonly kind: 'file' | 'directory';
  readonly #stats: Float64Array;
  readonly #at: number;

  constructor(kind: 'file' | 'directory', stats: Float64Array, row: number) {
    this.kind = kind;
    this.#stats = stats;
    this.#at = statSize * row;
  }

  get size(): number {
    return this.#stats[this.#at] as number;
  }

  get mtimeMs(): number {
    return this.#stats[this.#at + 1] as number;
  }

  get ctimeMs(): number {
    return this.#stats[this.#at + 2] as number;
  }

  get ino(): number {
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
export function saveStat(stats: Float64Array, row: number, stat: Stat): void {
  stats.set(statNumbers(stat), statSize * row);
}

/** The saved stat of a row; undefined if the file or folder has to be read again. */
export function toStat(
  kind: 'file' | 'directory',
  stats: Float64Array,
  row: number,
): Stat | undefined {
  return sizeAt(stats, row) === undefined ? undefined : new SavedStat(kind, stats, row);
}

/** The size in the saved stat of a row, in bytes; undefined if the file or folder has to be read again. */
export function sizeAt(stats: Float64Array, row: number): number | undefined {
  const size = stats[statSize * row] ?? -1;
  return size >= 0 && size < Number.POSITIVE_INFINITY ? size : undefined;
}
