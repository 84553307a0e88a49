/** Durations of one kind of work, in milliseconds. */
export class Times {
  readonly #all: number[] = [];

  /** Does the work and records its duration. */
  async measure<T>(work: () => Promise<T> | T): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.#all.push(performance.now() - start);
    return result;
  }

  add(milliseconds: number): void {
    this.#all.push(milliseconds);
  }

  get median(): number {
    return this.#quantile(0.5);
  }

  get p95(): number {
    return this.#quantile(0.95);
  }

  get max(): number {
    return this.#quantile(1);
  }

  /** Median and 95th percentile, as a table shows them. */
  get text(): string {
    return `${ms(this.median)} / ${ms(this.p95)}`;
  }

  #quantile(share: number): number {
    const sorted = this.#all.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  }
}

/** Formats milliseconds with their significant digits. */
export function ms(value: number): string {
  return value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0);
}

export function ratio(ours: Times, theirs: Times): string {
  return `${(ours.median / theirs.median).toFixed(2)}×`;
}

export function count(value: number): string {
  return value.toLocaleString('en-GB');
}

/** A part of a whole, also in percent; empty without a whole. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '' : `${part} of ${whole} (${((100 * part) / whole).toFixed(0)} %)`;
}
