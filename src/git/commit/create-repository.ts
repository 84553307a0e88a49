import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Disk } from '../disk/disk.ts';
import { removeIfEmpty } from '../disk/disk.ts';
import { errno } from '../disk/file-layer.ts';
import { GitLock, type LockWait } from '../locks/lock.ts';
import type { ProcessToken } from '../locks/token.ts';
import { type ObjectFormat, objectFormats, sha1 } from '../objects/object-format.ts';
import { newStack } from '../reftable/table-addition.ts';
import { GitConfig } from '../repository/config.ts';
import { firstGit, installedGit, isAtLeast } from '../repository/git-version.ts';

/** The folders of every new git directory, and those of one with refs in files or in tables. */
const folders = ['info', 'objects', 'objects/info', 'objects/pack', 'refs'];
const ofFiles = ['refs/heads', 'refs/tags'];
const ofTables = ['reftable'];

/** The format of a new repository. */
interface NewFormat {
  readonly objects: ObjectFormat;
  readonly hasTables: boolean;
}

/** Platform settings that `git init` detects; isomorphic-git would write other values. */
function configText({ objects: { name }, hasTables }: NewFormat): string {
  const extensions = [
    ...(name === 'sha1' ? [] : [`\tobjectformat = ${name}`]),
    ...(hasTables ? ['\trefstorage = reftable'] : []),
  ];
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${extensions.length > 0 ? 1 : 0}`,
    '\tbare = false',
    '\tlogallrefupdates = true',
  ];
  if (process.platform === 'win32') lines.push('\tfilemode = false', '\tsymlinks = false');
  else lines.push('\tfilemode = true');
  if (process.platform !== 'linux') lines.push('\tignorecase = true');
  if (process.platform === 'darwin') lines.push('\tprecomposeunicode = true');
  if (extensions.length > 0) lines.push('[extensions]', ...extensions);
  return `${lines.join('\n')}\n`;
}

/**
 * Creates a git directory, as `git init` does, with the branch name and the formats of the user's
 * configuration. The caller holds the process lock.
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
  const format = await formatOfNew(user);
  const made = [...folders, ...(format.hasTables ? ofTables : ofFiles)];
  const files = new Map([
    ['HEAD', Buffer.from(`ref: refs/heads/${branch}\n`)],
    ...(format.hasTables ? newStack(format.objects, `refs/heads/${branch}`) : []),
    // After the tables: where it names them, they are read, and half of a list counts as damaged.
    ['config', Buffer.from(configText(format))],
  ]);
  try {
    // Of an attempt that did not end, perhaps with another format.
    cleanUp(disk, gitDir);
    for (const folder of made) disk.makeDirectories(join(gitDir, folder));
    for (const [name, bytes] of files) {
      if (name !== 'HEAD') await disk.create(join(gitDir, name), [bytes]);
    }
    const lock = await GitLock.take(disk, head, 'head', own, token, wait);
    try {
      await lock.fill([files.get('HEAD') ?? Buffer.alloc(0)]);
      await disk.settle([own, ...made.map((folder) => join(gitDir, folder))]);
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

/** The files of a stack with nothing but HEAD. */
const ofNewStack = /^(?:tables\.list|0x0{11}1-0x0{11}1-[0-9a-f]{8}\.ref)$/;

const refFormats: ReadonlySet<string> = new Set(['files', 'reftable']);

/**
 * The format of a new repository (git-init, `--object-format` and `--ref-format`), as the installed git
 * would choose it: an older one ignores the settings that it does not know, and could not read the result.
 *
 * @throws MemoryError `unsupported` for an unknown format in the environment, where git fails as well.
 */
async function formatOfNew(config: GitConfig): Promise<NewFormat> {
  const { GIT_DEFAULT_HASH: hash, GIT_DEFAULT_REF_FORMAT: refs } = config.env;
  if (hash && !objectFormats.has(hash)) throw noFormat('GIT_DEFAULT_HASH', hash, objectFormats);
  if (refs && !refFormats.has(refs)) throw noFormat('GIT_DEFAULT_REF_FORMAT', refs, refFormats);
  const wanted = objectFormats.get(hash || (config.get('init.defaultobjectformat') ?? '')) ?? sha1;
  const hasTables = (refs || config.get('init.defaultrefformat')) === 'reftable';
  if (wanted === sha1 && !hasTables) return { objects: sha1, hasTables };
  const git = (await installedGit(config.env)) ?? firstGit.tables;
  return {
    objects: isAtLeast(git, firstGit.sha256) ? wanted : sha1,
    hasTables: hasTables && isAtLeast(git, firstGit.tables),
  };
}

function noFormat(variable: string, value: string, known: { keys(): Iterable<string> }) {
  const names = [...known.keys()].join(' or ');
  return new MemoryError('unsupported', `${variable} has an unknown format: ${value}.`, {
    hint: `Set it to ${names}.`,
  });
}

/** Refuses a folder with foreign files: the user has to save the rest of a repository. */
function checkEmpty(disk: Disk, gitDir: string): void {
  const known = new Set(['config', 'HEAD.lock', 'memory-bank', ...folders, ...ofTables]);
  const tables = disk.files.list(join(gitDir, 'reftable')) ?? [];
  const strange =
    disk.files.list(gitDir)?.find(({ name }) => !known.has(name)) ??
    tables.find(({ name }) => !ofNewStack.test(name));
  if (!strange) return;
  throw new MemoryError('unsupported', `${gitDir} is not empty and not a git repository.`, {
    hint: 'Its HEAD is missing. Restore HEAD, or move the folder away.',
    data: { path: gitDir, found: strange.name },
  });
}

function cleanUp(disk: Disk, gitDir: string): void {
  try {
    const tables = disk.files.list(join(gitDir, 'reftable')) ?? [];
    const names = ['config', ...tables.map(({ name }) => `reftable/${name}`)];
    // With refs in tables, it is a file.
    if (disk.files.lstat(join(gitDir, 'refs/heads'))?.kind === 'file') names.push('refs/heads');
    for (const name of names) disk.discard(join(gitDir, name));
    for (const folder of [...folders, ...ofFiles, ...ofTables].reverse()) {
      removeIfEmpty(disk, join(gitDir, folder));
    }
  } catch (error) {
    if (errno(error) === undefined) throw error;
  }
}
