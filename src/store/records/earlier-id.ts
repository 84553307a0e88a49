import { MemoryError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import type { Folder } from '../../git/disk/folder.ts';
import { decodeText, maxFileBytes } from './record-file.ts';

/** Where an earlier program keeps the id of a project, relative to it. */
export const earlierIdPath = '.infinity/project_id';
const memoriesFile = '.infinity/memories.json';

/**
 * The id that an earlier program has left in `.infinity/project_id` (seed 002); undefined where it has
 * not been.
 *
 * @throws MemoryError `damaged` for a file that holds no UUID, or another one than the memories beside it.
 */
export function earlierId(root: Folder): string | undefined {
  const bytes = root.read(earlierIdPath, 4096);
  if (!bytes) return undefined;
  const id = decodeText(bytes).trim();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new MemoryError('damaged', `${earlierIdPath} holds no UUID.`, {
      hint: 'Mend or remove that file; it was left as it is.',
      data: { path: earlierIdPath },
    });
  }
  checkSame(id, earlierIdPath, idOfMemories(root), memoriesFile);
  return id;
}

/**
 * Refuses two files that take the project for two different ones (2.13).
 *
 * @throws MemoryError `damaged`.
 */
export function checkSame(
  id: string | undefined,
  path: string,
  other: string | undefined,
  otherPath: string,
): void {
  if (!id || !other || id.toLowerCase() === other.toLowerCase()) return;
  throw new MemoryError('damaged', `${path} says project ${id}, and ${otherPath} ${other}.`, {
    hint: 'Mend or remove the one that is wrong; both were left as they are.',
    data: { path },
  });
}

function idOfMemories(root: Folder): string | undefined {
  try {
    const data: unknown = JSON.parse(root.read(memoriesFile, maxFileBytes)?.toString() ?? '{}');
    return isObject(data) && typeof data.project_id === 'string' ? data.project_id : undefined;
  } catch {
    // What is wrong with the memories themselves is for their import to tell.
    return undefined;
  }
}
