import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../../git/disk/disk.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import type { Oid } from '../../git/objects/object.ts';
import { isOid } from '../../git/objects/object-format.ts';
import { Refs } from '../../git/refs/refs.ts';
import { findWorkTree, type WorkTree } from '../../git/repository/discover.ts';
import { openObjects } from '../../git/repository/repository-format.ts';
import { checkLineFormat, checkTextFormat } from '../history/line-format.ts';
import type { Sides } from '../merge/diff3.ts';
import { configPath } from '../records/memory-config.ts';

/** The files of a git directory that name the commit whose changes git brings in. */
const heads = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'];
/** Size limit of a file that names commits, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * Refuses a merge of git in which a side has a later format of the memory; see `checkWritten`.
 *
 * @param path of the file that git merges, relative to the top of the work tree.
 * @param versions of that file.
 * @param env of the merge driver, in which git names the commits that it merges.
 */
export function checkDrivenMerge(
  folder: string,
  path: string,
  versions: Sides<Buffer | undefined>,
  env: NodeJS.ProcessEnv,
): void {
  const [, memory = ''] = /^((?:.*\/)?\.memory-bank)\//s.exec(path) ?? [];
  const isSettings = path === join(memory, configPath);
  if (isSettings) for (const side of Object.values(versions)) if (side) checkTextFormat(side);
  const files = new NodeFiles();
  const tree = findWorkTree(files, folder);
  if (!tree) return;
  const odb = openObjects(new Disk(files, 'relaxed'), tree.commonDir);
  try {
    for (const commit of mergedCommits(files, tree, env)) {
      if (odb.has(commit)) checkLineFormat(odb, commit, memory);
    }
  } finally {
    odb.close();
  }
}

/** The commits that a merge, rebase or cherry-pick of git is known to join. */
function mergedCommits(files: Files, tree: WorkTree, env: NodeJS.ProcessEnv): Set<Oid> {
  const read = (name: string) =>
    files.read(join(tree.gitDir, name), maxBytes)?.toString('latin1') ?? '';
  // Git names the merged commits in the environment before it writes MERGE_HEAD.
  const merged = Object.keys(env).flatMap((name) => /^GITHEAD_(.*)$/.exec(name)?.[1] ?? []);
  const picked = /^\w+ (?:-\w+ )?(\S+).*\s*$/.exec(
    read('rebase-merge/done').trimEnd().split('\n').at(-1) ?? '',
  );
  const named = heads.flatMap((name) => read(name).split('\n'));
  const here = headOf(files, tree);
  return new Set([here, picked?.[1] ?? '', ...merged, ...named].filter(isOid));
}

function headOf(files: Files, { gitDir, commonDir }: WorkTree): Oid {
  try {
    return new Refs(files, gitDir, commonDir).head().oid ?? '';
  } catch (error) {
    if (error instanceof MemoryError) return '';
    throw error;
  }
}
