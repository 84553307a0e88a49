import { answerIn } from '../../core/declarations/answer-text.ts';
import type { NamedSection } from '../../core/markdown/section-path.ts';
import { withoutDate } from '../../core/markdown/title-date.ts';
import { leastLikeness, type SimilarRecord } from '../../core/memory/store.ts';
import type { AnyRecordType, BriefPoint, SearchFields } from '../../core/record/record-type.ts';
import { answerOf } from './passage/snippet.ts';
import { likenessTo, type Similar, titleLikeness } from './rank/similar-documents.ts';
import type { SearchDocument } from './terms/search-document.ts';
import { outlineOf } from './text/text-outline.ts';

/** The least likeness of the titles of two texts on one subject. */
const leastTitle = 0.75;
/** Limit of the records that are named. */
const maxSimilar = 3;

/** A record, or the section of it that was written, by its path in the text. */
export interface WrittenRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly value: object;
  readonly section?: string | undefined;
}

/** The fields and the statements of a record. */
interface Parts {
  readonly fields: SearchFields;
  readonly points: readonly BriefPoint[];
}

/** A long log is compared with each record that is written, and seldom changes. */
const known = new WeakMap<object, Parts>();

function partsOf({ type, value }: KnownRecord): Parts {
  const parts = known.get(value) ?? {
    fields: type.search(value),
    points: type.points?.(value) ?? [],
  };
  known.set(value, parts);
  return parts;
}

/** The one statement of a written record, with its title. */
interface Statement {
  readonly point: BriefPoint;
  readonly title: string;
  readonly isText: boolean;
}

/** A record of the memory that may be read. */
type KnownRecord = Pick<WrittenRecord, 'type' | 'path' | 'value'>;

/**
 * Finds the records and the decisions of logs that say nearly the same as a written one.
 *
 * Two texts are compared as a whole. Of a decision, the statement is also compared, because each toolset has
 * other parts next to it.
 *
 * @param candidates returns the documents with the most terms in common with another one.
 * @param recordAt returns a record that may be named.
 * @param isLive whether nothing replaces the record at a path.
 */
export function similarRecords(
  written: WrittenRecord,
  candidates: (document: SearchDocument) => readonly Similar[],
  recordAt: (path: string) => KnownRecord | undefined,
  isLive: (path: string) => boolean,
): readonly SimilarRecord[] {
  const { path, section } = written;
  const { fields: all, points } = partsOf(written);
  const fields = section === undefined ? all : fieldsOf(all, section);
  const found = [...candidates({ id: path, fields })];
  // The other sections count before the index has the record.
  if (section !== undefined && !found.some(({ id }) => id === path)) {
    found.push({ id: path, likeness: 0 });
  }
  const own = section === undefined ? points : points.filter((one) => one.section === section);
  const [point] = own.length === 1 ? own : [];
  const { title } = fields;
  const statement = point && { point, title, isText: isText(point, fields) };
  return found
    .flatMap(({ id, likeness }): SimilarRecord[] => {
      // A section is compared with the others of its record.
      if (id === path) return statement && section ? alikeIn(statement, written, points) : [];
      const other = recordAt(id);
      if (!other) return [];
      const stated = statement ? alikeIn(statement, other) : [];
      if (likeness < leastLikeness) return stated;
      const whole = { ...wholeOf(other), likeness };
      const [best] = stated;
      return best && best.likeness >= likeness ? stated : [whole];
    })
    .sort((a, b) => b.likeness - a.likeness || (a.path < b.path ? -1 : 1))
    .filter(({ path }) => isLive(path))
    .slice(0, maxSimilar);
}

function wholeOf(record: KnownRecord): Omit<SimilarRecord, 'likeness'> {
  const { path } = record;
  const { fields } = partsOf(record);
  const { snippet: answer, state } = answerOf(fields, outlineOf);
  return { path, title: fields.title, answer, ...(state !== undefined && { state }) };
}

/** The title and the text of a section, as a document of its own. */
function fieldsOf(fields: SearchFields, section: string): SearchFields {
  const { body = '' } = fields;
  const found = sectionIn(fields, section);
  if (!found) return fields;
  return { title: found.heading, body: body.slice(found.bodyStart, found.end), markdown: true };
}

/** The statements of a record that say nearly the same or are on the same subject, the likest first. */
function alikeIn(
  own: Statement,
  other: KnownRecord,
  points: readonly BriefPoint[] = partsOf(other).points,
): SimilarRecord[] {
  const { point: statement } = own;
  if (statement.part === 'now') return [];
  const compared = points.filter(
    (one) =>
      one.part !== 'now' &&
      (one.part === 'decision' || statement.part === 'decision') &&
      one !== statement,
  );
  if (compared.length === 0) return [];
  const { fields } = partsOf(other);
  const likeness = likenessTo(statement.text, compared);
  return compared
    .flatMap((point, index): SimilarRecord[] => {
      const share = likeness[index] ?? 0;
      const section = sectionIn(fields, point.section);
      const title = section?.heading ?? fields.title;
      const isOnSubject = () => isText(point, fields) && own.isText && haveTitle(own.title, title);
      if (share < leastLikeness && !isOnSubject()) return [];
      const found = section ? sectionOf(other.path, fields, section) : wholeOf(other);
      return [{ ...found, likeness: share }];
    })
    .sort((a, b) => b.likeness - a.likeness);
}

/** Whether a statement is a decision or the text of a document, and not the description of something. */
function isText({ part }: BriefPoint, { markdown }: SearchFields): boolean {
  return part === 'decision' || markdown === true;
}

/** Whether two titles have nearly the same words, two or more. */
function haveTitle(one: string, other: string): boolean {
  return titleLikeness(withoutDate(one), withoutDate(other)) >= leastTitle;
}

function sectionIn(fields: SearchFields, path: string | undefined): NamedSection | undefined {
  return path === undefined
    ? undefined
    : outlineOf(fields).sections.find((section) => section.path === path);
}

function sectionOf(path: string, fields: SearchFields, section: NamedSection) {
  const answer = answerIn((fields.body ?? '').slice(section.bodyStart, section.end));
  const [first = ''] = answer.trim().split(/[\r\n]/, 1);
  return { path, section: section.path, title: section.heading, answer: first };
}
