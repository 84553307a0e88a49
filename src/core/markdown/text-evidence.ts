import {
  formatInline,
  formatPlace,
  type GivenEvidence,
  inlineEvidence,
  replaceInline,
} from '../evidence/annotations.ts';
import { findReferences, formatReference, parseReference } from '../evidence/reference.ts';
import { parseBlocks } from './blocks.ts';
import { trimmedEnd } from './line.ts';
import { appendSection, insertInSection, outline } from './sections.ts';
import { listText } from './text.ts';

/** The heading below which a decision lists the code that it rests on. */
const evidenceHeading = 'Evidence';
/** Code between single backticks, with the comment that makes it given evidence. */
const code = /(?<!`)`([^`\n]{1,420})`(?!`)( ?<!-- ?[1-9]\d{0,6}-[0-9a-f]{16} ?-->)?/g;
/** The item of a list that consists of given evidence. */
const evidenceItem =
  /^[ \t]*[-*+][ \t]+`([^`\n]{1,420})` ?<!-- ?[1-9]\d{0,6}-[0-9a-f]{16} ?-->[ \t]*(?:\r?\n|$)/gm;

/**
 * Replaces the list of evidence of a section of a markdown text.
 *
 * Evidence that a sentence mentions stays: the section still says something about that code.
 */
export function withTextEvidence(section: string, evidence: readonly GivenEvidence[]): string {
  const wanted = new Map(evidence.map((one) => [formatPlace(one), one]));
  const known = new Set(inlineEvidence(section).map(formatPlace));
  const added = [...wanted].flatMap(([place, one]) => (known.has(place) ? [] : [one]));
  const renewed = replaceInline(section, (one) => wanted.get(formatPlace(one)));
  // The new items come first: a list without items would leave its blank lines behind.
  const text = withItems(renewed, added).replace(evidenceItem, (line, place: string) =>
    wanted.has(place) ? line : '',
  );
  return withGapOf(section, withoutEmptyList(text));
}

/** The evidence that a section has outside of its list. */
export function evidenceInSentences(section: string): readonly GivenEvidence[] {
  return inlineEvidence(section.replace(evidenceItem, ''));
}

/**
 * Makes places that a section of a markdown text only mentions its evidence.
 *
 * The fingerprint of the code follows the mention between backticks. A place that is mentioned in another
 * form, or in a block of code, is listed as evidence at the end of the section.
 */
export function withCitedMentions(section: string, mentions: readonly GivenEvidence[]): string {
  const known = new Set(inlineEvidence(section).map(formatPlace));
  let text = section;
  const others: GivenEvidence[] = [];
  for (const one of mentions) {
    if (known.has(formatPlace(one))) continue;
    const cited = citedOnce(text, one);
    if (cited === undefined) others.push(one);
    else text = cited;
  }
  return withItems(text, others);
}

/** The places that a text mentions or has as evidence. */
export function placesIn(text: string): ReadonlySet<string> {
  return new Set(findReferences(text).map(formatReference));
}

function citedOnce(text: string, evidence: GivenEvidence): string | undefined {
  const place = formatPlace(evidence);
  const verbatim = parseBlocks(text).filter(({ kind }) => /^(?:code|fence|html)$/.test(kind));
  for (const { index, 0: match, 1: inner = '' } of text.matchAll(code)) {
    const reference = parseReference(inner);
    if (!reference || formatReference(reference) !== place) continue;
    if (verbatim.some(({ start, end }) => start <= index && index < end)) continue;
    return text.slice(0, index) + formatInline(evidence) + text.slice(index + match.length);
  }
  return undefined;
}

/** Adds evidence to the list of a section, which is created at its end. */
function withItems(section: string, evidence: readonly GivenEvidence[]): string {
  if (evidence.length === 0) return section;
  const items = listText(evidence.map(formatInline));
  const sections = outline(section);
  const top = sections[0]?.level ?? 1;
  if (sections.some(({ heading, level }) => level > top && heading === evidenceHeading)) {
    return insertInSection(section, evidenceHeading, items);
  }
  const end = trimmedEnd(section, section.length);
  const heading = `${'#'.repeat(Math.min(top + 1, 6))} ${evidenceHeading}`;
  return withGapOf(section, appendSection(section.slice(0, end), `${heading}\n\n${items}`));
}

/** Ends a text with the blank lines of a section. */
function withGapOf(section: string, text: string): string {
  const gap = section.slice(trimmedEnd(section, section.length));
  return text.slice(0, trimmedEnd(text, text.length)) + gap;
}

/** Removes the heading of a list of evidence without items. */
function withoutEmptyList(section: string): string {
  const sections = outline(section);
  const top = sections[0]?.level ?? 1;
  const empty = sections.find(
    ({ heading, level, bodyStart, end }) =>
      level > top && heading === evidenceHeading && section.slice(bodyStart, end).trim() === '',
  );
  if (!empty) return section;
  return section.slice(0, empty.start) + section.slice(empty.end);
}
