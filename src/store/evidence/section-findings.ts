import { formatPlace } from '../../core/evidence/annotations.ts';
import type {
  CheckFinding,
  EvidenceReport,
  TextKind,
  Verdict,
} from '../../core/evidence/verdict.ts';
import { lineNumber } from '../../core/markdown/line.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import type { RecordAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type HistoryReader, recordPath } from '../history/history-reader.ts';
import { noCounts } from './evidence-check.ts';
import { readText } from './judged-places.ts';
import { CheckedRecord } from './record-evidence.ts';

/** The findings about one section of a record. */
export class SectionFindings {
  readonly #path: string;
  readonly #places: ReadonlySet<string>;
  readonly #lines: readonly [first: number, last: number];

  /** @throws MemoryError `not_found` for a record or section that is not there; `forbidden`. */
  constructor(reader: HistoryReader, { path: given, section = '' }: RecordAddress) {
    const path = recordPath(given);
    reader.checkRead(path);
    const type = reader.history.typeOf(path);
    const text = readText(reader, path);
    if (!type || text === undefined) throw missing(path);
    const found = new Sections(path, text).at(section);
    const own = new CheckedRecord(type, path, { text: () => text.slice(found.start, found.end) });
    this.#path = path;
    this.#places = new Set(own.evidence.map(formatPlace));
    const end = text.slice(0, found.end).trimEnd().length;
    this.#lines = [lineNumber(text, found.start), lineNumber(text, end)];
  }

  /** The part of a report about the record that is about the section. */
  of(report: EvidenceReport): EvidenceReport {
    const records = report.records
      .filter(({ path }) => path === this.#path)
      .map(({ path, findings }) => ({
        path,
        findings: findings.filter((finding) => this.#has(finding)),
      }));
    const all = records.flatMap(({ findings }) => findings);
    return { ...report, records, counts: countsOf(all) };
  }

  /** A finding about the record as a whole is not one about the section. */
  #has(finding: CheckFinding): boolean {
    if (finding.kind === 'evidence') return this.#places.has(formatPlace(finding.evidence));
    const [first, last] = this.#lines;
    return finding.line !== undefined && first <= finding.line && finding.line <= last;
  }
}

function countsOf(findings: readonly CheckFinding[]): EvidenceReport['counts'] {
  const counts: { [kind in Verdict | TextKind]?: number } = {};
  for (const one of findings) {
    const kind = one.kind === 'evidence' ? one.verdict : one.kind;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return { ...noCounts, ...counts };
}

function missing(path: string): MemoryError {
  return new MemoryError('not_found', `There is no record ${JSON.stringify(path)}.`, {
    hint: 'Give a path relative to .memory-bank/, as "memory-bank list" prints them.',
    data: { path },
  });
}
