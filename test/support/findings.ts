import type { CheckFinding, EvidenceFinding } from '../../src/core/evidence/verdict.ts';

/** The findings about code, without those about texts. */
export function aboutCode(findings: readonly CheckFinding[]): EvidenceFinding[] {
  return findings.flatMap((one) => (one.kind === 'evidence' ? [one] : []));
}
