import { saysNothing } from '../../../core/markdown/empty-sections.ts';
import type { NamedSection } from '../../../core/markdown/section-path.ts';
import type { SearchFields, TextField } from '../../../core/record/record-type.ts';

/** A part of a text that a passage does not leave: the whole text, or what is under one heading. */
export interface Area {
  readonly start: number;
  readonly end: number;
  /** The heading above it; undefined for the text before the first heading. */
  readonly section?: NamedSection;
  /** The section that a hit names: this one, or a short one that contains it. */
  readonly unit?: NamedSection;
}

/** Where the content of a markdown text begins, and its sections. */
export interface TextOutline {
  readonly start: number;
  readonly sections: readonly NamedSection[];
}

/** Returns the outline of the body of a document, which is markdown. */
export type OutlineOf = (fields: SearchFields) => TextOutline;

/** A longer text is one area: its headings are not worth the time to find them. */
export const longestText = 256 * 1024;
/** A section of at most this length answers as a whole, with its sub-sections. */
const longestUnit = 1500;

const known = new WeakMap<SearchFields, readonly Area[]>();

/** Returns the areas of a field that have text of their own, in order. */
export function areasOf(
  fields: SearchFields,
  field: TextField,
  outlineOf: OutlineOf,
): readonly Area[] {
  const text = fields[field] ?? '';
  if (field !== 'body' || !fields.markdown) return [{ start: 0, end: text.length }];
  const areas = known.get(fields) ?? divide(text, outlineOf(fields));
  known.set(fields, areas);
  return areas;
}

function divide(text: string, { start, sections }: TextOutline): readonly Area[] {
  if (text.length > longestText) return [{ start, end: text.length }];
  const tops = sections.filter(({ parent }) => !parent);
  const [title] = tops.length === 1 ? tops : [];
  const areas: Area[] = [{ start, end: sections[0]?.start ?? text.length }];
  for (const section of sections) {
    let unit = section;
    for (let up = section.parent; up && up !== title; up = up.parent) {
      if (up.end - up.start <= longestUnit) unit = up;
    }
    areas.push({ start: section.bodyStart, end: section.bodyEnd, section, unit });
  }
  return areas.filter((area) => hasText(text, area));
}

/** Returns whether an area says anything; placeholders of a template do not. */
function hasText(text: string, { start, end, section, unit }: Area): boolean {
  const body = text.slice(start, end);
  // As a part of a longer unit, its heading still leads to that one.
  if (section && section === unit && saysNothing(body)) return false;
  return /[^\s\-*+]/.test(body) && !/^(?:[\s\-*+]|\[[^[\]]{2,}\](?![(:]))*$/.test(body);
}

/** A line by which a section says that it is no longer true. */
const superseded =
  /^[\s>*_+-]*(?:\*\*|__)?(?:status\W{0,6}\s*)?(?:superseded|replaced by|obsolete|deprecated)\b|[([]superseded\b/imu;

/** Returns whether a text says that another one replaces it. */
export function isSupersededText(text: string): boolean {
  return superseded.test(text);
}

const knownSuperseded = new WeakMap<NamedSection, boolean>();

/** Returns whether a section says that another one replaces it. */
export function isSuperseded(text: string, section: NamedSection): boolean {
  let found = knownSuperseded.get(section);
  if (found === undefined) {
    found = isSupersededText(text.slice(section.start, section.end));
    knownSuperseded.set(section, found);
  }
  return found;
}

const knownLines = new WeakMap<NamedSection, readonly [number, number]>();

/** Returns the first and last line of a section, from 1, without blank lines at its end. */
export function linesOf(text: string, section: NamedSection): readonly [number, number] {
  const known = knownLines.get(section);
  if (known) return known;
  const first = lineBreaks(text.slice(0, section.start)) + 1;
  const last = first + lineBreaks(text.slice(section.start, section.end).trimEnd());
  knownLines.set(section, [first, last]);
  return [first, last];
}

function lineBreaks(text: string): number {
  return text.match(/\r\n?|\n/g)?.length ?? 0;
}
