import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import { Disk, type Durability } from '../../git/disk/disk.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { maxConfigSize } from '../../git/repository/config.ts';
import {
  type ConfigSection,
  editConfig,
  replaceSection,
} from '../../git/repository/config-edit.ts';
import { findWorkTree } from '../../git/repository/discover.ts';
import { readRegular } from '../../git/repository/enclosure.ts';

/** The change made to the configuration of a repository. */
export interface DriverChange {
  /** Absolute path of the top of the work tree. */
  readonly top: string;
  /** False if the configuration was already as wanted. */
  readonly changed: boolean;
}

/** The edit that `setMergeDriver` makes in a file. */
export interface DriverEdit {
  /** Absolute path of the configuration. */
  readonly path: string;
  /** Undefined if there is no repository yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/** Plans the edit of `setMergeDriver`, also without a repository; undefined if none is needed. */
export function planMergeDriver(
  root: string,
  command: readonly string[] | undefined,
): DriverEdit | undefined {
  const files = new NodeFiles();
  const folder = findWorkTree(files, root)?.commonDir ?? join(root, '.git');
  const path = join(folder, 'config');
  const before = readRegular(path, maxConfigSize, files)?.toString('utf8');
  const after = replaceSection(before ?? '', driverSection(command));
  return after === (before ?? '') ? undefined : { path, before, after };
}

/**
 * Installs or removes this program as the merge driver of a repository.
 *
 * The setting is `merge.memory-bank` in the repository's own configuration, which all its work trees
 * share.
 *
 * @param command the program and its first arguments; undefined removes the setting.
 * @throws MemoryError `unsupported` if there is no repository, `busy`, `storage`.
 */
export async function setMergeDriver(
  root: string,
  command: readonly string[] | undefined,
  durability: Durability,
): Promise<DriverChange> {
  const disk = new Disk(new NodeFiles(), durability);
  const tree = findWorkTree(disk.files, root);
  if (!tree) {
    throw new MemoryError('unsupported', `${root} is not in a git repository.`, {
      hint: 'Run "git init" there, or name another folder with --root.',
    });
  }
  const config = join(tree.commonDir, 'config');
  return { top: tree.top, changed: await editConfig(disk, config, driverSection(command)) };
}

function driverSection(command: readonly string[] | undefined): ConfigSection {
  const section = { name: 'merge', subsection: 'memory-bank' };
  if (!command) return { ...section, settings: {} };
  const name = 'field by field merge of memory-bank records';
  return { ...section, settings: { name, driver: driverLine(command) } };
}

/**
 * The shell command that git runs for each file that both sides changed.
 *
 * If the program is missing or fails, the file has our version and no markers, so the conflict would
 * hide theirs. The command then falls back to git's own merge.
 */
export function driverLine(command: readonly string[]): string {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`.replaceAll('%', '%%'));
  const fallback = 'git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B';
  return `${words.join(' ')} merge-driver %O %A %B %L %P || { ! grep -q '^<<<<<<<' %A && ${fallback} || exit 1; }`;
}
