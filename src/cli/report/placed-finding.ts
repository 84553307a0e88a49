import { createHash } from 'node:crypto';
import { join } from 'node:path/posix';
import type { DocFinding } from '../../core/evidence/doc-finding.ts';
import {
  docKinds,
  type FindingKind,
  type Severity,
  textKinds,
  verdicts,
} from '../../core/evidence/finding-kinds.ts';
import type { Lines } from '../../core/evidence/reference.ts';
import type { CheckFinding, EvidenceReport, ReportFolders } from '../../core/evidence/verdict.ts';

/** A finding with the place where a code host shows it. */
export interface PlacedFinding {
  /** Relative to the top of the repository, `/` between segments. */
  readonly path: string;
  readonly lines: Lines;
  readonly severity: Severity;
  /** The name of its check: its kind, for evidence with the verdict: `evidence-changed`. */
  readonly check: string;
  /** The meaning of the check, in one sentence. */
  readonly meaning: string;
  /** The finding in words, which name the record where the place is in the code. */
  readonly message: string;
  /** Identifies it across runs, also after its lines have moved; unique in a report. */
  readonly fingerprint: string;
}

/** Writes findings for a code host. */
export type ReportFormat = (findings: readonly PlacedFinding[], version: string) => string;

/** A finding before its fingerprint, and the texts that identify it together with its check. */
interface Placed extends Omit<PlacedFinding, 'fingerprint'> {
  readonly subject: readonly string[];
}

/**
 * Places the findings of a report: code that has changed where it is now, everything else in the record
 * or document.
 *
 * @param shown the severities to report.
 */
export function placedFindings(
  { records, docs, folders }: Pick<EvidenceReport, 'records' | 'docs' | 'folders'>,
  shown: readonly Severity[],
): PlacedFinding[] {
  const ofRecords = records.flatMap(({ path, findings }) =>
    findings.map((one) => ofRecord(one, path, folders)),
  );
  const ofDocs = (docs?.files ?? []).flatMap(({ path, findings }) =>
    findings.map((one) => ofDoc(one, path, folders)),
  );
  const uses = new Map<string, number>();
  return [...ofRecords, ...ofDocs]
    .filter(({ severity }) => shown.includes(severity))
    .map(({ subject, ...finding }) => {
      const base = JSON.stringify([finding.check, ...subject]);
      // Of findings that differ in their lines only, the order is part of the identity.
      const use = uses.get(base) ?? 0;
      uses.set(base, use + 1);
      return {
        ...finding,
        fingerprint: createHash('sha256').update(`${base} ${use}`).digest('hex'),
      };
    });
}

function ofRecord(finding: CheckFinding, record: string, folders: ReportFolders): Placed {
  const change = finding.kind === 'evidence' ? finding.change : undefined;
  const { severity, line = 1, stored = { path: record, line } } = finding;
  const lines = change ? change.lines : { first: stored.line, last: stored.line };
  return {
    path: change ? join(folders.project, change.path) : join(folders.memory, stored.path),
    lines: lines ?? { first: 1, last: 1 },
    severity,
    check: checkOf(finding),
    meaning: kindOf(finding).meaning,
    message: [
      change ? `${record}: ${finding.message}` : finding.message,
      ...(finding.mend === undefined ? [] : [`Mend: ${finding.mend}`]),
    ].join('\n'),
    subject: [record, ...subjectOf(finding)],
  };
}

function ofDoc(finding: DocFinding, doc: string, folders: ReportFolders): Placed {
  const { kind, line, severity, message, text } = finding;
  return {
    path: join(folders.project, doc),
    lines: { first: line, last: line },
    severity,
    check: `docs-${kind}`,
    meaning: docKinds[kind].meaning,
    message,
    subject: [doc, text],
  };
}

function checkOf(finding: CheckFinding): string {
  return finding.kind === 'evidence' ? `evidence-${finding.verdict}` : finding.kind;
}

function kindOf(finding: CheckFinding): FindingKind {
  return finding.kind === 'evidence' ? verdicts[finding.verdict] : textKinds[finding.kind];
}

/** The subject of a finding, without its lines. */
function subjectOf(finding: CheckFinding): readonly string[] {
  if (finding.kind !== 'evidence') return finding.records;
  const { path, symbol } = finding.evidence;
  return [path, symbol ?? ''];
}
