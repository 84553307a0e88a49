import { MemoryError } from '../../core/error.ts';
import { type TreeChange, updateCachedTrees } from './cache-tree.ts';

/** What follows the lines of an index (gitformat-index, "Extensions"). */
export interface Extension {
  readonly name: string;
  readonly bytes: Buffer;
}

/**
 * The extensions of an index, from where its last line ends.
 *
 * @throws MemoryError `unsupported` for one that must be understood and is not.
 */
export function readExtensions(bytes: Buffer, from: number): Extension[] {
  const found: Extension[] = [];
  let at = from;
  const end = bytes.length - 20;
  while (at < end) {
    if (at + 8 > end) throw damaged();
    const name = bytes.toString('latin1', at, at + 4);
    const next = at + 8 + bytes.readUInt32BE(at + 4);
    if (next > end) throw damaged();
    if (name === 'link') {
      throw new MemoryError('unsupported', 'This repository uses a split index.', {
        hint: 'Run "git update-index --no-split-index" and unset core.splitIndex.',
      });
    }
    if (/^[a-z]/.test(name) && name !== 'sdir') {
      throw new MemoryError(
        'unsupported',
        `The index has an extension "${name}" that is not known.`,
        {
          hint: 'It was written by a newer git; update this program.',
        },
      );
    }
    found.push({ name, bytes: bytes.subarray(at, next) });
    at = next;
  }
  return found;
}

/** What becomes of an extension: kept where the change leaves it true, brought up to date, or dropped. */
export function keepExtension(
  extension: Extension,
  structural: boolean,
  trees: readonly TreeChange[],
  growth: ReadonlyMap<string, number>,
): Extension[] {
  switch (extension.name) {
    case 'TREE': {
      const content = updateCachedTrees(extension.bytes.subarray(8), trees, growth);
      return content ? [makeExtension('TREE', content)] : [];
    }
    case 'sdir':
    case 'REUC':
      return [extension];
    case 'UNTR':
      // A path that is tracked from now on may be listed in here as untracked.
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

/** The error for bytes that are no index. */
export function damaged(): MemoryError {
  return new MemoryError('damaged', 'The index of this repository is damaged.', {
    hint: 'Run "git status"; if it fails, remove .git/index and run "git reset".',
  });
}
