import { textKinds } from '../../core/evidence/finding-kinds.ts';
import { decisionTitle } from '../../core/evidence/text-statements.ts';
import type { TextFinding, TextKind } from '../../core/evidence/verdict.ts';
import { lineNumber } from '../../core/markdown/line.ts';
import { folded } from '../../core/markdown/section-path.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { withoutDate } from '../../core/markdown/title-date.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import type { Steps } from '../records/slices.ts';
import { lineOf } from './finding-lines.ts';
import { readText } from './judged-places.ts';
import type { MendCommands } from './mend-commands.ts';
import type { NamedRecords } from './named-records.ts';
import type { CheckedRecord } from './record-evidence.ts';
import { type LinkedRecord, Supersession } from './supersession.ts';

/** A larger record is hard to read and to search, in bytes. */
const largeBytes = 32 * 1024;

interface FindingParts {
  readonly records?: readonly string[];
  readonly line?: number | undefined;
  readonly mend?: string | undefined;
}

/** Makes a finding that is not about code. */
export function textFinding(kind: TextKind, message: string, more: FindingParts = {}): TextFinding {
  const { records = [], line, mend } = more;
  return {
    kind,
    severity: textKinds[kind].severity,
    records,
    ...(line !== undefined && { line }),
    message,
    ...(mend !== undefined && { mend }),
  };
}

/** A record as far as other records depend on it. */
export interface RecordStatements extends LinkedRecord {
  readonly decisions: readonly string[];
  readonly hidden: readonly HiddenDecision[];
  readonly relative: string | undefined;
  readonly bytes: number;
}

/**
 * Finds contradictions that need no model, in the texts of all records.
 *
 * @param today `2026-01-31`.
 */
export function* textFindings(
  reader: HistoryReader,
  all: readonly RecordStatements[],
  mend: MendCommands,
  today: string,
  tending: boolean,
): Steps<ReadonlyMap<string, TextFinding[]>> {
  const records = new Map(all.map((record) => [record.path, record]));
  const found = new Map<string, TextFinding[]>();
  const add = (path: string, kind: TextKind, message: string, more?: FindingParts) =>
    addTo(found, path, textFinding(kind, message, more));
  const lineIn = (path: string, name = '') => lineOf(readText(reader, path) ?? '', name);
  const supersession = new Supersession(reader, records);
  const titles = new Map<string, string[]>();
  for (const record of records.values()) {
    if (record.supersededBy !== undefined) continue;
    for (const title of record.decisions) addTo(titles, title, record.path);
  }
  for (const { path, kind, message, others, mend: command } of supersession.contradictions(mend)) {
    yield;
    const line = kind === 'broken' ? lineIn(path, others[0]) : undefined;
    add(path, kind, message, { records: others, line, mend: command });
  }
  for (const [path, record] of records) {
    yield;
    // A superseded record is of the past: its links and dates stay as they were.
    if (record.supersededBy !== undefined) continue;
    const { expires, hidden } = record;
    const edit = () => mend.edit(path);
    if (expires !== undefined && expires < today) {
      add(path, 'expired', `It expired on ${expires}.`, {
        mend: mend.verify(path, '--expires <day>'),
      });
    }
    for (const { link, by } of supersession.supersededLinks(record)) {
      const message = `It names ${link}, which ${by} supersedes.`;
      add(path, 'link', message, { records: [link, by], line: lineIn(path, link), mend: edit() });
    }
    for (const { title, line, address, first } of hidden) {
      const message = `Its decision ${JSON.stringify(title)} has the heading of an earlier one, which hides it.`;
      add(path, 'hidden', message, { line, mend: supersession.replacing(address, [first], mend) });
    }
    for (const title of new Set(record.decisions)) {
      const all = titles.get(title) ?? [];
      const others = [...new Set(all)].filter((other) => other !== path);
      const isHidden = hidden.some((one) => one.title === title);
      if (all.length < 2 || (others.length === 0 && isHidden)) continue;
      const where = others.length > 0 ? others.join(', ') : 'the same file';
      const message = `Its decision ${JSON.stringify(title)} is also in ${where}.`;
      add(path, 'title', message, { records: others, mend: edit() });
    }
    if (record.relative !== undefined) {
      const message = `It says ${JSON.stringify(record.relative)}, which depends on the day of reading: write the date.`;
      add(path, 'relative_date', message, { mend: edit() });
    }
    if (tending && record.bytes > largeBytes) {
      add(path, 'large', `It has ${record.bytes} bytes: split it.`, { mend: edit() });
    }
  }
  return found;
}

/** A decision whose heading names an earlier one of the same file. */
interface HiddenDecision {
  readonly title: string;
  readonly line: number;
  /** Its address, and that of the earlier one. */
  readonly address: string;
  readonly first: string;
}

/**
 * Reads the statements of a record about itself and about others.
 *
 * @param isInConflict whether a merge has left both versions of its decisions in it: then neither of them
 *   hides the other.
 */
export function statementsOf(
  record: CheckedRecord,
  links: NamedRecords,
  isInConflict: () => boolean,
): RecordStatements {
  const { path, relative, bytes } = record;
  const { annotations, sections } = record.statements;
  const { supersedes, supersededBy, expires } = annotations;
  const titles = new Set(record.decisions);
  const isTwice = titles.size < record.decisions.length;
  const decisions = isTwice && isInConflict() ? [...titles] : record.decisions;
  const hidden = record.known ? [] : hiddenDecisions(record, decisions);
  return {
    supersedes,
    supersededBy,
    expires,
    path,
    links: links.of(record),
    sections,
    decisions,
    hidden,
    relative,
    bytes,
  };
}

/** Finds the live decisions with the heading of an earlier one. */
function hiddenDecisions(
  { path, text }: CheckedRecord,
  decisions: readonly string[],
): HiddenDecision[] {
  if (decisions.length < 2 || new Set(decisions).size === decisions.length) return [];
  const sections = new Sections(path, text);
  const firsts = new Map<string, string>();
  return sections.all.flatMap((section) => {
    const title = decisionTitle(withoutDate(section.heading));
    if (!decisions.includes(title) || sections.statementsOf(section).supersededBy) return [];
    const heading = JSON.stringify([section.parent?.path, folded(section.heading)]);
    const address = sections.addressOf(section);
    const first = firsts.get(heading);
    if (first === undefined) firsts.set(heading, address);
    const line = lineNumber(text, section.start);
    return first === undefined ? [] : [{ title, line, address, first }];
  });
}
