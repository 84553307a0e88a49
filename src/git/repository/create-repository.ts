import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { removeIfEmpty } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { type ObjectFormat, objectFormats } from '../objects/object-format.ts';
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

/** Platform settings that `git init` detects; isomorphic-git would write other values. */
function configText({ name }: ObjectFormat): string {
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${name === 'sha1' ? 0 : 1}`,
    '\tbare = false',
    '\tlogallrefupdates = true',
  ];
  if (process.platform === 'win32') lines.push('\tfilemode = false', '\tsymlinks = false');
  else lines.push('\tfilemode = true');
  if (process.platform !== 'linux') lines.push('\tignorecase = true');
  if (process.platform === 'darwin') lines.push('\tprecomposeunicode = true');
  if (name !== 'sha1') lines.push('[extensions]', `\tobjectformat = ${name}`);
  return `${lines.join('\n')}\n`;
}

/**
 * Creates a git directory, as `git init` does, with the branch name of the user's configuration. The
 * caller holds the process lock.
 *
 * HEAD is written last. Git does not take a folder without HEAD as a repository, so the next attempt
 * can complete a half-made one.
 *
 * @param own our own folder in the git directory, which exists.
 * @returns false where it exists already, because another server created it first.
 * @throws MemoryError `unsupported` for a git directory that has lost its HEAD.
 */
export async function initRepository(
  disk: Disk,
  gitDir: string,
  own: string,
  env: NodeJS.ProcessEnv,
  token: ProcessToken,
  wait: LockWait,
): Promise<boolean> {
  const head = join(gitDir, 'HEAD');
  if (disk.files.lstat(head)) return false;
  checkEmpty(disk, gitDir);
  const places = { gitDir, commonDir: gitDir, branch: undefined, env };
  const user = GitConfig.read(disk.files, places);
  const branch = user.get('init.defaultbranch') ?? 'main';
  const format = formatOfNew(user);
  const config = join(gitDir, 'config');
  try {
    for (const folder of folders) disk.makeDirectories(join(gitDir, folder));
    disk.discard(config);
    await disk.create(config, [Buffer.from(configText(format))]);
    const lock = await GitLock.take(disk, head, 'head', own, token, wait);
    try {
      await lock.fill([Buffer.from(`ref: refs/heads/${branch}\n`)]);
      await disk.settle([own, ...folders.map((folder) => join(gitDir, folder))]);
      lock.commit(head);
    } finally {
      lock.release();
    }
    await disk.settle([gitDir]);
    return true;
  } catch (error) {
    if (!disk.files.lstat(head)) cleanUp(disk, gitDir);
    throw error;
  }
}

/** The format of the objects of a new repository (git-init, `--object-format`). */
function formatOfNew(config: GitConfig): ObjectFormat {
  const name = config.env.GIT_DEFAULT_HASH || config.get('init.defaultobjectformat') || 'sha1';
  const format = objectFormats.get(name);
  if (format) return format;
  throw new MemoryError('unsupported', `There is no object format ${JSON.stringify(name)}.`, {
    hint: 'GIT_DEFAULT_HASH and init.defaultObjectFormat can be sha1 or sha256.',
  });
}

/** Refuses a folder with foreign files: the user has to save the rest of a repository. */
function checkEmpty(disk: Disk, gitDir: string): void {
  const known = new Set(['config', 'HEAD.lock', 'memory-bank', ...folders]);
  const strange = disk.files.list(gitDir)?.find(({ name }) => !known.has(name));
  if (!strange) return;
  throw new MemoryError('unsupported', `${gitDir} is not empty and not a git repository.`, {
    hint: 'Its HEAD is missing. Restore HEAD, or move the folder away.',
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
