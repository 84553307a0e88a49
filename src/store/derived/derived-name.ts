import { checksum } from '../../core/values/checksum.ts';
import { oidPattern } from '../../git/objects/object-format.ts';

const kinds = ['records', 'brief', 'recent', 'words', 'vectors', 'checked', 'common'] as const;

/** The beginnings of the names of files that are derived from a memory. */
export type DerivedKind = (typeof kinds)[number];

const treePrefix = 'tree-';
const names = new RegExp(
  String.raw`^(?:${kinds.join('|')})-(${treePrefix}${oidPattern}|[0-9a-f]{12,13})\.index(\.\w+\.tmp)?$`,
);

/**
 * Names the state of the memory in a work tree, whose derived files are replaced when it changes.
 *
 * @param path of the memory folder, with all links resolved.
 */
export function workTreeState(path: string): string {
  return checksum(path).slice(0, 12);
}

/** Names the state of the memory in a tree of git, whose derived files are never outdated. */
export function treeState(tree: string): string {
  return treePrefix + tree;
}

/** Whether a name is that of the state of a tree of git. */
export function isTreeState(state: string): boolean {
  return state.startsWith(treePrefix);
}

/** Returns the name of a derived file of a state. */
export function derivedName(kind: DerivedKind, state: string): string {
  return `${kind}-${state}.index`;
}

/**
 * Reads the name of a derived file, or of a temporary one that will replace it.
 *
 * @returns undefined for any other file.
 */
export function parseDerivedName(
  name: string,
): { readonly state: string; readonly isTemporary: boolean } | undefined {
  const [, state, temporary] = names.exec(name) ?? [];
  return state === undefined ? undefined : { state, isTemporary: temporary !== undefined };
}

/**
 * Identifies everything that the content of a derived file depends on except for the memory.
 *
 * @param content the version of its format, and the settings that it depends on.
 */
export function derivedMark(content: unknown): string {
  const build = /[\\/]builds[\\/]([^\\/]+)/.exec(import.meta.dirname)?.[1] ?? '';
  return JSON.stringify([build, process.versions.unicode, content]);
}
