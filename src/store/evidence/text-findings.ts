import { textKinds } from '../../core/evidence/finding-kinds.ts';
import { decisionTitle, relativeDate } from '../../core/evidence/text-statements.ts';
import type { TextFinding, TextKind } from '../../core/evidence/verdict.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Visit } from '../history/visit.ts';
import type { Steps } from '../records/slices.ts';
import type { NamedRecords } from './named-records.ts';
import type { CheckedRecord } from './record-evidence.ts';
import { type LinkedRecord, Supersession } from './supersession.ts';

/** A larger record is hard to read and to search, in bytes. */
const largeBytes = 32 * 1024;

/** A record as far as other records depend on it. */
export interface RecordStatements extends LinkedRecord {
  readonly decisions: readonly string[];
  readonly relative: string | undefined;
  readonly bytes: number;
}

/**
 * Finds contradictions that need no model, in the texts of all records.
 *
 * @param today `2026-01-31`.
 */
export function* textFindings(
  visit: Visit,
  all: readonly RecordStatements[],
  today: string,
  tending: boolean,
): Steps<ReadonlyMap<string, TextFinding[]>> {
  const records = new Map(all.map((record) => [record.path, record]));
  const found = new Map<string, TextFinding[]>();
  const add = (path: string, kind: TextKind, message: string, others: readonly string[] = []) => {
    const finding = { kind, severity: textKinds[kind].severity, records: others, message };
    found.set(path, [...(found.get(path) ?? []), finding]);
  };
  const supersession = new Supersession(visit, records);
  const titles = new Map<string, string[]>();
  for (const record of records.values()) {
    if (record.supersededBy !== undefined) continue;
    for (const title of record.decisions) addTo(titles, title, record.path);
  }
  for (const { path, kind, message, others } of supersession.contradictions()) {
    yield;
    add(path, kind, message, others);
  }
  for (const [path, record] of records) {
    yield;
    // A superseded record is of the past: its links and dates stay as they were.
    if (record.supersededBy !== undefined) continue;
    const { expires } = record;
    if (expires !== undefined && expires < today) add(path, 'expired', `It expired on ${expires}.`);
    for (const { link, by } of supersession.supersededLinks(record)) {
      add(path, 'link', `It names ${link}, which ${by} supersedes.`, [link, by]);
    }
    for (const title of new Set(record.decisions)) {
      const all = titles.get(title) ?? [];
      if (all.length < 2) continue;
      const others = [...new Set(all)].filter((other) => other !== path);
      const where = others.length > 0 ? others.join(', ') : 'the same file';
      add(path, 'title', `Its decision ${JSON.stringify(title)} is also in ${where}.`, others);
    }
    if (record.relative !== undefined) {
      const message = `It says ${JSON.stringify(record.relative)}, which depends on the day of reading: write the date.`;
      add(path, 'relative_date', message);
    }
    if (tending && record.bytes > largeBytes) {
      add(path, 'large', `It has ${record.bytes} bytes: split it.`);
    }
  }
  return found;
}

/** Reads the statements of a record about itself and about others. */
export function statementsOf(record: CheckedRecord, links: NamedRecords): RecordStatements {
  const { path, text } = record;
  const { annotations, sections } = record.statements;
  const points = pointsOf(record);
  const isCurrentWork = points.some(({ part }) => part === 'now');
  return {
    ...annotations,
    path,
    links: links.of(record),
    sections,
    decisions: points.flatMap(({ part, text }) => {
      const title = part === 'decision' ? decisionTitle(text) : '';
      return title === '' ? [] : [title];
    }),
    relative: isCurrentWork ? undefined : relativeDate(text),
    bytes: Buffer.byteLength(text),
  };
}

function pointsOf(record: CheckedRecord): readonly BriefPoint[] {
  const value = record.type.points && record.value;
  return (value && record.type.points?.(value)) ?? [];
}
