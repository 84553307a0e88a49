import type { Painter } from '../../core/answers/painter.ts';
import { matchPattern } from '../../core/values/match-pattern.ts';

/** Joins the words of a match until the lines are made, so that no line break divides it. */
const joint = '\u00a0';

/** Wraps a passage into lines of at most `width` characters, with the parts that matched in colour. */
export function matchLines(
  painter: Painter,
  text: string,
  matches: readonly string[],
  width: number,
): string[] {
  const lines: string[] = [];
  const plain = painter.plain(text.replace(/\s+/g, ' ').trim());
  const found = matchPattern(matches.map((match) => painter.plain(match.replace(/\s+/g, ' '))));
  const joined = found ? plain.replace(found, (match) => match.replaceAll(' ', joint)) : plain;
  let line = '';
  for (const word of joined.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
    // A text without spaces is wrapped anywhere but inside a character.
    while (line.length > width) {
      const part = line.slice(0, width).replace(/[\ud800-\udbff]$/, '');
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  if (line !== '') lines.push(line);
  return lines.map((one) => highlighted(painter, one.replaceAll(joint, ' '), found));
}

function highlighted(painter: Painter, line: string, found: RegExp | undefined): string {
  if (!found) return line;
  return line
    .split(found)
    .map((part, i) => (i % 2 === 1 ? painter.paint('match', part) : part))
    .join('');
}
