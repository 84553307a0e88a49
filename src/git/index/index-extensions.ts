import { MemoryError } from '../../core/values/error.ts';
import type { ObjectFormat } from '../objects/object-format.ts';
import { type TreeChange, updateCachedTrees } from './cache-tree.ts';

/** An extension after the lines of an index (gitformat-index, "Extensions"). */
export interface Extension {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * Reads the extensions of an index, from the end of its last line.
 *
 * @param bytes of the index without its checksum.
 * @throws MemoryError `unsupported` for an unknown extension that is not optional.
 */
export function readExtensions(bytes: Buffer, from: number): Extension[] {
  const found: Extension[] = [];
  let at = from;
  const end = bytes.length;
  while (at < end) {
    if (at + 8 > end) throw damaged();
    const name = bytes.toString('latin1', at, at + 4);
    const next = at + 8 + bytes.readUInt32BE(at + 4);
    if (next > end) throw damaged();
    if (/^[a-z]/.test(name) && name !== 'sdir' && name !== 'link') {
      throw new MemoryError(
        'unsupported',
        `The index has an extension "${name}" that is not known.`,
        {
          hint: 'A newer git wrote it. Update this program.',
        },
      );
    }
    found.push({ name, bytes: bytes.subarray(at, next) });
    at = next;
  }
  return found;
}

/** Keeps an extension that stays valid, updates it, or drops it. */
export function keepExtension(
  extension: Extension,
  structural: boolean,
  trees: readonly TreeChange[],
  growth: ReadonlyMap<string, number>,
  format: ObjectFormat,
): Extension[] {
  switch (extension.name) {
    case 'TREE': {
      const content = updateCachedTrees(extension.bytes.subarray(8), trees, growth, format);
      return content ? [makeExtension('TREE', content)] : [];
    }
    case 'sdir':
    case 'REUC':
      return [extension];
    case 'UNTR':
      // It may list a path as untracked that is tracked from now on.
      return structural ? [] : [extension];
    default:
      return [];
  }
}

function makeExtension(name: string, content: Buffer): Extension {
  const head = Buffer.alloc(8);
  head.write(name, 0, 'latin1');
  head.writeUInt32BE(content.length, 4);
  return { name, bytes: Buffer.concat([head, content]) };
}

/** The error for bytes that are not an index. */
export function damaged(): MemoryError {
  return new MemoryError('damaged', 'The index of this repository is damaged.', {
    hint: 'Run "git status"; if it fails, remove .git/index and run "git reset".',
  });
}
