import { basename, dirname, join } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import type { IndexFile } from '../index/index-file.ts';
import { restyleTo } from '../objects/line-ends.ts';
import { isBlob } from '../objects/object.ts';
import { type ObjectDatabase, treeOf } from '../objects/odb.ts';
import { TreeFolder } from '../objects/tree-folder.ts';
import type { Head } from '../refs/refs.ts';
import type { FileChange, Proposal } from './commit-plan.ts';

/** Size limit of a file whose line ends are compared, in bytes. */
const maxSize = 16 * 1024 * 1024;

/** The work tree of a mutation. */
interface ConvertedSite {
  readonly disk: Disk;
  readonly odb: ObjectDatabase;
  readonly tree: { readonly top: string };
}

/**
 * Adds the files that a change of git attributes would make differ from their blobs.
 *
 * A checkout may have converted their line ends (core.autocrlf). When a `.gitattributes` of ours ends
 * that, git would report them all as changed. Their blobs are therefore written into the work tree; the
 * commit does not change them.
 */
export function withConverted(
  { disk, odb, tree }: ConvertedSite,
  { oid: tip }: Head,
  index: IndexFile,
  proposals: readonly Proposal[],
): readonly Proposal[] {
  const changed = new Set(proposals.flatMap(({ changes }) => changes.map(({ path }) => path)));
  const committed = new TreeFolder(odb, tip && treeOf(odb, tip));
  return proposals.map((proposal) => {
    const folders = proposal.changes.filter(endsConversion).map(({ path }) => dirname(path));
    if (folders.length === 0) return proposal;
    const added: FileChange[] = [];
    for (const { name, oid, mode, stage } of index.lines()) {
      const path = name.toString('utf8');
      const isBelow = folders.some((folder) => folder === '.' || path.startsWith(`${folder}/`));
      if (!isBelow || changed.has(path) || stage !== 0 || (mode & 0o170000) !== 0o100000) continue;
      const seen = disk.files.load(join(tree.top, path), maxSize)?.bytes;
      // A staged version is the user's.
      if (!seen || isBlob(seen, oid) || committed.oid(path) !== oid) continue;
      const bytes = odb.content(oid, 'blob');
      if (restyleTo(bytes, seen)?.(seen).equals(bytes)) added.push({ path, seen, bytes });
    }
    return { ...proposal, changes: [...proposal.changes, ...added] };
  });
}

/** Whether a change of a file of attributes adds the rule that keeps line ends. */
function endsConversion({ path, bytes, seen }: FileChange): boolean {
  if (basename(path) !== '.gitattributes') return false;
  const keeps = (text: Uint8Array | undefined) =>
    text !== undefined && /^\* (?:.* )?-text\b/m.test(Buffer.from(text).toString('latin1'));
  return keeps(bytes) && !keeps(seen);
}
