import type { Severity } from '../../core/evidence/finding-kinds.ts';
import { jsonText } from '../../core/values/json.ts';
import type { ReportFormat } from './placed-finding.ts';

const severities: { readonly [severity in Severity]: string } = {
  error: 'critical',
  warning: 'major',
  notice: 'minor',
  info: 'info',
};

/** Writes the code quality report of GitLab, which a merge request shows. */
export const codeQuality: ReportFormat = (findings) => {
  const issues = findings.map((finding) => ({
    description: finding.message,
    check_name: finding.check,
    fingerprint: finding.fingerprint,
    severity: severities[finding.severity],
    location: { path: finding.path, lines: { begin: finding.lines.first } },
  }));
  return `${jsonText(issues, 2)}\n`;
};
