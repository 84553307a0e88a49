import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { Disk } from '../disk/disk.ts';
import type { EncodedObject, ObjectType } from './object.ts';
import type { ObjectFormat } from './object-format.ts';

const types: { readonly [type in ObjectType]: number } = { commit: 1, tree: 2, blob: 3, tag: 4 };

/**
 * Stores objects as one pack, which is written piece by piece and never held in memory.
 *
 * @param folder `objects/pack` of the repository.
 * @param objects at least one; no two of them have the same id.
 */
export async function storeAsPack(
  disk: Disk,
  folder: string,
  objects: readonly EncodedObject[],
  format: ObjectFormat,
): Promise<void> {
  const hash = format.hash();
  const entries: IndexedEntry[] = [];
  let trailer: Buffer = Buffer.alloc(0);
  function* pieces(): Generator<Buffer> {
    const head = packHead(objects.length);
    hash.update(head);
    yield head;
    let offset = head.length;
    for (const object of objects) {
      const entry = packEntry(object);
      hash.update(entry);
      entries.push({ id: Buffer.from(object.oid, 'hex'), crc: crc32(entry), offset });
      offset += entry.length;
      yield entry;
    }
    trailer = hash.digest();
    yield trailer;
  }
  const index = () => [writeIndex(entries, trailer, format)];
  await place(disk, folder, pieces(), index, () => trailer);
}

/**
 * Writes the two files of a pack.
 *
 * @param index called when the pack is written, like `trailer`: the checksum in the names of both.
 */
async function place(
  disk: Disk,
  folder: string,
  pack: Iterable<Buffer>,
  index: () => Iterable<Buffer>,
  trailer: () => Buffer,
): Promise<void> {
  const changed = disk.makeDirectories(folder);
  // Readers find a pack by its index, so the index comes last.
  for (const [ending, pieces] of [
    ['pack', () => pack],
    ['idx', index],
  ] as const) {
    const temporary = join(folder, `tmp_${ending}_${randomBytes(6).toString('hex')}`);
    await disk.create(temporary, pieces(), 0o444);
    disk.files.rename(temporary, join(folder, `pack-${trailer().toString('hex')}.${ending}`));
    await disk.settle([...changed, folder]);
  }
}

/** An object's line in the index of a pack. */
interface IndexedEntry {
  readonly id: Buffer;
  /** The CRC-32 of the entry in the pack. */
  readonly crc: number;
  readonly offset: number;
}

/** The index of a pack of less than 2 GiB (gitformat-pack, index version 2). */
function writeIndex(
  entries: readonly IndexedEntry[],
  trailer: Buffer,
  format: ObjectFormat,
): Buffer {
  const sorted = entries.toSorted((a, b) => Buffer.compare(a.id, b.id));
  const head = Buffer.alloc(8 + 256 * 4);
  head.writeUInt32BE(0xff744f63, 0);
  head.writeUInt32BE(2, 4);
  const counts = new Uint32Array(256);
  for (const { id } of sorted) counts[id[0] ?? 0] = (counts[id[0] ?? 0] ?? 0) + 1;
  let sum = 0;
  for (const [byte, count] of counts.entries()) {
    sum += count;
    head.writeUInt32BE(sum, 8 + byte * 4);
  }
  const words = Buffer.alloc(sorted.length * 8);
  for (const [i, { crc, offset }] of sorted.entries()) {
    words.writeUInt32BE(crc, i * 4);
    words.writeUInt32BE(offset, (sorted.length + i) * 4);
  }
  const body = Buffer.concat([head, ...sorted.map(({ id }) => id), words, trailer]);
  return Buffer.concat([body, format.hash().update(body).digest()]);
}

function packHead(count: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  return head;
}

function packEntry({ type, content }: Pick<EncodedObject, 'type' | 'content'>): Buffer {
  return Buffer.concat([
    entryHead(types[type], content.length),
    deflateSync(content, { level: 1 }),
  ]);
}

function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}
