import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { MemoryError } from '../core/error.ts';
import type { Disk } from './disk.ts';
import { isomorphicGit } from './isomorphic-git.ts';
import type { ObjectType } from './object.ts';
import type { RawObject } from './pack.ts';

const types: { readonly [type in ObjectType]: number } = { commit: 1, tree: 2, blob: 3, tag: 4 };

/** Objects as one pack, each of them whole (gitformat-pack). */
export function writePack(objects: readonly RawObject[]): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(objects.length, 8);
  const pieces = objects.flatMap(({ type, content }) => [
    entryHead(types[type], content.length),
    deflateSync(content),
  ]);
  const body = Buffer.concat([head, ...pieces]);
  return Buffer.concat([body, checksum(body)]);
}

/**
 * Stores a pack that came from elsewhere, with an index of what is really in it.
 *
 * @param folder `objects/pack` of the repository.
 * @throws MemoryError `remote` for bytes that are no whole pack.
 */
export async function storePack(disk: Disk, folder: string, pack: Buffer): Promise<void> {
  const count = pack.length < 32 ? undefined : pack.readUInt32BE(8);
  const trailer = pack.subarray(-20);
  if (count === undefined || !checksum(pack.subarray(0, -20)).equals(trailer)) throw garbled();
  if (count === 0) return;
  const index = await indexOf(pack);
  // An object that could not be made out is left out of the index.
  if (index.readUInt32BE(8 + 255 * 4) !== count) throw garbled();
  const changed = disk.makeDirectories(folder);
  const name = join(folder, `pack-${trailer.toString('hex')}`);
  // A pack is looked for by its index, so that comes last.
  for (const [ending, bytes] of [
    ['pack', pack],
    ['idx', index],
  ] as const) {
    const temporary = join(folder, `tmp_${ending}_${randomBytes(6).toString('hex')}`);
    await disk.create(temporary, [bytes], 0o444);
    disk.files.rename(temporary, `${name}.${ending}`);
    await disk.settle([...changed, folder]);
  }
}

/** The index of a pack, made in memory. */
async function indexOf(pack: Buffer): Promise<Buffer> {
  let index: Uint8Array | undefined;
  const absent = () => Promise.reject(Object.assign(new Error('absent'), { code: 'ENOENT' }));
  const promises = {
    readFile: async (path: string) => (path.endsWith('.pack') ? pack : absent()),
    writeFile: async (_path: string, bytes: Uint8Array) => {
      index = bytes;
    },
    ...{ unlink: absent, readdir: absent, mkdir: absent, rmdir: absent },
    ...{ stat: absent, lstat: absent, readlink: absent, symlink: absent },
  };
  try {
    const git = await isomorphicGit();
    await git.indexPack({ fs: { promises }, dir: '/', gitdir: '/', filepath: 'a.pack' });
  } catch {
    // The one message below says it for every kind of damage.
  }
  if (!index) throw garbled();
  return Buffer.from(index);
}

function entryHead(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function checksum(bytes: Uint8Array): Buffer {
  return createHash('sha1').update(bytes).digest();
}

function garbled(): MemoryError {
  return new MemoryError('remote', 'What the remote sent is no whole pack of objects.', {
    hint: 'Nothing was changed. Try again.',
  });
}
