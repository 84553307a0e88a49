import { join } from 'node:path';
import { MemoryError } from '../../core/values/error.ts';
import type { Files } from '../disk/file-layer.ts';
import { maxConfigSize } from './config.ts';
import type { ConfigSection } from './config-edit.ts';
import { parseConfig } from './config-text.ts';

/**
 * Where the memory of a project is, if it is not on the branches of the project: on a branch of its own in
 * the same repository, or in another repository.
 *
 * `memory/*` means one branch for each branch of the project.
 */
export type MemoryPlace =
  | { readonly kind: 'own-branch'; readonly branch: string }
  | { readonly kind: 'repository'; readonly folder: string };

/** The section of `.git/config` that has the placement; without it, the memory is on the branches. */
const section = { name: 'memory-bank', subsection: 'placement' };

/** The end of a placement with one branch for each branch of the project. */
export const eachBranch = '/*';

/**
 * Reads the placement from the configuration of a repository, which all its work trees share.
 *
 * @returns undefined if the memory is on the branches of the project.
 * @throws MemoryError `damaged` for settings that contradict each other.
 */
export function readPlace(files: Files, commonDir: string): MemoryPlace | undefined {
  const text = files.read(join(commonDir, 'config'), maxConfigSize)?.toString('utf8') ?? '';
  const prefix = `${section.name}.${section.subsection}.`;
  if (!text.includes(section.subsection)) return undefined;
  const settings = new Map(
    parseConfig(text).flatMap(({ key, value }) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
    ),
  );
  if (settings.size === 0) return undefined;
  const [branch, folder] = [settings.get('branch'), settings.get('folder')];
  if (folder !== undefined && branch === undefined) return { kind: 'repository', folder };
  if (branch !== undefined && folder === undefined) return { kind: 'own-branch', branch };
  throw new MemoryError('damaged', `[memory-bank "placement"] in ${commonDir}/config is damaged.`, {
    hint: 'It needs either "branch" or "folder". Correct it with "git config --edit".',
    data: { path: join(commonDir, 'config') },
  });
}

/** The section that stores a place; undefined puts the memory on the branches of the project. */
export function placeSection(place: MemoryPlace | undefined): ConfigSection {
  if (!place) return { ...section, settings: {} };
  const { kind } = place;
  const settings: ConfigSection['settings'] =
    kind === 'own-branch' ? { branch: place.branch } : { folder: place.folder };
  return { ...section, settings };
}

/** The branch of the memory for a branch of the project, by their short names. */
export function memoryBranch(pattern: string, branch: string): string {
  return pattern.endsWith(eachBranch) ? pattern.slice(0, -1) + branch : pattern;
}

/** Says where a memory is, after "the memory is". */
export function placeInWords(placement: MemoryPlace | undefined): string {
  if (!placement) return 'on the branches of the project';
  if (placement.kind === 'repository') return `in the repository ${placement.folder}`;
  const { branch } = placement;
  return branch.endsWith(eachBranch)
    ? `on branches of its own, ${branch}, one for each branch of the project`
    : `on a branch of its own, ${branch}`;
}
