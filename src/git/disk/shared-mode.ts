/** A folder whose new files get other permissions than the umask gives. */
export interface SharedFolder {
  readonly folder: string;
  /** Bits that are added; a negative number replaces all bits (git-config, core.sharedRepository). */
  readonly bits: () => number;
}

/** The group of a folder is that of its new entries. */
const setGroup = 0o2000;

/** The permissions that git gives to a file or folder of a shared repository. */
export function sharedMode(mode: number, bits: number, isFolder: boolean): number {
  let tweak = Math.abs(bits);
  if ((mode & 0o200) === 0) tweak &= ~0o222;
  if ((mode & 0o100) !== 0) tweak |= (tweak & 0o444) >> 2;
  const file = bits < 0 ? (mode & ~0o777) | tweak : mode | tweak;
  if (!isFolder) return file & 0o7777;
  const folder = file | ((file & 0o444) >> 2);
  const sharesGroup = process.platform === 'linux' && (folder & 0o060) !== 0;
  return (folder | (sharesGroup ? setGroup : 0)) & 0o7777;
}
