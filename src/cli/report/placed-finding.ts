import { createHash } from 'node:crypto';
import { join } from 'node:path/posix';
import {
  type FindingKind,
  type Severity,
  textKinds,
  verdicts,
} from '../../core/evidence/finding-kinds.ts';
import type { Lines } from '../../core/evidence/reference.ts';
import type { CheckFinding, EvidenceReport } from '../../core/evidence/verdict.ts';

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

/**
 * Places the findings of a report: code that has changed where it is now, everything else in the record.
 *
 * @param shown the severities to report.
 */
export function placedFindings(
  { records, folders }: Pick<EvidenceReport, 'records' | 'folders'>,
  shown: readonly Severity[],
): PlacedFinding[] {
  const uses = new Map<string, number>();
  return records.flatMap(({ path: record, findings }) =>
    findings
      .filter(({ severity }) => shown.includes(severity))
      .map((finding): PlacedFinding => {
        const check = checkOf(finding);
        const subject = subjectOf(finding);
        const base = JSON.stringify([check, record, ...subject]);
        // Of findings that differ in their lines only, the order is part of the identity.
        const use = uses.get(base) ?? 0;
        uses.set(base, use + 1);
        const change = finding.kind === 'evidence' ? finding.change : undefined;
        const { line = 1 } = finding;
        return {
          path: change ? join(folders.project, change.path) : join(folders.memory, record),
          lines: (change ? change.lines : { first: line, last: line }) ?? { first: 1, last: 1 },
          severity: finding.severity,
          check,
          meaning: kindOf(finding).meaning,
          message: change ? `${record}: ${finding.message}` : finding.message,
          fingerprint: createHash('sha256').update(`${base} ${use}`).digest('hex'),
        };
      }),
  );
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
