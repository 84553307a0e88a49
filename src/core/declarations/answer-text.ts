import { plainOutline } from '../markdown/plain-outline.ts';
import { contentStart } from '../markdown/sections.ts';
import { DecisionParts } from './decision-parts.ts';
import type { RolePart } from './labelled-parts.ts';

/** The decision that a markdown text begins with; undefined for a text that states none as such. */
export function decisionIn(text: string): string | undefined {
  const start = contentStart(text);
  for (const { parts } of new DecisionParts(text, start, plainOutline(text, start))) {
    const stated = parts.filter(({ kind, role }) => role === 'answer' && kind?.role === 'answer');
    if (stated.length > 0) return joined(text, stated);
  }
  return undefined;
}

/** The answer that a markdown text begins with: its decision, or its text without the other parts. */
export function answerIn(text: string): string {
  const decision = decisionIn(text);
  if (decision !== undefined) return decision;
  const start = contentStart(text);
  for (const { parts } of new DecisionParts(text, start, plainOutline(text, start))) {
    const answer = joined(
      text,
      parts.filter(({ role }) => role === 'answer'),
    );
    if (answer !== '') return answer;
  }
  return '';
}

function joined(text: string, parts: readonly RolePart[]): string {
  return parts
    .map(({ start, end }) => text.slice(start, end).trim())
    .join('\n\n')
    .trim();
}
