import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../../git/disk/file-layer.ts';
import type { WorkTree } from '../../git/repository/discover.ts';
import type { Finding } from './finding.ts';

/** Limit of the files whose owner is looked at. */
const maxFiles = 20_000;

/**
 * Checks that the git directory and the memory can be written, and belong to one user.
 *
 * @param memory absolute path of the memory folder, which may be missing.
 */
export function checkAccess(files: Files, tree: WorkTree, memory: string): Finding[] {
  const { gitDir, commonDir } = tree;
  const refs = ['refs', 'refs/heads', 'logs', 'reftable'];
  const parts = ['objects', 'objects/pack', ...refs, 'memory-bank'];
  const folders = [gitDir, commonDir, ...parts.map((part) => join(commonDir, part)), memory];
  const closed = [...new Set(folders)].filter((path) => files.lstat(path) && !canWrite(path));
  const found = closed.map((path): Finding => {
    const text = `${path} cannot be written by this user, so no change can be committed. Correct its owner or permissions.`;
    return { what: 'Permissions', state: 'bad', text };
  });
  return [...found, ...checkOwners(files, commonDir, memory)];
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reports files that another user has made, as a command run as root does. */
function checkOwners(files: Files, commonDir: string, memory: string): Finding[] {
  const owner = process.geteuid === undefined ? undefined : files.lstatExact(commonDir)?.uid;
  if (owner === undefined) return [];
  const foreign: string[] = [];
  const queue = [commonDir, memory];
  for (const path of queue) {
    const stat = files.lstatExact(path);
    if (stat && stat.uid !== owner) foreign.push(path);
    if (!stat?.isDirectory() || queue.length > maxFiles) continue;
    for (const { name } of files.list(path) ?? []) queue.push(join(path, name));
  }
  const [first] = foreign;
  if (first === undefined) return [];
  const count = foreign.length === 1 ? '' : ` and ${foreign.length - 1} more`;
  const text = `${first}${count} do not belong to uid ${owner}, the owner of ${commonDir}, who may be unable to change them: "sudo chown -R ${owner} ${commonDir} ${memory}" gives them back.`;
  return [{ what: 'Permissions', state: 'note', text }];
}
