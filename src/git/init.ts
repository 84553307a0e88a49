import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { GitConfig } from './config.ts';
import type { Disk } from './disk.ts';
import { removeIfEmpty } from './recovery.ts';

const folders = [
  '',
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
 * Makes a folder a repository, as `git init` does, with the branch name that the user's
 * configuration asks for.
 *
 * It is made under another name and renamed when it is whole: a folder is a repository or it is not.
 */
export async function initRepository(
  disk: Disk,
  root: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const gitDir = join(root, '.git');
  const places = { gitDir, commonDir: gitDir, branch: undefined, env };
  const branch = GitConfig.read(disk.files, places).get('init.defaultbranch') ?? 'main';
  const above = disk.makeDirectories(root);
  const temporary = join(root, `.git-${randomBytes(6).toString('hex')}.tmp`);
  const texts = { config: configText(), HEAD: `ref: refs/heads/${branch}\n` };
  try {
    for (const folder of folders) disk.makeDirectories(join(temporary, folder));
    for (const [name, text] of Object.entries(texts)) {
      await disk.create(join(temporary, name), [Buffer.from(text)]);
    }
    await disk.settle(folders.map((folder) => join(temporary, folder)));
    disk.files.rename(temporary, gitDir);
  } catch (error) {
    for (const name of Object.keys(texts)) disk.discard(join(temporary, name));
    for (const folder of [...folders].reverse()) removeIfEmpty(disk, join(temporary, folder));
    throw error;
  }
  await disk.settle([root, ...above]);
}
