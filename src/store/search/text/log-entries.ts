import { joint, type NamedSection } from '../../../core/markdown/section-path.ts';
import { dateOf } from '../../../core/markdown/title-date.ts';
import type { SearchFields } from '../../../core/record/record-type.ts';
import { type Area, areasOf, longestText, type OutlineOf } from './passage-area.ts';

/** An entry of a log, such as a decision: a dated section that is found and shown by itself. */
export interface DatedEntry {
  readonly section: NamedSection;
  /** The date, and the order among the entries of one day: a later entry has a greater text. */
  readonly at: string;
  /** The areas of the text that are in it. */
  readonly areas: readonly Area[];
  /** The same, but a hit in them names no section around the entry. */
  readonly shown: readonly Area[];
}

/** Deepest headings that are entries, and how many of a level have to have a date. */
const deepest = 4;
const leastEntries = 2;
const leastShare = 0.5;
/** Characters at the beginning of a section in which its date is looked for. */
const dateRange = 200;

const dateInHeading = /\b\d{4}-\d\d-\d\d\b/;
const dateLabel = /^[\s>*_+-]*(?:date|datum|fecha|data|дата|日期)\W{0,8}(\d{4}-\d\d-\d\d)\b/imu;

const known = new WeakMap<SearchFields, readonly DatedEntry[]>();

/** Returns the entries of a document that is a log: at one level of headings, most have a date. */
export function entriesOf(fields: SearchFields, outlineOf: OutlineOf): readonly DatedEntry[] {
  if (!fields.markdown) return [];
  const entries = known.get(fields) ?? divide(fields.body ?? '', fields, outlineOf);
  known.set(fields, entries);
  return entries;
}

function divide(text: string, fields: SearchFields, outlineOf: OutlineOf): readonly DatedEntry[] {
  if (text.length > longestText || !dateInHeading.test(text)) return [];
  const { sections } = outlineOf(fields);
  for (let level = 2; level <= deepest; level++) {
    const own = sections.filter((section) => section.level === level);
    const dated = own.flatMap((section, order) => {
      const day = dayOf(text, section);
      return day === undefined ? [] : [{ section, day, order }];
    });
    if (dated.length < leastEntries || dated.length < leastShare * own.length) continue;
    const [first, last] = [dated[0], dated.at(-1)];
    const isNewestFirst = (first?.day ?? '') > (last?.day ?? '');
    const all = areasOf(fields, 'body', outlineOf);
    let next = 0;
    return dated.map(({ section, day, order }) => {
      const place = isNewestFirst ? own.length - order : order;
      const areas: Area[] = [];
      for (let area = all[next]; area && area.start < section.end; area = all[next]) {
        if (area.start >= section.start) areas.push(area);
        next += 1;
      }
      const shown = areas.map((area) =>
        area.unit && area.unit.start >= section.start ? area : { ...area, unit: section },
      );
      return { section, at: `${day} ${String(place).padStart(6, '0')}`, areas, shown };
    });
  }
  return [];
}

/** The heading of the entry that a section is in, as its path says; a log with one entry is found as a whole. */
export function entryHeading(path: string | undefined): string | undefined {
  return path?.split(joint).find((heading) => dateOf(heading) !== undefined);
}

function dayOf(text: string, { heading, bodyStart, bodyEnd }: NamedSection): string | undefined {
  const named = dateInHeading.exec(heading)?.[0];
  if (named !== undefined) return named;
  return dateLabel.exec(text.slice(bodyStart, Math.min(bodyEnd, bodyStart + dateRange)))?.[1];
}
