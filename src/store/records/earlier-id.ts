import { MemoryError } from '../../core/values/error.ts';
import { isObject, readJsonText } from '../../core/values/json.ts';
import type { Folder } from '../../git/disk/folder.ts';
import { decodeText, maxFileBytes } from './record-file.ts';

/** The file in which an earlier program keeps the id of a project, relative to the root. */
export const earlierIdPath = '.infinity/project_id';
const memoriesFile = '.infinity/memories.json';

/**
 * Reads the project id that an earlier program left in `.infinity/project_id` (seed 002), if any.
 *
 * @throws MemoryError `damaged` if the file is not a UUID, or differs from the id in `memories.json`.
 */
export function earlierId(root: Folder): string | undefined {
  const bytes = root.read(earlierIdPath, 4096);
  if (!bytes) return undefined;
  const id = decodeText(bytes).trim();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new MemoryError('damaged', `${earlierIdPath} does not contain a UUID.`, {
      hint: 'Fix or remove that file; it was not changed.',
      data: { path: earlierIdPath },
    });
  }
  checkSame(id, earlierIdPath, idOfMemories(root), memoriesFile);
  return id;
}

/**
 * Refuses two files that give the project different ids: one of them is from another project.
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
  throw new MemoryError('damaged', `${path} says project ${id}, but ${otherPath} says ${other}.`, {
    hint: 'Fix or remove the wrong one; neither was changed.',
    data: { path },
  });
}

function idOfMemories(root: Folder): string | undefined {
  try {
    const data = readJsonText(root.read(memoriesFile, maxFileBytes)?.toString() ?? '{}');
    return isObject(data) && typeof data.project_id === 'string' ? data.project_id : undefined;
  } catch {
    // The import of the memories reports what is wrong with them.
    return undefined;
  }
}
