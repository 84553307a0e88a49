import type { Disk } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { showLogs, shownTree } from '../layout/layout-trees.ts';
import { confirmationsIn } from '../records/message.ts';
import { Slice } from '../records/slices.ts';
import { ChangeList, type NumberedChange } from './change-list.ts';
import { type Indexed, toCommit, toLine } from './indexed-commit.ts';
import { folderAt } from './last-change.ts';

/** Version of the file's format; a file of another version is rebuilt. */
const format = 5;
/** Commits that are indexed and saved together; a cancelled call keeps its complete batches. */
const batch = 4096;

/** Up to this many paths are searched for in a list of changes, one by one. */
const fewPaths = 64;

/** Stands for a parent that the shallow clone does not have. */
const cut = -1;

/** A path whose content differs between two states, or that only one of them has. */
export interface PathChange {
  readonly path: string;
  /** The blob in the earlier state; undefined if it does not have the path. */
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
}

interface Found extends Pick<Indexed, 'oid' | 'time' | 'confirms'> {
  /** Undefined at the end of a shallow clone. */
  readonly parents: readonly Oid[] | undefined;
}

/** Cancels the indexing of a long history, and reports its progress. */
export interface IndexProgress {
  readonly signal: AbortSignal;
  progress(done: number, total: number, message: string): void;
  /** Receives what the caller has to know about the revision that was meant. */
  note?(text: string): void;
}

/**
 * An index of the commits by the paths of the memory that they change.
 *
 * With it, the history of one record does not read 50,000 trees. It is derived from the commits, so its
 * file can be deleted. It identifies commits by id and contains no refs, so no rebase, reset, switch or
 * gc invalidates it. Each line of the file is a JSON value: the new paths of one writer with the numbers at
 * which its lines begin, or a commit, which comes after its parents.
 */
export class ChangeIndex {
  readonly #disk: Disk;
  readonly #odb: ObjectDatabase;
  readonly #file: string;
  readonly #folder: string;
  readonly #shallow: ReadonlySet<Oid>;
  readonly #numbers = new Map<Oid, number>();
  /** The number of each path, from when one is first needed. */
  #pathNumbers: Map<string, number> | undefined;
  #commits: Indexed[] = [];
  /** The numbers of the commits by which a person confirmed something. */
  #confirming: number[] = [];
  /** For each commit a time to sort by, which is never earlier than those of its parents. */
  #order: number[] = [];
  #paths: string[] = [];
  /** The stat of the file when all of it was loaded; undefined if it has to be rebuilt. */
  #known: Stat | undefined;
  #updating: Promise<unknown> = Promise.resolve();

  /**
   * @param file absolute path.
   * @param folder the memory folder, relative to the top of the work tree.
   * @param shallow the commits at which the clone ends.
   */
  constructor(
    disk: Disk,
    odb: ObjectDatabase,
    file: string,
    folder: string,
    shallow: ReadonlySet<Oid>,
  ) {
    this.#disk = disk;
    this.#odb = odb;
    this.#file = file;
    this.#folder = folder;
    this.#shallow = shallow;
  }

  /** Indexes a commit and its ancestors, and returns the number of the commit. */
  update(head: Oid, progress: IndexProgress): Promise<number> {
    const update = async () => {
      if (!this.#numbers.has(head)) this.#load();
      return this.#numbers.get(head) ?? (await this.#extend(head, progress));
    };
    const updated = this.#updating.then(update, update);
    this.#updating = updated.catch(() => undefined);
    return updated;
  }

  /** The number of a commit; undefined if it is not indexed, or the file is not loaded. */
  numberOf(commit: Oid): number | undefined {
    return this.#numbers.get(commit);
  }

  /** Whether a shallow clone ends at a commit, which need not be indexed. */
  endsAt(commit: Oid): boolean {
    return this.#shallow.has(commit);
  }

  commit(number: number): Indexed {
    const commit = this.#commits[number];
    if (!commit) throw new Error(`there is no commit ${number} in the index`);
    return commit;
  }

  /** The commits of all branches by which a person confirmed something. */
  get confirming(): readonly number[] {
    return this.#confirming;
  }

  /** Whether a shallow clone ends at a commit. */
  isCut(number: number): boolean {
    return this.commit(number).parents.includes(cut);
  }

  /** The changes of a commit to the paths of the memory, compared with one of its parents. */
  changes(number: number, parent: number): readonly PathChange[] {
    return [...(this.#list(number, parent) ?? [])].map((change) => this.#toChange(change));
  }

  /** The same for the paths of a map. */
  changesOf(number: number, parent: number, paths: ReadonlyMap<string, unknown>): PathChange[] {
    const { length = 0 } = this.#list(number, parent) ?? {};
    if (length <= paths.size || paths.size > fewPaths) {
      return this.changes(number, parent).filter(({ path }) => paths.has(path));
    }
    return [...paths.keys()].flatMap((path) => this.changeOf(number, parent, path) ?? []);
  }

  /** The same for one path; undefined if the commit does not change it. */
  changeOf(number: number, parent: number, path: string): PathChange | undefined {
    const list = this.#list(number, parent);
    if (!list || list.length === 0) return undefined;
    const change = list.find(this.#numbersOfPaths().get(path) ?? -1);
    return change && { ...change, path };
  }

  /** The changes of paths that a commit removes. */
  removals(number: number, parent: number): readonly PathChange[] {
    const removals = this.#list(number, parent)?.removals() ?? [];
    return [...removals].map((change) => this.#toChange(change));
  }

  /** The only parent of a commit that changes none of some paths; undefined for any other commit. */
  untouched(number: number, paths: readonly { readonly path: string }[]): number | undefined {
    const { parents, changes } = this.commit(number);
    const [parent = cut] = parents;
    if (parents.length > 1 || parent === cut) return undefined;
    const touched = changes[0]?.length && paths.some(({ path }) => this.changeOf(number, 0, path));
    return touched ? undefined : parent;
  }

  /** Orders commits: the newest first, and each commit after its descendants. */
  compare(a: number, b: number): number {
    return (this.#order[b] ?? 0) - (this.#order[a] ?? 0) || b - a;
  }

  async #extend(head: Oid, { signal, progress }: IndexProgress): Promise<number> {
    const pause = pacer(signal);
    const missing = await this.#missing(head, pause);
    const trees = new Map<Oid, Oid | undefined>();
    const stored = new Map<Oid, Oid | undefined>();
    const treeOf = (commit: Oid) => {
      if (!stored.has(commit)) {
        const tree = folderAt(this.#odb, commit, this.#folder);
        const shown = shownTree(this.#odb, tree);
        stored.set(commit, tree === shown ? undefined : tree);
        trees.set(commit, shown);
      }
      return trees.get(commit);
    };
    for (let start = 0; start < missing.length; start += batch) {
      const found = missing.slice(start, start + batch);
      const changed: PathChange[][][] = [];
      // Newest first: packs store the newest of similar trees in full, and older ones as deltas.
      for (const { oid, parents } of found.toReversed()) {
        const before = parents?.length === 0 ? [undefined] : (parents ?? []).map(treeOf);
        changed.unshift(before.map((tree) => pathChanges(this.#odb, tree, treeOf(oid))));
        await pause();
      }
      const [commits, paths] = [this.#commits.length, this.#paths.length];
      for (const [i, { oid, time, parents, confirms }] of found.entries()) {
        const toList = (list: PathChange[]) =>
          ChangeList.of(
            list.map((change) => ({ ...change, path: this.#numberOfPath(change.path) })),
          );
        this.#add({
          oid,
          time,
          parents: parents?.map((parent) => this.#numbers.get(parent) ?? cut) ?? [cut],
          changes: parents ? (changed[i] ?? []).map(toList) : [ChangeList.of([])],
          confirms,
          stored: stored.get(oid),
        });
      }
      await this.#save(commits, paths);
      if (missing.length > batch) {
        progress(start + found.length, missing.length, 'Indexing the history of the memory');
      }
    }
    return this.#numbers.get(head) ?? cut;
  }

  /** The reachable commits that are not indexed yet, parents first. */
  async #missing(head: Oid, pause: () => Promise<void>): Promise<Found[]> {
    const found = new Map<Oid, Found | undefined>();
    const order: Found[] = [];
    const stack = [head];
    for (let oid = stack.at(-1); oid !== undefined; oid = stack.at(-1)) {
      if (this.#numbers.has(oid)) {
        stack.pop();
      } else if (!found.has(oid)) {
        const { parents, committer, message } = parseCommit(this.#odb.content(oid, 'commit'));
        const known = this.#shallow.has(oid) ? undefined : parents;
        const confirms = confirmationsIn(message);
        found.set(oid, { oid, time: committer.seconds, parents: known, confirms });
        stack.push(...(known ?? []));
        await pause();
      } else {
        stack.pop();
        const commit = found.get(oid);
        if (commit) order.push(commit);
        found.set(oid, undefined);
      }
    }
    return order;
  }

  #list(number: number, parent: number): ChangeList | undefined {
    return this.commit(number).changes[parent];
  }

  #toChange({ path, before, after }: NumberedChange): PathChange {
    return { path: this.#paths[path] ?? '', before, after };
  }

  #numbersOfPaths(): Map<string, number> {
    this.#pathNumbers ??= new Map(this.#paths.map((path, number) => [path, number]));
    return this.#pathNumbers;
  }

  /** The number of a path, which is new if the path is. */
  #numberOfPath(path: string): number {
    const numbers = this.#numbersOfPaths();
    const known = numbers.get(path) ?? this.#paths.length;
    if (known === this.#paths.length) {
      numbers.set(path, known);
      this.#paths.push(path);
    }
    return known;
  }

  #add(commit: Indexed): void {
    if (commit.confirms.length > 0) this.#confirming.push(this.#commits.length);
    this.#numbers.set(commit.oid, this.#commits.length);
    this.#commits.push(commit);
    if (commit.stored !== undefined) this.#showLogs(commit, commit.stored);
    const before = commit.parents.map((parent) => this.#order[parent] ?? 0);
    this.#order.push(Math.max(commit.time, ...before));
  }

  /** Makes the logs of a commit readable, whose ids are those of no stored object. */
  #showLogs({ changes }: Indexed, stored: Oid): void {
    const logs = changes.flatMap((list) =>
      [...list].flatMap(({ path, after }) =>
        after === undefined ? [] : [[this.#paths[path] ?? '', after] as const],
      ),
    );
    showLogs(this.#odb, stored, logs);
  }

  /** Loads the lines of the file that are not known yet. */
  #load(): void {
    const { files } = this.#disk;
    const stat = files.lstat(this.#file);
    const bytes = stat && !sameStat(stat, this.#known) ? files.read(this.#file) : undefined;
    if (!stat || !bytes) return;
    const grown = this.#known?.ino === stat.ino && this.#known.size < stat.size;
    if (!grown) this.#clear();
    const lines = bytes.toString('utf8', grown ? this.#known?.size : 0).split('\n');
    const complete = lines.pop() === '';
    const head = grown ? this.#head() : lines.shift();
    const valid = head === this.#head() && lines.every((line) => this.#addLine(line));
    this.#known = complete && valid ? { ...stat, size: bytes.length } : undefined;
  }

  #head(): string {
    return JSON.stringify({ format, folder: this.#folder, shallow: [...this.#shallow].sort() });
  }

  #clear(): void {
    this.#numbers.clear();
    this.#pathNumbers = undefined;
    this.#commits = [];
    this.#confirming = [];
    this.#order = [];
    this.#paths = [];
  }

  /** Adds a line; returns false if it does not fit, as after two servers used a number at once. */
  #addLine(line: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return false;
    }
    if (isStart(value)) {
      if (value.commits !== this.#commits.length || value.paths !== this.#paths.length)
        return false;
      for (const path of value.added) this.#paths.push(path);
      this.#pathNumbers = undefined;
      return true;
    }
    const commit = toCommit(value, this.#commits.length);
    if (!commit || this.#numbers.has(commit.oid)) return false;
    this.#add(commit);
    return true;
  }

  /** Adds the commits and paths from some numbers on to the file. */
  async #save(commits: number, paths: number): Promise<void> {
    const { files } = this.#disk;
    try {
      const stat = files.lstat(this.#file);
      if (!stat || !sameStat(stat, this.#known)) return await this.#saveAll();
      const bytes = Buffer.from(this.#lines(commits, paths));
      const fd = files.open(this.#file, 'a');
      try {
        files.write(fd, [bytes]);
        this.#known = files.fstat(fd);
      } finally {
        files.close(fd);
      }
      // Another server has written at the same time, with the same numbers.
      if (this.#known.size !== stat.size + bytes.length) this.#known = undefined;
    } catch {
      // The index is derived: if its file cannot be written, it is built again the next time.
      this.#known = undefined;
    }
  }

  async #saveAll(): Promise<void> {
    await this.#disk.replace(this.#file, [Buffer.from(`${this.#head()}\n${this.#lines(0, 0)}`)]);
    this.#known = this.#disk.files.lstat(this.#file);
  }

  /** The lines of the commits and paths from some numbers on. */
  #lines(commits: number, paths: number): string {
    const start: Start = { commits, paths, added: this.#paths.slice(paths) };
    const lines = [start, ...this.#commits.slice(commits).map(toLine)];
    return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  }
}

/** The first of the lines that one writer has added: their numbers, and the new paths. */
interface Start {
  readonly commits: number;
  readonly paths: number;
  readonly added: readonly string[];
}

/** Lists the paths whose content differs between two trees; a change of mode alone is ignored. */
export function pathChanges(
  odb: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
): PathChange[] {
  return [...differences(odb, before, after)]
    .map(({ path, before, after }) => ({ path, before: before?.oid, after: after?.oid }))
    .filter(({ before, after }) => before !== after);
}

function isStart(value: unknown): value is Start {
  if (typeof value !== 'object' || value === null || !('added' in value)) return false;
  const { added } = value;
  return Array.isArray(added) && added.every((path) => typeof path === 'string');
}

/** Returns a function that pauses for other work when it is due, and throws if the call is cancelled. */
export function pacer(signal: AbortSignal): () => Promise<void> {
  const slice = new Slice();
  return async () => {
    if (!slice.isOver) return;
    await slice.turn();
    signal.throwIfAborted();
  };
}
