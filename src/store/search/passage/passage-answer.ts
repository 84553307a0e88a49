import { type Area, isSuperseded } from '../text/passage-area.ts';
import type { Range } from './passage-range.ts';

/** Headings of a section that states a question, and of the one that answers it. */
const asks = /^(?:\d+[.)]?\s*)?(?:context|problem|question|issue)\b/i;
const answers = /^(?:\d+[.)]?\s*)?(?:decision(?!\s+(?:drivers?|log))|outcome|resolution|answer)\b/i;

/** Labels of a line of a decision that states the question, and of the one that answers it. */
const label = (names: string) =>
  new RegExp(`^[ \\t]*(?:[-*+][ \\t]+)?(\\*\\*|__)(?:${names})[ \\t]*:?\\1[ \\t]*:?`, 'gim');
const asking = label('context|problem|question|issue|date|author|status');
const answering = label('decision|outcome|resolution|answer');

/** Headings of a section that weighs possible answers. */
const weighs =
  /^(?:\d+[.)]?\s*)?(?:considered\b|options?\b|alternatives\b|pros\b|decision drivers\b)/i;

/** Returns the area that answers the question which an area belongs to, and whether it only weighs. */
export function answerTo(
  text: string,
  asked: Area,
  areas: readonly Area[],
): { readonly area: Area; readonly weighs: boolean } | undefined {
  for (let at = asked.unit; at; at = at.parent) {
    const isQuestion = at === asked.unit && asks.test(at.heading.trim());
    if (!isQuestion && !weighs.test(at.heading.trim())) continue;
    const area = areas.find(
      ({ section, unit }) =>
        section !== undefined &&
        unit === section &&
        section.parent === at.parent &&
        isAnswer({ section }) &&
        !isSuperseded(text, section),
    );
    return area && { area, weighs: !isQuestion };
  }
  return undefined;
}

/** Returns whether an area is below a heading such as `Decision` or `Outcome`. */
export function isAnswer({ section }: Pick<Area, 'section'>): boolean {
  return section !== undefined && answers.test(section.heading.trim());
}

/** Returns the line that states the decision, for a range in it or in the line that asks for it. */
export function answerLine(text: string, range: Range, area: Range): Range | undefined {
  const above = (expression: RegExp, from: number, to: number) => {
    const found = [...text.slice(from, to).matchAll(expression)].at(-1);
    return found && from + found.index;
  };
  const upTo = lineEnd(text, range.start);
  const last = above(anyLabel, area.start, upTo);
  if (last === undefined) return undefined;
  // The next one: a list may state several decisions.
  const [next] = text.slice(last, area.end).matchAll(answering);
  if (!next) return undefined;
  const answer = last + next.index;
  // Below any other label, the range does not state the question.
  const isQuestion = above(asking, area.start, upTo) === last;
  return isQuestion || answer === last ? { start: answer, end: answer } : undefined;
}

const anyLabel = label('[^*_\\n]{1,60}');

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}
