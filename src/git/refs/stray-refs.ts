import { join } from 'node:path';
import { type Files, lookThrough } from '../disk/file-layer.ts';
import { isOid, oidPattern } from '../objects/object-format.ts';
import { filesBelow, isRefName, targetOf } from './loose-refs.ts';

/** A file among the refs, or a line of `packed-refs`, that is not a ref. */
export interface StrayRef {
  readonly path: string;
  /** The number of the line in `packed-refs`. */
  readonly line?: number;
  /** The ref that a file without a commit id has the name of. */
  readonly ref?: string;
  /** The reflog of that ref, if there is one. */
  readonly log?: string;
  /** Whether git ignores it always: other strays stop "git gc" and some more commands. */
  readonly isHarmless: boolean;
}

const packedLine = new RegExp(String.raw`^(?:#.*|\^${oidPattern}|${oidPattern} (?<ref>\S.*)|)$`);

/**
 * Lists what is among the refs of a repository and is not a ref, such as the files of a file manager.
 *
 * @param read see `RefStore.value`.
 */
export function strayRefs(
  files: Files,
  commonDir: string,
  read: (ref: string) => string | undefined,
): StrayRef[] {
  const loose = filesBelow(files, commonDir, 'refs').flatMap((ref): StrayRef[] => {
    const path = join(commonDir, ref);
    if (/\/\./.test(ref)) return [{ path, isHarmless: true }];
    // A lock is not a ref either, and other checks report it.
    if (ref.endsWith('.lock')) return [];
    if (!isRefName(ref)) return [{ path, isHarmless: false }];
    const value = read(ref) ?? '';
    if (isOid(value) || targetOf(value) !== undefined) return [];
    const log = join(commonDir, 'logs', ref);
    const hasLog = (lookThrough(files, log)?.size ?? 0) > 0;
    return [{ path, ref, isHarmless: false, ...(hasLog && { log }) }];
  });
  const path = join(commonDir, 'packed-refs');
  const lines = files.read(path)?.toString('utf8').split('\n') ?? [];
  const packed = lines.flatMap((text, i): StrayRef[] => {
    const line = packedLine.exec(text);
    const ref = line?.groups?.ref;
    const isRef = line !== null && (ref === undefined || isRefName(ref));
    return isRef ? [] : [{ path, line: i + 1, isHarmless: false }];
  });
  return [...loose, ...packed];
}
