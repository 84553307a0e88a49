import { SimilarTexts } from '../../core/evidence/similarity.ts';
import { SpanText } from '../../core/evidence/span.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { Steps } from '../records/slices.ts';
import { type CommitGraph, keyedByPath, lastCommits } from './last-commits.ts';
import type { ProjectCode } from './project-code.ts';

/** The least common share of a file and its renamed version, as in `git diff -M`. */
const leastSimilarity = 0.5;
/** The same for a file that keeps its name in another folder: git weighs some lines differently. */
const leastForSameName = 0.48;
/** Limit of the added files that one run compares with removed ones. */
const maxIndexed = 3000;
/** Limit of the removed files that one run follows through the history. */
const maxFollowed = 500;
/** Limit of the renames of one file that are followed. */
const maxRenames = 8;

/** A file that was added since a commit. */
interface AddedFile {
  readonly path: string;
  readonly oid: Oid;
}

/** Finds where git's trees have moved a file since a commit. */
export class RenameSearch {
  readonly #code: ProjectCode;
  readonly #odb: ObjectDatabase;
  readonly #head: Oid;
  readonly #graph: CommitGraph<Oid>;
  readonly #since = new Map<Oid, readonly AddedFile[]>();
  readonly #found = new Map<string, string | undefined>();
  /** The present path, or undefined, of each file that was followed. */
  readonly #followed = new Map<string, string | undefined>();
  readonly #texts = new SimilarTexts();
  readonly #indexed = new Set<Oid>();

  /** @param earlier the search in an earlier commit; files that it has followed are not followed again. */
  constructor(
    code: ProjectCode,
    odb: ObjectDatabase,
    head: Oid,
    graph: CommitGraph<Oid>,
    earlier?: RenameSearch,
  ) {
    this.#code = code;
    this.#graph = graph;
    this.#odb = odb;
    this.#head = head;
    for (const [path, to] of earlier ? earlier.#followed : []) {
      if (to === undefined || code.at(head, to)) this.#followed.set(path, to);
    }
  }

  /**
   * The present path of a file that a commit has at another path: a file that was added since and is
   * similar, or the one to which the history has renamed it.
   *
   * @param blob its content in that commit.
   */
  find(since: Oid, path: string, blob: Oid): string | undefined {
    const key = `${since} ${path}`;
    if (!this.#found.has(key)) {
      this.#found.set(key, this.#bestOf(this.#addedSince(since), path, blob));
    }
    return this.#found.get(key) ?? this.followed(path);
  }

  /** The present path of a removed file, if `follow` has found it. */
  followed(path: string): string | undefined {
    return this.#followed.get(path);
  }

  /**
   * Follows removed files through the commits that have renamed them. Files that have changed much since
   * are found in this way only.
   */
  *follow(paths: Iterable<string>): Steps {
    const graph = this.#graph;
    const wanted = [...paths].filter((path) => !this.#followed.has(path)).slice(0, maxFollowed);
    for (const path of wanted) this.#followed.set(path, undefined);
    let open = new Map(wanted.map((path) => [path, path]));
    for (let renames = 0; open.size > 0 && renames < maxRenames; renames++) {
      const full = new Set([...open.values()].map((path) => this.#code.inTree(path)));
      const removals = yield* lastCommits(graph, this.#head, keyedByPath(full));
      const next = new Map<string, string>();
      for (const [origin, path] of open) {
        yield;
        const removal = removals.get(this.#code.inTree(path))?.commit;
        const to = removal && this.renamedIn(removal, path);
        if (to === undefined) continue;
        if (this.#code.at(this.#head, to)) this.#followed.set(origin, to);
        else next.set(origin, to);
      }
      open = next;
    }
  }

  /** The path to which a commit has renamed a file. */
  renamedIn(commit: Oid, path: string): string | undefined {
    for (const parent of this.#graph.parents(commit)) {
      const entry = this.#code.at(parent, path);
      if (entry?.kind !== 'file') continue;
      const to = this.#bestOf(this.#added(parent, commit), path, entry.oid);
      if (to !== undefined) return to;
    }
    return undefined;
  }

  /** The file among added ones that is most similar to another one. */
  #bestOf(added: readonly AddedFile[], path: string, blob: Oid): string | undefined {
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

  #addedSince(commit: Oid): readonly AddedFile[] {
    const known = this.#since.get(commit);
    if (known) return known;
    const added = this.#added(commit, this.#head);
    this.#since.set(commit, added);
    return added;
  }

  #added(from: Oid, to: Oid): AddedFile[] {
    const added: AddedFile[] = [];
    for (const one of differences(this.#odb, treeOf(this.#odb, from), treeOf(this.#odb, to))) {
      const path = this.#code.inProject(one.path);
      if (path === undefined || one.before || !one.after?.mode.startsWith('100')) continue;
      added.push({ path, oid: one.after.oid });
    }
    return added;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
