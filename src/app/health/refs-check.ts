import type { Files } from '../../git/disk/file-layer.ts';
import { Refs } from '../../git/refs/refs.ts';
import type { StrayRef } from '../../git/refs/stray-refs.ts';
import type { WorkTree } from '../../git/repository/discover.ts';
import type { Finding } from './finding.ts';

/** Limit of the stray files that are named. */
const maxStrays = 10;

/** Names the files that are not refs; the memory is read and written next to them, as git does. */
export function checkRefs(files: Files, { gitDir, commonDir }: WorkTree): Finding[] {
  const strays = new Refs(files, gitDir, commonDir).store.strays();
  const found = strays.slice(0, maxStrays).map((stray): Finding => {
    return { what: 'Refs', state: 'note', text: describeStray(stray) };
  });
  const rest = strays.length - found.length;
  if (rest <= 0) return found;
  return [
    ...found,
    { what: 'Refs', state: 'note', text: `${rest} more files or lines like these` },
  ];
}

function describeStray({ path, line, ref, log, isHarmless }: StrayRef): string {
  const stops = isHarmless
    ? 'Git ignores it.'
    : 'Git ignores it or, as "git gc" does, stops at it.';
  if (line !== undefined) {
    return `Line ${line} of ${path} is not a ref. Git stops at it: delete the line.`;
  }
  if (ref === undefined) return `${path} is not a ref. ${stops} Delete it.`;
  const again =
    log === undefined
      ? ''
      : ` "git update-ref ${ref} <commit>" then sets the ref again; its last commits are in ${log}.`;
  return `${path} has the name of a ref, but no commit id. ${stops} Delete it.${again}`;
}
