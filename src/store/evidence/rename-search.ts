import { extname } from 'node:path/posix';
import { SpanText, similarity } from '../../core/evidence/span.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { maxCodeBytes, type ProjectCode } from './project-code.ts';

/** The least share of common lines of a file and its renamed version, as in `git diff -M`. */
const leastSimilarity = 0.5;
/** Limit of the added files that are compared with one removed file. */
const maxCompared = 60;
/** Limit of the files that one run compares. */
const maxReads = 3000;

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
  #reads = 0;

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

  #search(since: Oid, path: string, blob: Oid): string | undefined {
    const added = this.#addedSince(since);
    const same = added.filter(({ oid }) => oid === blob);
    const name = nameOf(path);
    const exact = same.find((one) => nameOf(one.path) === name) ?? same[0];
    if (exact) return exact.path;
    const old = this.#code.text(blob);
    if (!(old instanceof SpanText)) return undefined;
    const size = this.#odb.size(blob);
    // Files of the same name and of the same extension are the likely ones.
    const rank = (one: Added) =>
      nameOf(one.path) === name ? 0 : extname(one.path) === extname(path) ? 1 : 2;
    let best: string | undefined;
    let highest = leastSimilarity;
    for (const one of added.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxCompared)) {
      if (this.#reads >= maxReads) break;
      const other = this.#odb.size(one.oid);
      if (other > maxCodeBytes || Math.min(size, other) < leastSimilarity * Math.max(size, other)) {
        continue;
      }
      this.#reads += 1;
      const text = this.#code.text(one.oid);
      const alike = text instanceof SpanText ? similarity(old, text) : 0;
      if (alike > highest || (alike === highest && best === undefined)) {
        [best, highest] = [one.path, alike];
      }
    }
    return best;
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
