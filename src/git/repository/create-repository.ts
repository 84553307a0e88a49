import { join } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import type { Disk } from '../disk/disk.ts';
import { removeIfEmpty } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { GitConfig } from './config.ts';

const folders = [
  'info',
  'objects',
  'objects/info',
  'objects/pack',
  'refs',
  'refs/heads',
  'refs/tags',
];

/** What `git init` finds out about the platform by trying; isomorphic-git would write other values. */
function configText(): string {
  const lines = [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tbare = false',
    '\tlogallrefupdates = true',
  ];
  if (process.platform === 'win32') lines.push('\tfilemode = false', '\tsymlinks = false');
  else lines.push('\tfilemode = true');
  if (process.platform !== 'linux') lines.push('\tignorecase = true');
  if (process.platform === 'darwin') lines.push('\tprecomposeunicode = true');
  return `${lines.join('\n')}\n`;
}

/**
 * Makes a folder a git directory, as `git init` does, with the branch name that the user's
 * configuration asks for. Needs the process lock.
 *
 * HEAD comes last. A folder without it is no repository to any git, so one that is half made is in
 * nobody's way, and the next attempt completes it.
 *
 * @param own our own folder in the git directory, which exists.
 * @throws MemoryError `unsupported` for the rest of a repository that has lost its HEAD.
 */
export async function initRepository(
  disk: Disk,
  gitDir: string,
  own: string,
  env: NodeJS.ProcessEnv,
  token: ProcessToken,
  wait: LockWait,
): Promise<void> {
  const head = join(gitDir, 'HEAD');
  // Another server may have been quicker.
  if (disk.files.lstat(head)) return;
  checkEmpty(disk, gitDir);
  const places = { gitDir, commonDir: gitDir, branch: undefined, env };
  const branch = GitConfig.read(disk.files, places).get('init.defaultbranch') ?? 'main';
  const config = join(gitDir, 'config');
  try {
    for (const folder of folders) disk.makeDirectories(join(gitDir, folder));
    disk.discard(config);
    await disk.create(config, [Buffer.from(configText())]);
    const lock = await GitLock.take(disk, head, 'head', own, token, wait);
    try {
      await lock.fill([Buffer.from(`ref: refs/heads/${branch}\n`)]);
      await disk.settle([own, ...folders.map((folder) => join(gitDir, folder))]);
      lock.commit(head);
    } finally {
      lock.release();
    }
    await disk.settle([gitDir]);
  } catch (error) {
    if (!disk.files.lstat(head)) cleanUp(disk, gitDir);
    throw error;
  }
}

/** Nothing of a person's may lie there: what remains of a repository is for him to save. */
function checkEmpty(disk: Disk, gitDir: string): void {
  const known = new Set(['config', 'HEAD.lock', 'memory-bank', ...folders]);
  const strange = disk.files.list(gitDir)?.find(({ name }) => !known.has(name));
  if (!strange) return;
  throw new MemoryError('unsupported', `${gitDir} is not empty, and no git repository either.`, {
    hint: 'Its HEAD is missing. Mend it, or move it out of the way.',
    data: { path: gitDir, found: strange.name },
  });
}

function cleanUp(disk: Disk, gitDir: string): void {
  try {
    disk.discard(join(gitDir, 'config'));
    for (const folder of [...folders].reverse()) removeIfEmpty(disk, join(gitDir, folder));
  } catch (error) {
    if (errno(error) === undefined) throw error;
  }
}
