export type Unit = 'bytes' | 'ms' | '';

/** Formats an amount for a page: `64 KiB`, `1,000`, `0.5 s`. */
export function amount(value: number, unit: Unit): string {
  if (unit === 'ms') return `${value / 1000} s`;
  if (unit === '' || value < 1024)
    return `${value.toLocaleString('en-GB')}${unit === '' ? '' : ' bytes'}`;
  const mebi = value / 1024 / 1024;
  return mebi >= 1 ? `${mebi} MiB` : `${value / 1024} KiB`;
}
