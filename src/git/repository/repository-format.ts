import { delimiter, join, resolve } from 'node:path';
import type { Disk } from '../disk/disk.ts';
import type { Files } from '../disk/file-layer.ts';
import { type ObjectFormat, objectFormats, sha1 } from '../objects/object-format.ts';
import { ObjectDatabase } from '../objects/odb.ts';
import { maxConfigSize } from './config.ts';
import { isTrue, parseConfig } from './config-text.ts';

/** Whether a git directory has no work tree but linked ones. */
export function isBare(files: Files, commonDir: string): boolean {
  const shared = settingsIn(files, join(commonDir, 'config'));
  const hasOwn = isTrue(shared.get('extensions.worktreeconfig') ?? '');
  const own = hasOwn ? settingsIn(files, join(commonDir, 'config.worktree')) : undefined;
  return isTrue(own?.get('core.bare') ?? shared.get('core.bare') ?? '');
}

/** The format of the objects of a repository; that of git's default where there is none yet, or an unknown one. */
export function objectFormatIn(files: Files, commonDir: string): ObjectFormat {
  const name = settingsIn(files, join(commonDir, 'config')).get('extensions.objectformat');
  return objectFormats.get(name?.toLowerCase() ?? '') ?? sha1;
}

/** How a repository keeps its refs, by the setting `extensions.refStorage`. */
export function refStorageIn(files: Files, commonDir: string): string {
  const name = settingsIn(files, join(commonDir, 'config')).get('extensions.refstorage');
  return name?.toLowerCase() ?? 'files';
}

/** Opens the objects of a repository, which need not exist yet. */
export function openObjects(
  disk: Disk,
  commonDir: string,
  env: NodeJS.ProcessEnv = process.env,
): ObjectDatabase {
  const format = () => objectFormatIn(disk.files, commonDir);
  return new ObjectDatabase(disk, commonDir, format, alternatesIn(env));
}

/** The folders of objects that the environment names next to those of the repository. */
function alternatesIn({ GIT_ALTERNATE_OBJECT_DIRECTORIES: list = '' }: NodeJS.ProcessEnv) {
  const paths = list.split(delimiter).map((path) => path.replace(/^"(.*)"$/s, '$1'));
  return paths.filter((path) => path !== '').map((path) => resolve(path));
}

/** The settings of one file, without its includes. */
function settingsIn(files: Files, path: string): ReadonlyMap<string, string> {
  const text = files.read(path, maxConfigSize)?.toString('utf8') ?? '';
  return new Map(parseConfig(text).map(({ key, value }) => [key, value]));
}
