import { join, relative, sep } from 'node:path';
import type { BranchWork } from '../../core/declarations/context.ts';
import { type HookMoment, hookMoments } from '../../core/declarations/hook-moment.ts';
import type { LocalState, RecordDoubts } from '../../core/memory/store.ts';
import type { Disk } from '../../git/disk/disk.ts';
import { type Files, statNumbers, statSize } from '../../git/disk/file-layer.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import type { IndexFile } from '../../git/index/index-file.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { type Head, Refs } from '../../git/refs/refs.ts';
import { findWorkTree, type WorkTree } from '../../git/repository/discover.ts';
import { openObjects } from '../../git/repository/repository-format.ts';
import { unflushedDisk } from '../../git/repository/shared-repository.ts';
import { type ClaimFile, liveClaims } from '../claims/claim-file.ts';
import { DerivedFile, type OpenDerivedFile } from '../derived/derived-file.ts';
import { type DerivedKind, workTreeState } from '../derived/derived-name.ts';
import type { SectionFile } from '../derived/section-file.ts';
import { placeState } from '../evidence/place-state.ts';
import { branchWork, readIndex } from '../history/branch-work.ts';
import { drift, folderAt, lastChange } from '../history/last-change.ts';
import { LocalFile } from '../records/local-state.ts';
import {
  commonContent,
  maxCommonBytes,
  maxSavedBytes,
  savedContent,
} from '../records/saved-layout.ts';
import { HookState } from './hook-state.ts';

/** The files and folders of a memory as their stats show them. */
export interface FilesState {
  /** Relative to the memory folder, with `/`; sorted, so that the folder itself is the first one, `''`. */
  readonly paths: readonly string[];
  /** The `statNumbers` of each. */
  readonly stats: Float64Array;
}

/** A commit whose message has it confirms a record that it leaves as it is. */
const confirming = '\nMemory-Confirmed: ';
/** Limit of commits between two states whose memory is compared. */
const maxCommits = 200;

/**
 * A memory as a short process reads it: git and the stats of the files, without the records.
 *
 * It loads a small part of the program, in a fraction of the time, and never writes a record.
 */
export class QuickMemory {
  readonly hooks: HookState;
  readonly local: LocalState;
  readonly #disk: Disk;
  readonly #tree: WorkTree;
  readonly #refs: Refs;
  readonly #odb: ObjectDatabase;
  /** The real path of the project. */
  readonly root: string;
  /** Absolute path of the memory folder. */
  readonly #path: string;
  /** Its path in the work tree, with `/`. */
  readonly #folder: string;
  /** The same path with all links resolved. */
  #resolved: string | undefined;
  readonly #opened: OpenDerivedFile[] = [];
  /** The text of the settings, once it is read. */
  #settings: string | undefined;
  /** The index of git, once it is read. */
  #staged: { readonly index: IndexFile | undefined } | undefined;

  private constructor(files: Files, tree: WorkTree, path: string) {
    this.#disk = unflushedDisk(files, tree);
    this.#tree = tree;
    this.#refs = new Refs(files, tree.gitDir, tree.commonDir);
    this.#odb = openObjects(this.#disk, tree.commonDir);
    this.#path = path;
    this.root = join(path, '..');
    this.#folder = relative(tree.top, path).split(sep).join('/');
    this.hooks = new HookState(files, tree);
    this.local = new LocalFile(this.#disk, () => this.#own());
  }

  /**
   * Opens the memory of a project, or returns undefined: it is not in a repository, or a server died in
   * the middle of a change, which has to be repaired first.
   *
   * @param path of the memory folder; its parent is a real path.
   */
  static at(path: string): QuickMemory | undefined {
    const files = new NodeFiles();
    const tree = findWorkTree(files, join(path, '..'));
    if (!tree) return undefined;
    const memory = new QuickMemory(files, tree, path);
    const own = memory.#own();
    // An idle server has an empty journal.
    const leftovers = files
      .list(own)
      ?.some(({ name }) => name.startsWith('journal') && files.lstat(join(own, name))?.size !== 0);
    return leftovers ? undefined : memory;
  }

  /**
   * Opens a derived file, of which each section is read when it is needed.
   *
   * @param content see `derivedMark`.
   * @returns undefined if the file is missing, too large, damaged or of another mark.
   */
  open(kind: DerivedKind, content: unknown, limit: number): SectionFile | undefined {
    const opened = this.#derived(kind, content, limit).open();
    if (opened) this.#opened.push(opened);
    return opened?.file;
  }

  /** Opens the records and the search index that a server has saved. */
  openRecords(): SectionFile | undefined {
    return this.open('records', savedContent, maxSavedBytes);
  }

  /** Opens the words that say little in the project. */
  openCommonWords(): SectionFile | undefined {
    return this.open('common', commonContent, maxCommonBytes);
  }

  /** Closes the derived files; their sections cannot be read any more. */
  close(): void {
    for (const opened of this.#opened.splice(0)) opened.close();
  }

  /** Replaces a derived file, which may be lost in a power cut; returns its id, or undefined without a place. */
  async write(
    kind: DerivedKind,
    content: unknown,
    sections: readonly Uint8Array[],
  ): Promise<string | undefined> {
    if (this.#disk.files.lstat(this.#own()) === undefined) return undefined;
    return this.#derived(kind, content).writeIdentified(sections);
  }

  #derived(kind: DerivedKind, content: unknown, limit = Number.POSITIVE_INFINITY): DerivedFile {
    const state = workTreeState(this.#realPath);
    const place = { disk: this.#disk, folder: this.#own(), state, inUse: [state] };
    return new DerivedFile(() => place, kind, content, limit);
  }

  get #realPath(): string {
    this.#resolved ??= this.#disk.files.realpath(this.#path) ?? this.#path;
    return this.#resolved;
  }

  /** Reads the `statNumbers` of a file or folder, and the names in a folder; undefined if it is missing. */
  look(
    path: string,
  ): { readonly stat: readonly number[]; readonly names?: readonly string[] } | undefined {
    const { files } = this.#disk;
    const absolute = join(this.#path, path);
    const stat = files.lstat(absolute);
    if (!stat) return undefined;
    const names = stat.kind === 'directory' ? files.list(absolute) : undefined;
    return { stat: statNumbers(stat), ...(names && { names: names.map(({ name }) => name) }) };
  }

  /**
   * Reads the stats of all files and folders of the memory.
   *
   * @param limit of their number; with more, the answer is undefined.
   */
  filesState(limit: number): FilesState | undefined {
    const paths = [''];
    const found = new Map<string, readonly number[]>();
    // The loop adds the entries of each folder that it meets.
    for (const path of paths) {
      const seen = this.look(path);
      if (!seen || paths.length > limit) return undefined;
      found.set(path, seen.stat);
      const prefix = path === '' ? '' : `${path}/`;
      for (const name of seen.names ?? []) paths.push(prefix + name);
    }
    paths.sort();
    const stats = new Float64Array(statSize * paths.length);
    for (const [at, path] of paths.entries()) stats.set(found.get(path) ?? [], statSize * at);
    return { paths, stats };
  }

  /**
   * Whether all files and folders have the given stats, as `filesState` returned them.
   *
   * The time of a folder shows whether files were added to it or removed. It takes half the time in a
   * process whose current directory is the memory folder.
   */
  hasFiles(paths: readonly string[], stats: Float64Array): boolean {
    const { files } = this.#disk;
    const prefix = process.cwd() === this.#path ? '' : this.#path + sep;
    if (files.firstChanged('', [this.#path], stats, 0, 1) < 1) return false;
    return files.firstChanged(prefix, paths, stats, 1, paths.length) === paths.length;
  }

  /** Whether the settings may want the commits of a session in the progress; the whole program reads them. */
  recordsCommits(): boolean {
    return this.#setting('record_commits') === 'true';
  }

  /** Whether hooks speak at a moment of a session. */
  speaksAt(moment: HookMoment): boolean {
    const set = this.#setting(`hook_${moment}`);
    return set === undefined ? hookMoments[moment] : set === 'true';
  }

  /** The value of a setting that is true or false; undefined if it is not set. */
  #setting(name: string): string | undefined {
    this.#settings ??=
      this.#disk.files.read(join(this.#path, 'config.yaml'))?.toString('utf8') ?? '';
    return new RegExp(`^["']?${name}["']?\\s*:\\s*(true|false)\\b`, 'm').exec(this.#settings)?.[1];
  }

  /** The last commit that changed a path of the work tree; undefined if it is not known. */
  lastChangeOf(path: string): Oid | undefined {
    const { oid } = this.head();
    return oid && lastChange(this.#odb, oid, path)?.oid;
  }

  /** Whether what was found against a record is still the case. */
  isCertain({ files, head, day }: RecordDoubts, today: string): boolean {
    if (head !== undefined && head !== this.head().oid) return false;
    if (day !== undefined && day !== today) return false;
    return files.every(([path, state]) => {
      const stat = this.#disk.files.lstat(join(this.#tree.top, path));
      // A state that names only the kind of the place does not depend on its content.
      return placeState(stat, state.includes(' ')) === state;
    });
  }

  /** The files of the memory that git has as unmerged, by their paths in the memory folder. */
  conflicts(): string[] {
    const unmerged = this.#index()?.unmergedBelow(this.#folder) ?? [];
    return unmerged.map(({ path }) => path.slice(this.#folder.length + 1));
  }

  /** The claims that have not expired, with the paths of their records in the memory folder. */
  claims(now: Date): (ClaimFile & { readonly path: string })[] {
    const found = liveClaims({ refs: this.#refs, odb: this.#odb }, this.#folder, now);
    return [...found].map(([path, claim]) => ({ ...claim, path }));
  }

  /** The value of a ref; `''` for one that does not exist. */
  refValue(ref: string): Oid {
    return this.#refs.resolve(ref) ?? '';
  }

  head(): Head {
    return this.#refs.head();
  }

  /** The id of the memory folder in a commit; undefined if the commit does not have it. */
  treeAt(commit: Oid): Oid | undefined {
    return folderAt(this.#odb, commit, this.#folder);
  }

  /**
   * Whether all commits after an earlier one, up to HEAD, leave the memory as it was, and say nothing about it.
   *
   * The answer is also false if it would take long to find out, as after a merge.
   */
  isUnchangedSince(earlier: Oid): boolean {
    let at = this.head().oid;
    if (at === earlier) return true;
    const now = at === undefined ? undefined : this.treeAt(at);
    for (let i = 0; i < maxCommits && at !== undefined; i++) {
      const { parents, message } = parseCommit(this.#odb.content(at, 'commit'));
      const [parent] = parents;
      if (parent === undefined || parents.length > 1 || !this.#odb.has(parent)) return false;
      if (this.treeAt(parent) !== now || message.includes(confirming)) return false;
      if (parent === earlier) return true;
      at = parent;
    }
    return false;
  }

  /** The number of commits after an earlier one, up to HEAD; undefined for many, and where a merge is between. */
  commitsSince(earlier: Oid): number | undefined {
    let at = this.head().oid;
    for (let count = 0; count < maxCommits && at !== undefined; count++) {
      if (at === earlier) return count;
      const { parents } = parseCommit(this.#odb.content(at, 'commit'));
      const [parent] = parents;
      if (parent === undefined || parents.length > 1 || !this.#odb.has(parent)) return undefined;
      at = parent;
    }
    return undefined;
  }

  /** The objects of the repository, and the path of the memory folder in its trees. */
  get objects(): { readonly odb: ObjectDatabase; readonly folder: string } {
    return { odb: this.#odb, folder: this.#folder };
  }

  lastChange(): Oid | undefined {
    const { oid } = this.head();
    return oid && lastChange(this.#odb, oid, this.#folder)?.oid;
  }

  /** Whether commits after an earlier one change files outside the memory. */
  hasCommitsSince(earlier: Oid): boolean {
    const { oid } = this.head();
    return oid !== undefined && drift(this.#odb, earlier, oid, this.#folder, 1).commits > 0;
  }

  /**
   * The files of the project that commits since an earlier one have changed, and that are edited.
   *
   * @param limit of either.
   */
  changedSince(earlier: Oid, limit: number): string[] {
    const { oid } = this.head();
    if (oid === undefined) return [];
    // The project can be in a folder of the work tree.
    const prefix = this.#folder.slice(0, this.#folder.lastIndexOf('/') + 1);
    const { files } = drift(this.#odb, earlier, oid, this.#folder, limit);
    const committed = files.filter((path) => path.startsWith(prefix));
    const edited = this.work(limit).edited;
    return [...new Set([...committed.map((path) => path.slice(prefix.length)), ...edited])];
  }

  work(limit: number): BranchWork {
    if (this.head().oid === undefined) return { base: undefined, committed: [], edited: [] };
    const repository = { odb: this.#odb, refs: this.#refs, tree: this.#tree };
    return branchWork(repository, this.#disk.files, this.#folder, limit, this.#index());
  }

  #index(): IndexFile | undefined {
    this.#staged ??= { index: readIndex(this.#disk.files, this.#tree) };
    return this.#staged.index;
  }

  #own(): string {
    return join(this.#tree.commonDir, 'memory-bank');
  }
}
