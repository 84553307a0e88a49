/** The git directories of a work tree; see `WorkTree`. */
export interface RefPlaces {
  readonly gitDir: string;
  readonly commonDir: string;
}

/** The git directory of a ref, of its reflog and of its lock. */
export function folderOf({ gitDir, commonDir }: RefPlaces, ref: string): string {
  const own = /^refs\/(bisect|worktree|rewritten)\//.test(ref) || !ref.startsWith('refs/');
  return own ? gitDir : commonDir;
}
