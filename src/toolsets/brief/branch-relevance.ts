import type { BranchWork } from '../../core/declarations/context.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';

/** Characters of a statement that are searched for paths. */
const maxText = 20_000;
/** Longest name that is looked for in the name of a branch, in words. */
const maxWords = 12;
/** The fewest characters of such a name. */
const leastName = 3;

/** How much a statement has to do with the branch: its name, its commits and the edited files. */
export class BranchRelevance {
  /** The worth of each key that `relevanceKeys` can return; of all other keys it is 0. */
  readonly weights: ReadonlyMap<string, number>;
  readonly #hasPaths: boolean;

  constructor(branch: string | undefined, { committed, edited }: BranchWork) {
    const weights = new Map<string, number>();
    for (const path of new Set(committed)) add(weights, pathKey(path), 2);
    for (const path of new Set(edited)) add(weights, pathKey(path), 2);
    for (const path of [...committed, ...edited]) {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        weights.set(folderKey(path.slice(0, end)), 1);
      }
    }
    this.#hasPaths = weights.size > 0;
    const words = wordsOf(branch ?? '');
    for (let start = 0; start < words.length; start++) {
      for (let end = start + 1; end <= Math.min(words.length, start + maxWords); end++) {
        weights.set(nameKey(words.slice(start, end).join(' ')), 3);
      }
    }
    this.weights = weights;
  }

  /** Returns 0 for a statement that has nothing to do with the branch. */
  of(point: BriefPoint): number {
    if (this.weights.size === 0) return 0;
    const keys = this.#hasPaths ? relevanceKeys(point) : nameKeys(point);
    return keys.reduce((sum, key) => sum + (this.weights.get(key) ?? 0), 0);
  }
}

/** The keys of the paths and names that a statement contains, each as often as it occurs. */
export function relevanceKeys(point: BriefPoint): string[] {
  const keys = nameKeys(point);
  for (const [path] of point.text.slice(0, maxText).matchAll(/[\w@/.-]+/g)) {
    // A path can end a sentence.
    const plain = path.replace(/^\.\/|\.$/g, '');
    if (isPathLike(plain)) keys.push(pathKey(plain));
  }
  return keys;
}

function nameKeys({ names = [] }: BriefPoint): string[] {
  return names.flatMap((name) => {
    const words = wordsOf(name);
    const spelled = words.join(' ');
    const isName = spelled.length >= leastName && words.length <= maxWords;
    const keys = [pathKey(name), folderKey(name.replace(/\/$/, ''))];
    return isName ? [...keys, nameKey(spelled)] : keys;
  });
}

/** Whether a word can be the path of a file: `src/lock.ts`, `Makefile`, `LICENSE`. */
function isPathLike(word: string): boolean {
  return /[/.]|file$|^[A-Z]{4,}$/.test(word);
}

const pathKey = (path: string) => `p ${path}`;
const folderKey = (path: string) => `f ${path}`;
const nameKey = (spelled: string) => `n ${spelled}`;

function add(weights: Map<string, number>, key: string, weight: number): void {
  weights.set(key, (weights.get(key) ?? 0) + weight);
}

/** The words of a name in lower case, without punctuation. */
function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
