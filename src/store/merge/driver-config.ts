import { join } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import { Disk, type Durability } from '../../git/disk/disk.ts';
import { NodeFiles } from '../../git/disk/file-layer.ts';
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
  /** False when it was so already. */
  readonly changed: boolean;
}

/** A change of `setMergeDriver` to one file. */
export interface DriverEdit {
  /** Absolute path of the configuration. */
  readonly path: string;
  /** Undefined where there is no repository yet. */
  readonly before: string | undefined;
  readonly after: string;
}

/** The change that `setMergeDriver` would make, now or once there is a repository; undefined for none. */
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
 * Has native git merge the memory of a repository by this program, or no longer: `merge.memory-bank`
 * in the repository's own configuration, which all its work trees share.
 *
 * @param command the program and its first arguments; undefined removes the setting.
 * @throws MemoryError `unsupported` where there is no repository, `busy`, `storage`.
 */
export async function setMergeDriver(
  root: string,
  command: readonly string[] | undefined,
  durability: Durability,
): Promise<DriverChange> {
  const disk = new Disk(new NodeFiles(), durability);
  const tree = findWorkTree(disk.files, root);
  if (!tree) {
    throw new MemoryError('unsupported', `${root} is in no git repository.`, {
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
 * The line of shell that git runs for each file that both sides changed.
 *
 * A program that is gone, or fails, leaves ours in the file and no markers; git would take that for a
 * conflict in which theirs is nowhere to be seen. Git's own merge then does the work.
 */
function driverLine(command: readonly string[]): string {
  const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`.replaceAll('%', '%%'));
  const own = 'git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B';
  return `${words.join(' ')} merge-driver %O %A %B %L %P || { ! grep -q '^<<<<<<<' %A && ${own} || exit 1; }`;
}
