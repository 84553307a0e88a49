import { formatPlace } from '../../core/evidence/annotations.ts';
import type { Lines } from '../../core/evidence/reference.ts';
import type { CodePlace } from '../../core/evidence/verdict.ts';
import { lineNumber } from '../../core/markdown/line.ts';
import type { Judged } from './judged-places.ts';

/** The line of a record that names a place, from 1 on; undefined for a place that is as it was. */
export function lineNaming(text: string, { reference, judgement }: Judged): number | undefined {
  if (judgement.verdict === 'fresh') return undefined;
  return lineOf(text, formatPlace(reference)) ?? lineOf(text, reference.path);
}

/** The first line of a text that has a name, and not only as the beginning of another one. */
export function lineOf(text: string, name: string): number | undefined {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const next = text.charAt(at + name.length);
    if (!/[\w-]/.test(next)) return lineNumber(text, at);
  }
  return undefined;
}

/** The lines of a file that no longer have their text, as they are now. */
export function changedPlace(
  { reference, judgement }: Judged,
  diff: string | undefined,
): CodePlace | undefined {
  const { lost } = judgement;
  return lost && { path: lost.path, lines: changedLines(diff) ?? reference.lines };
}

/** The lines of the new text that the first part of a unified difference changes. */
function changedLines(diff = ''): Lines | undefined {
  const [, start, body = ''] = /^@@ -\S+ \+(\d+),\d+ @@\n(.*?)(?:\n@@|$)/s.exec(diff) ?? [];
  if (start === undefined) return undefined;
  let line = Number(start);
  const changed: number[] = [];
  for (const mark of body.split('\n').map((text) => text.charAt(0))) {
    // A removed line has no place in the new text: the line after it does.
    if (mark === '+' || mark === '-') changed.push(line);
    if (mark === '+' || mark === ' ') line += 1;
  }
  const [first, last] = [changed.at(0), changed.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const within = (one: number) => Math.max(1, Math.min(one, line - 1));
  return { first: within(first), last: within(last) };
}
