import type { Oid } from '../objects/object.ts';
import type { ObjectFormat } from '../objects/object-format.ts';

/** How a commit changed the tree of a folder. */
export interface TreeChange {
  /** `''` for the root, `a`, `a/b`. */
  readonly folder: string;
  readonly before: Oid | undefined;
  readonly after: Oid | undefined;
}

const maxDepth = 1000;
const unknownTrees = { before: undefined, after: undefined };

/**
 * Updates the index extension TREE (gitformat-index, "Cache tree") for a commit.
 *
 * Only the parent folders of the changed paths are rewritten. A folder whose cached tree is the one that
 * the commit replaced gets the new tree; any other becomes invalid, as in git.
 *
 * @param bytes the extension's content.
 * @param growth number of entries by which each parent folder has grown, the root as `''`.
 * @returns undefined for invalid content: the extension is dropped then.
 */
export function updateCachedTrees(
  bytes: Buffer,
  trees: readonly TreeChange[],
  growth: ReadonlyMap<string, number>,
  format: ObjectFormat,
): Buffer | undefined {
  try {
    const update = new Update(bytes, trees, growth, format);
    update.node('', 0);
    return update.end === bytes.length ? Buffer.concat(update.pieces) : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * The cached tree of a folder in the extension's content, or of its nearest parent that has a node there;
 * undefined where it is invalid.
 *
 * @param folder `''` for the root.
 */
export function cachedTree(bytes: Buffer, folder: string, format: ObjectFormat): Oid | undefined {
  try {
    return new Reader(bytes, format).nearest(folder === '' ? [] : folder.split('/'));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A node of the extension without its name and its children. */
interface Node {
  /** The number of entries below it; negative where it is invalid. */
  readonly count: number;
  readonly children: number;
  readonly oid: Oid | undefined;
}

/** Reads the nodes one after the other. */
class Reader {
  /** Offset of the first byte that was not read. */
  end = 0;
  readonly #bytes: Buffer;
  /** The length of an id, in bytes. */
  readonly #idSize: number;

  constructor(bytes: Buffer, { size }: ObjectFormat) {
    [this.#bytes, this.#idSize] = [bytes, size];
  }

  /** The rest of the next node after its name. */
  rest(): Node {
    const count = this.#number(0x20);
    const children = this.#number(0x0a);
    return {
      count,
      children,
      oid: count >= 0 ? this.#take(this.#idSize).toString('hex') : undefined,
    };
  }

  /** The name of the next node. */
  nextName(): string {
    return this.#bytes.toString('utf8', this.end, this.#bytes.indexOf(0, this.end));
  }

  name(): Buffer {
    const start = this.end;
    const end = this.#bytes.indexOf(0, start);
    if (end < 0) throw new RangeError('the cached trees end early');
    this.end = end + 1;
    return this.#bytes.subarray(start, end);
  }

  /** The bytes of a node and its children. */
  skip(depth: number): Buffer {
    if (depth > maxDepth) throw new RangeError('the cached trees are too deep');
    const start = this.end;
    for (let open = 1; open > 0; open--) {
      this.name();
      open += this.rest().children;
    }
    return this.#bytes.subarray(start, this.end);
  }

  nearest([first, ...below]: readonly string[]): Oid | undefined {
    this.name();
    const { children, oid } = this.rest();
    for (let i = 0; first !== undefined && i < children; i++) {
      if (this.nextName() === first) return this.nearest(below);
      this.skip(0);
    }
    return oid;
  }

  #take(length: number): Buffer {
    if (this.end + length > this.#bytes.length) throw new RangeError('the cached trees end early');
    this.end += length;
    return this.#bytes.subarray(this.end - length, this.end);
  }

  #number(end: number): number {
    let value = 0;
    let sign = 1;
    for (;;) {
      const byte = this.#bytes[this.end++];
      if (byte === end) return sign * value;
      if (byte === 0x2d) sign = -1;
      else if (byte !== undefined && byte >= 0x30 && byte <= 0x39) value = value * 10 + byte - 0x30;
      else throw new RangeError('a cached tree has no number');
    }
  }
}

class Update {
  readonly pieces: Buffer[] = [];
  readonly #reader: Reader;
  readonly #growth: ReadonlyMap<string, number>;
  readonly #changes: ReadonlyMap<string, TreeChange>;
  /** Folders below each folder that the commit changed, by their parent. */
  readonly #below = new Map<string, TreeChange[]>();

  constructor(
    bytes: Buffer,
    trees: readonly TreeChange[],
    growth: ReadonlyMap<string, number>,
    format: ObjectFormat,
  ) {
    this.#reader = new Reader(bytes, format);
    this.#growth = growth;
    // The new tree of a parent folder without a `TreeChange` is unknown.
    const unknown = [...growth.keys()].map((folder) => ({ folder, ...unknownTrees }));
    this.#changes = new Map([...unknown, ...trees].map((change) => [change.folder, change]));
    for (const change of this.#changes.values()) {
      if (change.folder === '') continue;
      const slash = change.folder.lastIndexOf('/');
      const parent = change.folder.slice(0, Math.max(0, slash));
      this.#below.set(parent, [...(this.#below.get(parent) ?? []), change]);
    }
  }

  /** Offset of the first byte that was not read. */
  get end(): number {
    return this.#reader.end;
  }

  /** Reads a node with its children and writes the updated one; returns whether it is valid. */
  node(folder: string, depth: number): boolean {
    if (depth > maxDepth) throw new RangeError('the cached trees are too deep');
    const name = this.#reader.name();
    const { count, children, oid } = this.#reader.rest();
    const place = this.pieces.length;
    this.pieces.push(name);
    const strange = new Map(
      (this.#below.get(folder) ?? []).map((change) => [change.folder, change]),
    );
    let valid = oid !== undefined && oid === this.#changes.get(folder)?.before;
    for (let i = 0; i < children; i++) {
      const child = this.#reader.nextName();
      const path = folder === '' ? child : `${folder}/${child}`;
      const change = strange.get(path);
      strange.delete(path);
      // Folders without a changed path are copied unchanged.
      if (!change) this.pieces.push(this.#reader.skip(depth + 1));
      else if (!this.node(path, depth + 1) || change.after === undefined) valid = false;
    }
    // A folder that is new to the cache, or gone, makes its parents invalid.
    const after = this.#changes.get(folder)?.after;
    const sure = valid && strange.size === 0 && after !== undefined;
    const grown = count + (this.#growth.get(folder) ?? 0);
    const head = `${sure ? grown : -1} ${children}\n`;
    this.pieces[place] = Buffer.concat([name, Buffer.from([0]), Buffer.from(head, 'latin1')]);
    if (sure) this.pieces[place] = Buffer.concat([this.pieces[place], Buffer.from(after, 'hex')]);
    return sure;
  }
}
