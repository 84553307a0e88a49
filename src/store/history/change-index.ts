import { setImmediate as turn } from 'node:timers/promises';
import type { Disk } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { differences } from '../../git/objects/tree-diff.ts';
import { folderAt } from './last-change.ts';

/** Version of the file's format; a file of another version is rebuilt. */
const format = 2;
/** Commits that are worked out and saved together: what a cancelled call has done is not lost. */
const batch = 4096;
/** For how long nothing else gets its turn, in milliseconds. */
const stretch = 25;

/** In the place of a parent that the shallow clone does not have. */
const cut = -1;

/** A path that one of two states has and the other has not, or has with another content. */
export interface PathChange {
  readonly path: string;
  /** The blob there; undefined where the state has none. */
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
}

/** The same with the number of the path; an empty text instead of a missing blob. */
type Numbered = readonly [path: number, before: Oid | '', after: Oid | ''];

/** Facts about a commit that never change. */
interface Indexed {
  readonly oid: Oid;
  /** Committer's time, in seconds. */
  readonly time: number;
  /** Numbers of commits, all of them smaller than its own. */
  readonly parents: readonly number[];
  /** For each parent, or for the empty tree before a root. */
  readonly changes: readonly (readonly Numbered[])[];
}

interface Found {
  readonly oid: Oid;
  readonly time: number;
  /** Undefined where a shallow clone ends. */
  readonly parents: readonly Oid[] | undefined;
}

export interface IndexProgress {
  readonly signal: AbortSignal;
  progress(done: number, total: number, message: string): void;
}

/**
 * Which commit touched which path of the memory: derived from the commits and kept outside git, so that
 * the history of one record need not read 50,000 trees. Deleting its file loses nothing.
 *
 * It knows commits by id and holds nothing about refs, so that no rebase, reset, switch or gc makes it
 * untrue. The file has one JSON value a line: the numbers at which the lines of one writer begin, new
 * paths, and commits after their parents.
 */
export class ChangeIndex {
  readonly #disk: Disk;
  readonly #odb: ObjectDatabase;
  readonly #file: string;
  readonly #folder: string;
  readonly #shallow: ReadonlySet<Oid>;
  readonly #numbers = new Map<Oid, number>();
  readonly #pathNumbers = new Map<string, number>();
  #commits: Indexed[] = [];
  /** The time that sorts a commit: never earlier than its parents'. */
  #order: number[] = [];
  #paths: string[] = [];
  /** The file as it was when all of it was known; undefined when it has to be rebuilt. */
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

  /** The number of a commit, after it and all of its ancestors are known. */
  update(head: Oid, patience: IndexProgress): Promise<number> {
    const update = async () => {
      if (!this.#numbers.has(head)) this.#load();
      return this.#numbers.get(head) ?? (await this.#extend(head, patience));
    };
    const updated = this.#updating.then(update, update);
    this.#updating = updated.catch(() => undefined);
    return updated;
  }

  commit(number: number): Indexed {
    const commit = this.#commits[number];
    if (!commit) throw new Error(`there is no commit ${number} in the index`);
    return commit;
  }

  /** Whether a shallow clone ends at a commit. */
  isCut(number: number): boolean {
    return this.commit(number).parents.includes(cut);
  }

  /** The changes of a commit to the paths of the memory, compared with one of its parents. */
  changes(number: number, parent: number): readonly PathChange[] {
    return (this.commit(number).changes[parent] ?? []).map(([path, before, after]) =>
      toChange(this.#paths[path] ?? '', before, after),
    );
  }

  /** The same for one path; undefined where the commit left it alone. */
  changeOf(number: number, parent: number, path: string): PathChange | undefined {
    const list = this.commit(number).changes[parent];
    if (!list || list.length === 0) return undefined;
    const wanted = this.#pathNumbers.get(path);
    const [, before, after] = list.find(([one]) => one === wanted) ?? [];
    return before === undefined || after === undefined ? undefined : toChange(path, before, after);
  }

  /** The only parent of a commit that left some paths alone; undefined for any other commit. */
  untouched(number: number, paths: readonly { readonly path: string }[]): number | undefined {
    const { parents, changes } = this.commit(number);
    const [parent = cut] = parents;
    if (parents.length > 1 || parent === cut) return undefined;
    const touched = changes[0]?.length && paths.some(({ path }) => this.changeOf(number, 0, path));
    return touched ? undefined : parent;
  }

  /** Newest first, and no commit before one that builds on it. */
  compare(a: number, b: number): number {
    return (this.#order[b] ?? 0) - (this.#order[a] ?? 0) || b - a;
  }

  async #extend(head: Oid, { signal, progress }: IndexProgress): Promise<number> {
    const rest = pacer(signal);
    const missing = await this.#missing(head, rest);
    const trees = new Map<Oid, Oid | undefined>();
    const treeOf = (commit: Oid) => {
      if (!trees.has(commit)) trees.set(commit, folderAt(this.#odb, commit, this.#folder));
      return trees.get(commit);
    };
    for (let start = 0; start < missing.length; start += batch) {
      const found = missing.slice(start, start + batch);
      const changed: PathChange[][][] = [];
      // Backwards: packs keep the newest of similar trees whole and older ones as differences.
      for (const { oid, parents } of found.toReversed()) {
        const before = parents?.length === 0 ? [undefined] : (parents ?? []).map(treeOf);
        changed.unshift(before.map((tree) => pathChanges(this.#odb, tree, treeOf(oid))));
        await rest();
      }
      const lines: unknown[] = [{ commits: this.#commits.length, paths: this.#paths.length }];
      for (const [i, { oid, time, parents }] of found.entries()) {
        const numbers = (list: PathChange[]) => list.map((change) => this.#number(change, lines));
        const commit = {
          oid,
          time,
          parents: parents?.map((parent) => this.#numbers.get(parent) ?? cut) ?? [cut],
          changes: parents ? (changed[i] ?? []).map(numbers) : [[]],
        };
        lines.push(toLine(commit));
        this.#add(commit);
      }
      await this.#save(lines);
      if (missing.length > batch) {
        progress(start + found.length, missing.length, 'Indexing the history of the memory');
      }
    }
    return this.#numbers.get(head) ?? cut;
  }

  /** The commits that are reachable and not indexed yet, parents first. */
  async #missing(head: Oid, rest: () => Promise<void>): Promise<Found[]> {
    const found = new Map<Oid, Found | undefined>();
    const order: Found[] = [];
    const stack = [head];
    for (let oid = stack.at(-1); oid !== undefined; oid = stack.at(-1)) {
      if (this.#numbers.has(oid)) {
        stack.pop();
      } else if (!found.has(oid)) {
        const { parents, committer } = parseCommit(this.#odb.content(oid, 'commit'));
        const known = this.#shallow.has(oid) ? undefined : parents;
        found.set(oid, { oid, time: committer.seconds, parents: known });
        stack.push(...(known ?? []));
        await rest();
      } else {
        stack.pop();
        const commit = found.get(oid);
        if (commit) order.push(commit);
        found.set(oid, undefined);
      }
    }
    return order;
  }

  #number({ path, before = '', after = '' }: PathChange, lines: unknown[]): Numbered {
    if (!this.#pathNumbers.has(path)) {
      lines.push(path);
      this.#addPath(path);
    }
    return [this.#pathNumbers.get(path) ?? 0, before, after];
  }

  #addPath(path: string): void {
    this.#pathNumbers.set(path, this.#paths.length);
    this.#paths.push(path);
  }

  #add(commit: Indexed): void {
    this.#numbers.set(commit.oid, this.#commits.length);
    this.#commits.push(commit);
    const before = commit.parents.map((parent) => this.#order[parent] ?? 0);
    this.#order.push(Math.max(commit.time, ...before));
  }

  /** Takes in what the file has and is not known yet. */
  #load(): void {
    const { files } = this.#disk;
    const stat = files.lstat(this.#file);
    const bytes = stat && !sameStat(stat, this.#known) ? files.read(this.#file) : undefined;
    if (!stat || !bytes) return;
    const grown = this.#known?.ino === stat.ino && this.#known.size < stat.size;
    if (!grown) this.#clear();
    const lines = bytes.toString('utf8', grown ? this.#known?.size : 0).split('\n');
    const whole = lines.pop() === '';
    const head = grown ? this.#head() : lines.shift();
    const sound = head === this.#head() && lines.every((line) => this.#take(line));
    this.#known = whole && sound ? { ...stat, size: bytes.length } : undefined;
  }

  #head(): string {
    return JSON.stringify({ format, folder: this.#folder, shallow: [...this.#shallow].sort() });
  }

  #clear(): void {
    this.#numbers.clear();
    this.#pathNumbers.clear();
    this.#commits = [];
    this.#order = [];
    this.#paths = [];
  }

  /** Whether a line could be taken in. Two servers that wrote at once have used a number twice. */
  #take(line: string): boolean {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return false;
    }
    if (typeof value === 'string') {
      if (this.#pathNumbers.has(value)) return false;
      this.#addPath(value);
    } else if (isCommit(value, this.#commits.length)) {
      const [oid, time, parents, changes] = value;
      if (this.#numbers.has(oid)) return false;
      this.#add({ oid, time, parents, changes });
    } else {
      const here = { commits: this.#commits.length, paths: this.#paths.length };
      return JSON.stringify(value) === JSON.stringify(here);
    }
    return true;
  }

  async #save(lines: readonly unknown[]): Promise<void> {
    const { files } = this.#disk;
    try {
      const stat = files.lstat(this.#file);
      if (!stat || !sameStat(stat, this.#known)) return await this.#saveAll();
      const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const fd = files.open(this.#file, 'a');
      try {
        files.write(fd, [bytes]);
        this.#known = files.fstat(fd);
      } finally {
        files.close(fd);
      }
      // Another server has written in the same moment, with the same numbers.
      if (this.#known.size !== stat.size + bytes.length) this.#known = undefined;
    } catch {
      // It is a copy of what git has: where it cannot be kept, it is made again the next time.
      this.#known = undefined;
    }
  }

  async #saveAll(): Promise<void> {
    const lines = [
      ...[this.#head(), JSON.stringify({ commits: 0, paths: 0 })],
      ...this.#paths.map((path) => JSON.stringify(path)),
      ...this.#commits.map((commit) => JSON.stringify(toLine(commit))),
    ];
    await this.#disk.replace(this.#file, [Buffer.from(`${lines.join('\n')}\n`)]);
    this.#known = this.#disk.files.lstat(this.#file);
  }
}

/** The differences of two trees; ignores files that differ only in their mode. */
export function pathChanges(
  odb: ObjectDatabase,
  before: Oid | undefined,
  after: Oid | undefined,
): PathChange[] {
  return [...differences(odb, before, after)]
    .map(({ path, before, after }) => ({ path, before: before?.oid, after: after?.oid }))
    .filter(({ before, after }) => before !== after);
}

function toChange(path: string, before: Oid | '', after: Oid | ''): PathChange {
  return { path, before: before || undefined, after: after || undefined };
}

function toLine({ oid, time, parents, changes }: Indexed): unknown {
  return [oid, time, parents, changes];
}

function isCommit(
  value: unknown,
  number: number,
): value is [Oid, number, readonly number[], readonly (readonly Numbered[])[]] {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [oid, time, parents, changes] = value;
  const isNumber = (one: unknown) => Number.isInteger(one);
  return (
    typeof oid === 'string' &&
    isNumber(time) &&
    Array.isArray(parents) &&
    parents.every((parent) => isNumber(parent) && parent < number) &&
    Array.isArray(changes) &&
    changes.length === Math.max(1, parents.length) &&
    changes.every((list) => Array.isArray(list) && list.every(isNumbered))
  );
}

function isNumbered(value: unknown): value is Numbered {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [path, before, after] = value;
  return Number.isInteger(path) && typeof before === 'string' && typeof after === 'string';
}

/** Lets other work have its turn now and then, and notices when the caller has given up. */
function pacer(signal: AbortSignal): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < stretch) return;
    await turn();
    signal.throwIfAborted();
    since = performance.now();
  };
}
