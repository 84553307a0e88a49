import { hasConflictMarkers } from '../yaml/yaml.ts';

/**
 * The line where the first conflict begins that a merge left in a text, from 1 on.
 *
 * Markers in a fenced block of code do not count: a text can be about conflicts.
 */
export function conflictLine(text: string): number | undefined {
  if (!hasConflictMarkers(text)) return undefined;
  let fence: string | undefined;
  let begin: number | undefined;
  let isDivided = false;
  for (const [index, line] of text.split('\n').entries()) {
    const [, mark, info = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && info.trim() === '') fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (line.startsWith('<<<<<<< ')) [begin, isDivided] = [index + 1, false];
    else if (begin !== undefined && line.startsWith('=======')) isDivided = true;
    else if (isDivided && line.startsWith('>>>>>>> ')) return begin;
  }
  return undefined;
}
