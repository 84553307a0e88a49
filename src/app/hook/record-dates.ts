import type { HitChange } from '../../core/memory/search-hit.ts';
import type { StoredText } from '../../store/search/stored-index.ts';

/**
 * The last changes of a record as a digest stores them: that of the record, and then those of the sections
 * in its outline; `0` for the same as the record, `null` for one that is not known. Zeros at the end are left out,
 * and a list without an item says that none is known.
 */
export type RecordDates = readonly (HitChange | 0 | null)[];

/** The place of the change of a section, or of the record; undefined for a section that it does not have. */
export function placeOfSection(
  [, outline]: StoredText,
  section: string | undefined,
): number | undefined {
  if (section === undefined) return 0;
  const at = outline?.sections.findIndex(([{ path }]) => path === section) ?? -1;
  return at < 0 ? undefined : at + 1;
}

/** The section with a heading, in the form that readers take; undefined for none. */
export function sectionWith([, outline]: StoredText, heading: string): string | undefined {
  return outline?.sections.find(([one]) => one.heading.trim() === heading)?.[0].path;
}

/** The change at a place. */
export function dateAt(dates: RecordDates, place: number | undefined): HitChange | undefined {
  if (place === undefined) return undefined;
  const [own, found = 0] = [dates[0], dates[place]];
  return (found === 0 ? own : found) || undefined;
}
