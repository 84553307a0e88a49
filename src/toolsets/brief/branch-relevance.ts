import type { BranchWork } from '../../core/context.ts';
import type { BriefPoint } from '../../core/record-type.ts';

/** Characters of a statement that are searched for paths. */
const maxText = 20_000;

/** How much a statement has to do with the branch: its name, its commits and the edited files. */
export class BranchRelevance {
  readonly #edited: ReadonlySet<string>;
  readonly #committed: ReadonlySet<string>;
  readonly #folders = new Set<string>();
  readonly #branch: string;

  constructor(branch: string | undefined, { committed, edited }: BranchWork) {
    this.#branch = ` ${words(branch ?? '')} `;
    this.#edited = new Set(edited);
    this.#committed = new Set(committed);
    for (const path of [...committed, ...edited]) {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        this.#folders.add(path.slice(0, end));
      }
    }
  }

  /** Returns 0 for a statement that has nothing to do with the branch. */
  of({ text, names = [] }: BriefPoint): number {
    let relevance = 0;
    for (const name of names) relevance += this.#ofName(name);
    if (this.#edited.size + this.#committed.size === 0) return relevance;
    for (const [path] of text.slice(0, maxText).matchAll(/[\w@/.-]+/g)) {
      // A path can end a sentence.
      relevance += this.#ofPath(path.replace(/^\.\/|\.$/g, ''));
    }
    return relevance;
  }

  #ofName(name: string): number {
    const spelled = words(name);
    const named = spelled.length >= 3 && this.#branch.includes(` ${spelled} `);
    const folder = this.#folders.has(name.replace(/\/$/, ''));
    return this.#ofPath(name) + (named ? 3 : 0) + (folder ? 1 : 0);
  }

  #ofPath(path: string): number {
    return (this.#edited.has(path) ? 2 : 0) + (this.#committed.has(path) ? 2 : 0);
  }
}

/** The letters and digits of a name in lower case, with single spaces between the words. */
function words(name: string): string {
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .join(' ');
}
