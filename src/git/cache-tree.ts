import type { Oid } from './object.ts';

/** A node of the index extension TREE: what a folder's tree would be if it were written now. */
export interface CachedTree {
  readonly name: string;
  /** Index entries below the folder; negative where the cached id is no longer true. */
  readonly count: number;
  readonly oid: Oid | undefined;
  readonly children: readonly CachedTree[];
}

/** Reads the extension's content (gitformat-index, "Cache tree"); undefined when it makes no sense. */
export function readCachedTree(bytes: Buffer): CachedTree | undefined {
  let at = 0;
  const upTo = (byte: number): string => {
    const end = bytes.indexOf(byte, at);
    if (end < 0) throw new RangeError('the cached trees end too early');
    // Latin-1 keeps every byte of a name in no matter what encoding.
    const text = bytes.toString('latin1', at, end);
    at = end + 1;
    return text;
  };
  const node = (depth: number): CachedTree => {
    if (depth > 1000) throw new RangeError('the cached trees are too deep');
    const name = Buffer.from(upTo(0), 'latin1').toString('utf8');
    const count = Number(upTo(0x20));
    const below = Number(upTo(0x0a));
    let oid: Oid | undefined;
    if (count >= 0) {
      oid = bytes.toString('hex', at, at + 20);
      at += 20;
    }
    const children: CachedTree[] = [];
    for (let i = 0; i < below; i++) children.push(node(depth + 1));
    return { name, count, oid, children };
  };
  try {
    const root = node(0);
    // A name that is not UTF-8 would not come back as it was: better no cache than a wrong one.
    return writeCachedTree(root).subarray(8).equals(bytes) ? root : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The extension with its name and length. */
export function writeCachedTree(root: CachedTree): Buffer {
  const pieces: Buffer[] = [];
  const node = (tree: CachedTree) => {
    pieces.push(Buffer.from(`${tree.name}\0${tree.count} ${tree.children.length}\n`, 'utf8'));
    if (tree.count >= 0) pieces.push(Buffer.from(tree.oid ?? '', 'hex'));
    for (const child of tree.children) node(child);
  };
  node(root);
  const body = Buffer.concat(pieces);
  const head = Buffer.alloc(8);
  head.write('TREE', 0, 'latin1');
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
