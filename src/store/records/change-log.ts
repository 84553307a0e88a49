import type { Stat } from '../../git/disk/file-layer.ts';
import type { LiveRecords } from './live-records.ts';
import type { Steps } from './slices.ts';

/** With more changed paths than this, all files are compared again. */
const maxPaths = 4096;

/** The records and folders of a view that differ from a set of known states. */
export class ChangeLog {
  readonly #view: LiveRecords;
  /** Identifies the set of known states; undefined if all files have to be compared. */
  #known: string | undefined;
  readonly #paths = new Set<string>();

  constructor(view: LiveRecords) {
    this.#view = view;
    view.onChange((path) => {
      if (this.#known === undefined) return;
      if (this.#paths.size < maxPaths) this.#paths.add(path);
      else this.#known = undefined;
    });
  }

  /**
   * Returns the paths of the record files and folders that may differ, as of the last look.
   *
   * @param known identifies the set: for the same one, only what was announced since is added.
   */
  *since(known: string, isKnown: (path: string, stat: Stat) => boolean): Steps<readonly string[]> {
    if (this.#known !== known) yield* this.#begin(known, isKnown);
    return [...this.#paths];
  }

  *#begin(known: string, isKnown: (path: string, stat: Stat) => boolean): Steps {
    this.#paths.clear();
    // Paths that are announced from now on are added.
    this.#known = known;
    let isComplete = false;
    try {
      const changed = yield* this.#view.changedFiles(isKnown);
      for (const path of changed) this.#paths.add(path);
      isComplete = true;
    } finally {
      if (!isComplete) this.#known = undefined;
    }
  }
}
