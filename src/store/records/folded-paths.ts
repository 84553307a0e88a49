import { foldName } from '../../core/names/file-name.ts';

/** In what names that fold to one differ, and what helps. */
export const foldedDifference =
  'only in letter case or Unicode normal form, and some file systems keep only one of them: rename all but one.';

/** Paths by folded name, to find those that some file systems do not tell apart. */
export class FoldedPaths {
  readonly #paths = new Map<string, Set<string>>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) this.add(path);
  }

  add(path: string): void {
    const name = foldName(path);
    this.#paths.set(name, (this.#paths.get(name) ?? new Set()).add(path));
  }

  /** Whether a path is taken, on every file system. */
  has(path: string): boolean {
    return this.#paths.has(foldName(path));
  }

  /** A name next to a file that no other one has. */
  freeName(path: string): string {
    const [, stem = path, extension = ''] = /^(.*?)(\.[^./]*)?$/.exec(path) ?? [];
    let number = 2;
    while (this.has(`${stem}-${number}${extension}`)) number += 1;
    return `${stem}-${number}${extension}`;
  }

  /** The other paths with the same folded name. */
  twinsOf(path: string): string[] {
    return [...(this.#paths.get(foldName(path)) ?? [])].filter((other) => other !== path);
  }
}
