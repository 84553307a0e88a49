import { counted } from '../../core/answers/painter.ts';
import type { PinnedMemory } from '../../core/memory/pinned-memories.ts';

/** Describes a pinned memory for programs. */
export function memoryJson({ name, url, path, ref, commit, records, problem }: PinnedMemory) {
  return {
    name,
    ...(url !== undefined && { url }),
    ...(path !== undefined && { path }),
    ref: ref ?? null,
    commit,
    records: records ?? null,
    ...(problem !== undefined && { problem }),
  };
}

/** Describes a pinned memory in one line. */
export function memoryLine({
  name,
  url,
  path,
  ref,
  commit,
  records,
  problem,
}: PinnedMemory): string {
  const source = `${url ?? path ?? ''}${ref === undefined ? '' : ` (${ref})`}`;
  const state = problem ?? counted(records ?? 0, 'record');
  return `${name}  ${source} at ${commit.slice(0, 12)}: ${state}`;
}
