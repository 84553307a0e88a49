/** Result of a suite of faults: the number tried, and the violations. */
export class Tally {
  readonly #rows = new Map<string, { tried: number; violations: string[]; note: string }>();

  /** Counts one fault with its violations; undefined if the fault could not be tried. */
  add(kind: string, violations: readonly string[] | undefined): void {
    if (!violations) return;
    const row = this.#row(kind);
    row.tried += 1;
    row.violations.push(...violations);
  }

  /** Notes why a kind of fault cannot be tried here. */
  skip(kind: string, reason: string): void {
    this.#row(kind).note = `skipped: ${reason}`;
  }

  get violations(): string[] {
    return [...this.#rows].flatMap(([kind, { violations }]) =>
      violations.map((violation) => `${kind}: ${violation}`),
    );
  }

  /** The rows, which another process can add to its tally. */
  get rows(): readonly Row[] {
    return [...this.#rows].map(([kind, row]) => ({ kind, ...row }));
  }

  take(rows: readonly Row[]): void {
    for (const { kind, tried, violations, note } of rows) {
      const row = this.#row(kind);
      row.tried += tried;
      row.violations.push(...violations);
      row.note ||= note;
    }
  }

  table(): string {
    const rows = [...this.#rows].map(([kind, { tried, violations, note }]) => {
      return [kind, note || String(tried), note ? '' : String(violations.length)];
    });
    const lines = [['fault', 'tried', 'violations'], ...rows];
    const width = [0, 1].map((i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
    return lines
      .map(
        ([a = '', b = '', c = '']) =>
          `${a.padEnd(width[0] ?? 0)}  ${b.padStart(width[1] ?? 0)}  ${c}`,
      )
      .join('\n');
  }

  #row(kind: string) {
    const row = this.#rows.get(kind) ?? { tried: 0, violations: [], note: '' };
    this.#rows.set(kind, row);
    return row;
  }
}

export interface Row {
  readonly kind: string;
  readonly tried: number;
  readonly violations: readonly string[];
  readonly note: string;
}
