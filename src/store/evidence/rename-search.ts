import { SimilarTexts } from '../../core/evidence/similarity.ts';
import { SpanText } from '../../core/evidence/span.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { allAtOnce } from '../records/slices.ts';
import { codeGraph, keyedByPath, lastCommits } from './last-commits.ts';
import type { ProjectCode } from './project-code.ts';

/** The least common share of a file and its renamed version, as in `git diff -M`. */
const leastSimilarity = 0.5;
/** The same for a file that keeps its name in another folder: git weighs some lines differently. */
const leastForSameName = 0.48;
/** Limit of the added files that one run compares with removed ones. */
const maxIndexed = 3000;
/** Limit of the removed files whose last content one run searches for in the history. */
const maxLastVersions = 20;

/** A file that was added since a commit. */
interface Added {
  readonly path: string;
  readonly oid: Oid;
}

/** Finds where git's trees have moved a file since a commit. */
export class RenameSearch {
  readonly #code: ProjectCode;
  readonly #odb: ObjectDatabase;
  readonly #head: Oid;
  readonly #added = new Map<Oid, readonly Added[]>();
  readonly #found = new Map<string, string | undefined>();
  readonly #last = new Map<string, ReturnType<RenameSearch['lastVersion']>>();
  readonly #texts = new SimilarTexts();
  readonly #indexed = new Set<Oid>();

  constructor(code: ProjectCode, odb: ObjectDatabase, head: Oid) {
    this.#code = code;
    this.#odb = odb;
    this.#head = head;
  }

  /**
   * The present path of a file that a commit has at another path.
   *
   * @param blob its content in that commit.
   */
  find(since: Oid, path: string, blob: Oid): string | undefined {
    const key = `${since} ${path}`;
    if (!this.#found.has(key)) this.#found.set(key, this.#search(since, path, blob));
    return this.#found.get(key);
  }

  /** The last content of a path that HEAD does not have, with a commit that has it; of few paths only. */
  lastVersion(path: string): { readonly commit: Oid; readonly blob: Oid } | undefined {
    if (!this.#last.has(path)) {
      const isAllowed = this.#last.size < maxLastVersions;
      this.#last.set(path, isAllowed ? this.#lastVersion(path) : undefined);
    }
    return this.#last.get(path);
  }

  #lastVersion(path: string): { readonly commit: Oid; readonly blob: Oid } | undefined {
    const graph = codeGraph(this.#odb);
    const full = this.#code.inTree(path);
    const removal = allAtOnce(lastCommits(graph, this.#head, keyedByPath([full]))).get(
      full,
    )?.commit;
    if (removal === undefined) return undefined;
    for (const commit of graph.parents(removal)) {
      const entry = this.#code.at(commit, path);
      if (entry?.kind === 'file') return { commit, blob: entry.oid };
    }
    return undefined;
  }

  #search(since: Oid, path: string, blob: Oid): string | undefined {
    const added = this.#addedSince(since);
    const same = added.filter(({ oid }) => oid === blob);
    const name = nameOf(path);
    const exact = same.find((one) => nameOf(one.path) === name) ?? same[0];
    if (exact) return exact.path;
    const old = this.#code.text(blob);
    if (!(old instanceof SpanText)) return undefined;
    for (const one of added) this.#index(one.oid);
    const alike = this.#texts.alike(old);
    let best: string | undefined;
    let highest = 0;
    for (const one of added) {
      // Among files that are as similar, one of the same name is the likely one.
      const sameName = nameOf(one.path) === name;
      const share = alike.get(one.oid) ?? 0;
      const score = share + (sameName ? 0.01 : 0);
      if (share < (sameName ? leastForSameName : leastSimilarity) || score <= highest) continue;
      [best, highest] = [one.path, score];
    }
    return best;
  }

  /** Makes a file of HEAD comparable, once. */
  #index(oid: Oid): void {
    if (this.#indexed.has(oid) || this.#indexed.size >= maxIndexed) return;
    this.#indexed.add(oid);
    const text = this.#code.text(oid);
    if (text instanceof SpanText) this.#texts.add(oid, text);
  }

  #addedSince(commit: Oid): readonly Added[] {
    const known = this.#added.get(commit);
    if (known) return known;
    const added: Added[] = [];
    for (const one of differences(
      this.#odb,
      treeOf(this.#odb, commit),
      treeOf(this.#odb, this.#head),
    )) {
      const path = this.#code.inProject(one.path);
      if (path === undefined || one.before || !one.after?.mode.startsWith('100')) continue;
      added.push({ path, oid: one.after.oid });
    }
    this.#added.set(commit, added);
    return added;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
