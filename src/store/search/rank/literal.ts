import { withoutDate } from '../../../core/markdown/title-date.ts';
import type { SearchFields, TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import { literalPassage } from '../passage/snippet.ts';
import type { FieldScope } from '../query/field-scope.ts';
import { fieldNames, type Hits, plain, type SearchDocument } from '../terms/search-document.ts';
import { type DatedEntry, entriesOf, entryHeading } from '../text/log-entries.ts';
import { outlineOf } from '../text/text-outline.ts';
import { explainLiteral } from './explanation.ts';

/** Characters compared in one step. */
const stretch = 256 * 1024;
/** Characters of a long text kept on each side of a match. */
const margin = 1000;

/** A document that contains the query; of a long text only the part around the match. */
interface Found {
  readonly id: string;
  /** The order of its field; below 0 if its title is the query. */
  readonly rank: number;
  readonly fields: SearchFields;
  readonly field: TextField;
  readonly at: number;
  /** The entry of a log that has the match. */
  readonly entry?: DatedEntry;
}

/**
 * Finds the documents and the entries of logs that contain the query literally, ignoring case: heavier
 * fields first, then by id, and of one log the newest entry first.
 *
 * @param groups of documents; `undefined` ends a step.
 * @param explains whether each hit says why it was found.
 * @param score of each hit, except for documents whose title is the query: these have 1.
 */
export function* literal(
  groups: readonly Iterable<SearchDocument | undefined>[],
  query: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  score: number,
  scope: FieldScope,
  explains = false,
): Steps<Hits> {
  const wanted = lower(query);
  const name = plain(query);
  const found: Found[] = [];
  for (const group of groups) {
    for (const document of group) {
      yield;
      if (!document) continue;
      const { id, fields } = document;
      const isNamed = plain(scope.text(fields, 'title')) === name;
      const entries = isNamed ? [] : entriesWith(fields, scope.text(fields, 'body'), wanted);
      for (const [entry, at] of entries) {
        const { heading } = entry.section;
        const isNamed = plain(withoutDate(heading)) === name || plain(heading) === name;
        found.push({ id, rank: isNamed ? -1 : body, field: 'body', fields, at, entry });
      }
      if (entries.length > 0) continue;
      for (const [order, field] of fieldNames.entries()) {
        const text = scope.text(fields, field);
        const at = yield* indexOf(text, wanted);
        if (at < 0) continue;
        const rank = isNamed ? -1 : order;
        found.push({ id, rank, field, ...near(fields, field, at, query.length) });
        break;
      }
    }
  }
  found.sort(
    (a, b) =>
      a.rank - b.rank ||
      (a.id === b.id ? compared(b.entry?.at, a.entry?.at) : compared(a.id, b.id)),
  );
  const hits = found.slice(offset, offset + limit).map(({ id, rank, fields, field, at, entry }) => {
    const passage = literalPassage(fields, field, at, at + query.length, outlineOf, entry);
    const named = entry?.section.heading ?? entryHeading(passage.section);
    return {
      id,
      ...(named !== undefined && { entry: named }),
      score: rank < 0 ? 1 : score,
      ...(explains && { explanation: explainLiteral(query, field, rank < 0 ? 1 : score) }),
      matches: [(fields[field] ?? '').slice(at, at + query.length)],
      ...passage,
    };
  });
  return { hits, total: found.length };
}

/** The order of the body among the fields. */
const body = fieldNames.indexOf('body');

/** The entries of a log that contain a lower-case text, each with the offset of the first match. */
function entriesWith(
  fields: SearchFields,
  text: string,
  wanted: string,
): readonly (readonly [entry: DatedEntry, at: number])[] {
  // The entries of a longer text are not known.
  if (text.length > stretch || !lower(text).includes(wanted)) return [];
  return entriesOf(fields, outlineOf).flatMap((entry) => {
    const { start, end } = entry.section;
    const at = lower(text.slice(start, end)).indexOf(wanted);
    return at < 0 ? [] : [[entry, start + at] as const];
  });
}

function compared(one = '', other = ''): number {
  return one < other ? -1 : Number(one > other);
}

/** The offset of the first match of a lower-case text, or -1. */
function* indexOf(text: string, wanted: string): Steps<number> {
  if (text.length <= stretch) return lower(text).indexOf(wanted);
  for (let start = 0; start < text.length; start += stretch) {
    const piece = text.slice(start, start + stretch + wanted.length - 1);
    const at = lower(piece).indexOf(wanted);
    if (at >= 0) return start + at;
    yield;
  }
  return -1;
}

/** Copies the surroundings of a match in a long text, so that the long text can leave memory. */
function near(fields: SearchFields, field: TextField, at: number, length: number) {
  const text = fields[field] ?? '';
  if (text.length <= stretch) return { fields, at };
  const start = Math.max(0, at - margin);
  const piece = text.slice(start, at + length + margin);
  const copy = Buffer.from(piece, 'utf16le').toString('utf16le');
  return { fields: { title: '', [field]: copy }, at: at - start };
}

/** A text in lower case with unchanged offsets: İ is the one letter that would become two. */
function lower(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
