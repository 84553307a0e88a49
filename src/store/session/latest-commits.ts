import { indexGraph, keyedByPath, lastCommits } from '../evidence/last-commits.ts';
import type { ChangeIndex } from '../history/change-index.ts';
import { inSlices } from '../records/slices.ts';

/** Limit of the new commits whose changes are added to what is known. */
const maxAdded = 4096;

/** The last commit of each record, known from one commit of the memory to the next. */
export class LatestCommits {
  #index: ChangeIndex | undefined;
  #head = -1;
  #isWhole = false;
  readonly #commits = new Map<string, number | undefined>();

  /**
   * Returns the last commits of some paths; undefined for a path that no commit has.
   *
   * @param all the paths of all records, for which the history is read once if it is read again.
   */
  async of(
    index: ChangeIndex,
    head: number,
    paths: readonly string[],
    all: () => readonly string[],
  ): Promise<ReadonlyMap<string, number | undefined>> {
    if (this.#index !== index || !this.#advance(index, head)) {
      [this.#index, this.#head, this.#isWhole] = [index, head, false];
      this.#commits.clear();
    }
    const unknown = paths.filter((path) => !this.#commits.has(path));
    if (unknown.length > 0) {
      // The first search of a process may be the only one.
      const isLater = this.#commits.size > 0 && !this.#isWhole;
      const wanted = isLater ? [...new Set([...unknown, ...all()])] : unknown;
      const found = await inSlices(lastCommits(indexGraph(index), head, keyedByPath(wanted)));
      if (this.#index !== index || this.#head !== head) return this.#picked(paths, found);
      if (isLater) this.#isWhole = true;
      for (const path of wanted) this.#commits.set(path, found.get(path)?.commit);
    }
    return new Map(paths.map((path) => [path, this.#commits.get(path)]));
  }

  /** The answer of a search during which the memory went on. */
  #picked(paths: readonly string[], found: ReadonlyMap<string, { readonly commit: number }>) {
    return new Map(paths.map((path) => [path, found.get(path)?.commit ?? this.#commits.get(path)]));
  }

  /** Adds the changes of the commits since the known one; returns false unless they follow it one by one. */
  #advance(index: ChangeIndex, head: number): boolean {
    const added: number[] = [];
    let at = head;
    while (at > this.#head && added.length < maxAdded) {
      const { parents } = index.commit(at);
      if (parents.length !== 1) return false;
      added.push(at);
      at = parents[0] ?? -1;
    }
    if (at !== this.#head) return false;
    for (const commit of added.reverse()) this.#add(index, commit);
    this.#head = head;
    return true;
  }

  #add(index: ChangeIndex, commit: number): void {
    const changes = index.changes(commit, 0);
    const removed = new Map(
      changes.flatMap(({ path, before, after }) =>
        after === undefined && before !== undefined ? [[before, path] as const] : [],
      ),
    );
    const moved = changes.flatMap(({ path, before, after }) => {
      const source = before === undefined && after !== undefined ? removed.get(after) : undefined;
      return source === undefined ? [] : [{ path, commit: this.#commits.get(source) }];
    });
    for (const { path } of changes) this.#commits.set(path, commit);
    // A commit that only moves a file leaves its content as it was.
    for (const { path, commit: earlier } of moved) {
      if (earlier === undefined) this.#commits.delete(path);
      else this.#commits.set(path, earlier);
    }
  }
}
