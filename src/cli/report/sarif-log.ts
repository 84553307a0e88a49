import type { Severity } from '../../core/evidence/finding-kinds.ts';
import { jsonText } from '../../core/values/json.ts';
import type { PlacedFinding, ReportFormat } from './placed-finding.ts';

const levels: { readonly [severity in Severity]: string } = {
  error: 'error',
  warning: 'warning',
  notice: 'note',
  info: 'none',
};

/** Writes a log of SARIF 2.1.0, which GitHub code scanning and other hosts read. */
export const sarifLog: ReportFormat = (findings, version) => {
  const meanings = new Map(findings.map(({ check, meaning }) => [check, meaning]));
  const rules = [...meanings.keys()].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'memory-bank',
            version,
            rules: rules.map((id) => {
              const text = meanings.get(id) ?? id;
              return { id, shortDescription: { text }, fullDescription: { text } };
            }),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => resultOf(finding, rules)),
      },
    ],
  };
  return `${jsonText(log, 2)}\n`;
};

function resultOf(finding: PlacedFinding, rules: readonly string[]) {
  const { path, lines, severity, check, message } = finding;
  return {
    ruleId: check,
    ruleIndex: rules.indexOf(check),
    // The kind `fail` needs a level, and a result of another kind has none.
    kind: severity === 'info' ? 'pass' : 'fail',
    level: levels[severity],
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(path), uriBaseId: '%SRCROOT%' },
          region: { startLine: lines.first, endLine: lines.last },
        },
      },
    ],
    partialFingerprints: { 'memoryBank/v1': finding.fingerprint },
  };
}

/** A path as a relative URI reference. */
function uriOf(path: string): string {
  return path
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()))
    .join('/');
}
