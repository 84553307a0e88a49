import { randomBytes } from 'node:crypto';
import { mkdir, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { personalPath } from '../../../app/project/project-file.ts';
import { unifiedDiff } from '../../../core/diff/unified-diff.ts';
import { MemoryError } from '../../../core/values/error.ts';
import type { Surroundings } from '../program/surroundings.ts';

/** A change of a file; its text is undefined where the file does not exist. */
export interface FileEdit {
  /** Absolute, links resolved: what is shown is what is written. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Whether a new file is a program. */
  readonly isProgram?: boolean;
}

/** The change of a file as a unified diff. */
export function diffOf({ path, before, after }: FileEdit): string {
  const old = before === undefined ? '/dev/null' : path;
  const now = after === undefined ? '/dev/null' : path;
  return `--- ${old}\n+++ ${now}\n${unifiedDiff(before ?? '', after ?? '')}`;
}

/** Writes the change at once: the file is never seen half-written. */
export async function applyEdit(
  { path, after, isProgram = false }: FileEdit,
  { root, home }: Pick<Surroundings, 'root' | 'home'>,
): Promise<void> {
  // A link that was put there after the plan was shown leads elsewhere.
  if (personalPath(path) !== path) {
    throw new MemoryError('storage', `${path} has become a symbolic link.`, {
      hint: 'Run the command again.',
    });
  }
  try {
    if (after === undefined) {
      await rm(path);
      // Remove the folders that only contained this file.
      const ends = await Promise.all([root, home].map((end) => realpath(end).catch(() => end)));
      let folder = dirname(path);
      while (!ends.includes(folder) && (await isRemoved(folder))) folder = dirname(folder);
      return;
    }
    await mkdir(dirname(path), { recursive: true });
    const mode = await stat(path).then(
      (found) => found.mode & 0o777,
      () => (isProgram ? 0o755 : 0o644),
    );
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    await writeFile(temporary, after, { mode });
    await rename(temporary, path);
  } catch (cause) {
    throw new MemoryError('storage', `${path} cannot be written.`, { cause });
  }
}

/** Removes a folder if it is empty; returns whether it did. */
function isRemoved(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    () => false,
  );
}
