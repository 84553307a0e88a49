import { addTo } from '../../core/values/multimap.ts';
import { folderOf } from '../../git/disk/folder.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import { type ObjectDatabase, treeOf } from '../../git/objects/odb.ts';
import { folderMode } from '../../git/objects/tree.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import type { PathChange } from '../history/change-index.ts';
import { entryAt } from '../history/last-change.ts';
import type { Steps } from '../records/slices.ts';
import type { OpenClaim } from './claim.ts';
import { decodeDoc, maxDocBytes } from './doc-files.ts';
import { hasName } from './name-places.ts';
import type { DefinedNames, NameSource } from './name-sources.ts';
import { isSourceOf } from './own-programs.ts';
import { basesOf, below, PathPattern } from './path-text.ts';
import { SoughtNames } from './sought-names.ts';

/** Limit of the commits that one search reads. */
const maxCommits = 5000;
/** Limit of the files in any folder that one search reads for the names that they defined. */
const maxAnywhere = 10_000;
/** Limit of the texts of earlier commits that stay in memory. */
const maxTexts = 500;

/** The commit after which a claim was no longer true. */
export interface Break {
  readonly commit: Oid;
  readonly parent: Oid;
  /** The path that was removed, or the file that no longer defines the name. */
  readonly path: string;
  /** The content of that file before and after the commit. */
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
}

/**
 * Searches the history for the commits that made claims untrue: the claim was in its file, and what it names
 * existed, right before the commit.
 */
export class BreakSearch {
  readonly #odb: ObjectDatabase;
  readonly #isOver: (commit: Oid) => boolean;
  readonly #found = new Map<OpenClaim, Break>();
  /** Claims by the paths that they can mean. */
  readonly #byPath = new Map<string, OpenClaim[]>();
  /** Claims by their names, and by the files or the kinds of files that can define these. */
  readonly #byName = new Map<string, OpenClaim[]>();
  /** The files that can define names, and their kinds. */
  readonly #sources = new Map<string, NameSource[]>();
  readonly #count: number;
  readonly #patterns: (readonly [claim: OpenClaim, pattern: PathPattern])[] = [];
  /** The files with claims, each with the paths that it had. */
  readonly #docs = new Map<string, string[]>();
  /** The present path of each path that a file with claims had. */
  readonly #present = new Map<string, string>();
  readonly #onTheWay = new Set<string>();
  /** The kinds of names that a removed file in any folder can have defined. */
  readonly #anywhere: readonly NameSource[];
  /** The names that are searched for in such files, and the documents that claim them. */
  readonly #sought: ReadonlyMap<NameSource, SoughtNames>;
  /** The kinds of names that a document claimed in the commit that was looked at last. */
  #claimed: { readonly commit: Oid; readonly sources: Map<NameSource, boolean> } | undefined;
  #left = maxAnywhere;
  readonly #texts = new Map<Oid, string | undefined>();

  readonly #defined = new Map<string, DefinedNames | undefined>();

  /**
   * @param manifests the files that can define names.
   * @param isOver whether the search leaves out a commit and its ancestors.
   */
  constructor(
    odb: ObjectDatabase,
    claims: readonly OpenClaim[],
    manifests: Iterable<readonly [path: string, source: NameSource]>,
    isOver: (commit: Oid) => boolean = () => false,
  ) {
    this.#odb = odb;
    this.#isOver = isOver;
    this.#count = claims.length;
    const sources = new Set(claims.flatMap(({ claim }) => ('source' in claim ? claim.source : [])));
    this.#anywhere = [...sources].filter(({ isAnywhere }) => isAnywhere);
    this.#sought = new Map(
      this.#anywhere.map((source) => {
        const own = claims.filter(({ claim }) => 'source' in claim && claim.source === source);
        return [source, new SoughtNames(own)];
      }),
    );
    for (const one of claims) this.#add(one);
    // Earlier versions of other manifests, such as all files of code, are of no use.
    for (const [path, source] of manifests) if (sources.has(source)) this.#watch(path, source);
  }

  #watch(path: string, source: NameSource): void {
    if (this.#sources.get(path)?.includes(source)) return;
    addTo(this.#sources, path, source);
    this.#want(path);
  }

  #add(one: OpenClaim): void {
    const { claim, doc, file } = one;
    if (!this.#present.has(doc)) this.#addDoc(doc, doc);
    if (!('paths' in claim)) {
      const { source, name } = claim;
      addTo(this.#byName, `${file ?? source.name} ${name}`, one);
      if (file !== undefined) this.#watch(file, source);
      // A manifest that was removed was in a folder around its documents.
      else for (const path of usualFiles(doc, source)) this.#watch(path, source);
      return;
    }
    for (const path of claim.paths) {
      this.#want(path);
      if (!claim.isPattern) {
        addTo(this.#byPath, path, one);
        continue;
      }
      this.#patterns.push([one, new PathPattern(path)]);
    }
  }

  #addDoc(present: string, path: string): void {
    this.#present.set(path, present);
    addTo(this.#docs, present, path);
    this.#want(path);
  }

  #want(path: string): void {
    for (let at = folderOf(path); at !== '' && !this.#onTheWay.has(at); at = folderOf(at)) {
      this.#onTheWay.add(at);
    }
  }

  #enters(folder: string): boolean {
    if (this.#anywhere.length > 0 || this.#onTheWay.has(folder)) return true;
    for (let at = folder; at !== ''; at = folderOf(at)) if (this.#byPath.has(at)) return true;
    return this.#patterns.some(([, { base }]) => `${folder}/`.startsWith(base));
  }

  *run(head: Oid): Steps<ReadonlyMap<OpenClaim, Break>> {
    const seen = new Set([head]);
    const open = [{ oid: head, commit: this.#read(head) }];
    for (let count = 0; open.length > 0 && count < maxCommits; count++) {
      yield;
      if (this.#found.size >= this.#count) break;
      const next = newest(open.map(({ commit }) => commit.committer.seconds));
      const [one] = open.splice(next, 1);
      if (!one || this.#isOver(one.oid)) continue;
      const { parents } = one.commit;
      const known = parents.filter((parent) => this.#odb.has(parent));
      const [parent] = parents;
      // A merge repeats the changes of its branches.
      if (known.length === 1 && parents.length === 1 && parent !== undefined) {
        this.#compare(one.oid, parent);
      }
      for (const parent of known) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        open.push({ oid: parent, commit: this.#read(parent) });
      }
    }
    return this.#found;
  }

  #read(oid: Oid) {
    return parseCommit(this.#odb.content(oid, 'commit'));
  }

  #compare(commit: Oid, parent: Oid): void {
    const odb = this.#odb;
    const [before, after] = [treeOf(odb, parent), treeOf(odb, commit)];
    const enters = (folder: string) => this.#enters(folder);
    const moved: PathChange[] = [];
    for (const one of differences(odb, before, after, '', enters)) {
      const change = { path: one.path, before: one.before?.oid, after: one.after?.oid };
      if (change.before === change.after) continue;
      if (change.before !== undefined && change.after === undefined) {
        this.#removed(commit, parent, change);
      }
      if (change.before !== undefined) this.#redefined(commit, parent, change);
      else if (this.#present.has(change.path)) moved.push(change);
    }
    if (moved.length > 0) this.#followDocs(before, after, moved);
  }

  #removed(commit: Oid, parent: Oid, { path, before }: PathChange): void {
    for (let at = path; at !== ''; at = folderOf(at)) {
      for (const one of this.#byPath.get(at) ?? []) {
        if (this.#found.has(one) || !this.#says(parent, one)) continue;
        if (at !== path && entryAt(this.#odb, commit, at)) continue;
        const file = at === path ? before : undefined;
        this.#found.set(one, { commit, parent, path: at, before: file, after: undefined });
      }
    }
    for (const [one, pattern] of this.#patterns) {
      if (this.#found.has(one) || !pattern.matches(path) || !this.#says(parent, one)) continue;
      this.#found.set(one, { commit, parent, path, before, after: undefined });
    }
  }

  #redefined(commit: Oid, parent: Oid, change: PathChange): void {
    for (const source of this.#sourcesOf(parent, change.path)) {
      this.#redefinedIn(source, commit, parent, change);
    }
  }

  #redefinedIn(source: NameSource, commit: Oid, parent: Oid, change: PathChange): void {
    const { path, before, after } = change;
    const sought = this.#sought.get(source);
    if (sought && before !== undefined && !sought.pattern.test(this.#text(before) ?? '')) return;
    const old = this.#names(source, before);
    const now = this.#names(source, after);
    if (!old || (after !== undefined && !now)) return;
    for (const [name, value] of old.names) {
      if (now?.names.has(name) || (source.proof !== undefined && value !== source.proof)) continue;
      for (const key of [source.name, path]) {
        for (const one of this.#byName.get(`${key} ${name}`) ?? []) {
          if (this.#found.has(one) || !isProof(one, path) || !this.#says(parent, one)) continue;
          this.#found.set(one, { commit, parent, path, before, after });
        }
      }
    }
  }

  /** The kinds of names that an earlier version of a file defines, if it is to be read. */
  #sourcesOf(commit: Oid, path: string): readonly NameSource[] {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const known = (this.#sources.get(path) ?? []).filter(({ isAnywhere }) => !isAnywhere);
    const others = this.#anywhere.filter(
      (source) => source.files?.test(name) && this.#isClaimed(commit, source),
    );
    if (others.length === 0 || this.#left-- <= 0) return known;
    return [...known, ...others];
  }

  /** Whether a document claimed a name of a kind in a commit: only then can its child break the claim. */
  #isClaimed(commit: Oid, source: NameSource): boolean {
    if (this.#claimed?.commit !== commit) this.#claimed = { commit, sources: new Map() };
    const { sources } = this.#claimed;
    const known = sources.get(source) ?? this.#claimsAny(commit, this.#sought.get(source));
    sources.set(source, known);
    return known;
  }

  #claimsAny(commit: Oid, sought: SoughtNames | undefined): boolean {
    for (const doc of sought?.docs ?? []) {
      for (const path of this.#docs.get(doc) ?? []) {
        const blob = this.#blob(commit, path);
        if (blob && sought?.isIn(doc, blob, () => this.#text(blob))) return true;
      }
    }
    return false;
  }

  #names(source: NameSource, blob: Oid | undefined): DefinedNames | undefined {
    if (blob === undefined) return undefined;
    const key = `${source.name} ${source.usual[0]} ${blob}`;
    if (!this.#defined.has(key)) {
      if (this.#defined.size >= maxTexts) this.#defined.clear();
      const text = this.#text(blob);
      this.#defined.set(key, text === undefined ? undefined : source.read(text));
    }
    return this.#defined.get(key);
  }

  /** Whether the file of a claim contained it in a commit. */
  #says(commit: Oid, { doc, claim }: OpenClaim): boolean {
    for (const path of this.#docs.get(doc) ?? []) {
      const blob = this.#blob(commit, path);
      const text = blob === undefined ? undefined : this.#text(blob);
      if (text !== undefined && hasName(text, claim.text)) return true;
    }
    return false;
  }

  /** The content of a file in a commit. */
  #blob(commit: Oid, path: string): Oid | undefined {
    const entry = entryAt(this.#odb, commit, path);
    return entry && entry.mode !== folderMode ? entry.oid : undefined;
  }

  #text(blob: Oid): string | undefined {
    if (!this.#texts.has(blob)) {
      if (this.#texts.size >= maxTexts) this.#texts.clear();
      const odb = this.#odb;
      const isReadable = odb.has(blob) && odb.size(blob) <= maxDocBytes;
      this.#texts.set(blob, isReadable ? decodeDoc(odb.content(blob, 'blob')) : undefined);
    }
    return this.#texts.get(blob);
  }

  /** Follows files with claims that a commit has moved without a change. */
  #followDocs(before: Oid, after: Oid, added: readonly PathChange[]): void {
    const removed = new Map<Oid, string>();
    for (const { path, before: old, after: now } of differences(this.#odb, before, after)) {
      if (old && !now) removed.set(old.oid, path);
    }
    for (const { path, after } of added) {
      const from = after === undefined ? undefined : removed.get(after);
      const present = this.#present.get(path);
      if (from === undefined || present === undefined || this.#present.has(from)) continue;
      this.#addDoc(present, from);
    }
  }
}

/** Whether a file is one of the sources of the program that a claim is about. */
function isProof({ claim }: OpenClaim, path: string): boolean {
  return !('folders' in claim) || claim.folders === undefined || isSourceOf(path, claim.folders);
}

/** The usual files of a kind in the folders around a document. */
function usualFiles(doc: string, { usual }: NameSource): readonly string[] {
  return basesOf(doc).flatMap((base) => usual.map((name) => below(base, name)));
}

/** The index of the largest number. */
function newest(times: readonly number[]): number {
  let best = 0;
  times.forEach((time, i) => {
    if (time > (times[best] ?? 0)) best = i;
  });
  return best;
}
