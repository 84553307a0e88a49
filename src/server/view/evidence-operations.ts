import * as z from 'zod';
import { textKinds, verdicts } from '../../core/evidence/finding-kinds.ts';
import type { CheckFinding } from '../../core/evidence/verdict.ts';
import { addTo } from '../../core/values/multimap.ts';
import { type Concern, concernsShape, evidenceShape } from '../page/answers.ts';
import { commitData, path } from './answer-data.ts';
import { defineMemoryOperation } from './operation.ts';

/** Maximum number of groups of findings, and of the listed records of each. */
const maxConcerns = 50;
const maxRecords = 50;

export const evidence = defineMemoryOperation({
  method: 'get',
  path: '/memory/evidence',
  id: 'get_evidence',
  summary:
    'Lists what a check finds about records: code that has changed, moved or gone, and problems of their texts.',
  input: z.object({ path: path.optional() }),
  answer: evidenceShape,
  async run({ history }, request) {
    const { records } = await history.evidence(request);
    return {
      findings: records.flatMap(({ path, findings }) =>
        findings
          .map((finding) => ({
            path,
            verdict: finding.kind === 'evidence' ? finding.verdict : finding.kind,
            severity: finding.severity,
            message: messageOf(finding),
            ...(finding.line !== undefined && { line: finding.line }),
            ...(finding.mend !== undefined && { mend: finding.mend }),
          }))
          .filter(({ verdict }) => verdict !== 'fresh'),
      ),
    };
  },
});

export const concerns = defineMemoryOperation({
  method: 'get',
  path: '/memory/concerns',
  id: 'get_concerns',
  summary:
    'Groups the errors and warnings of a check by the commit that changed the code, or by their kind.',
  input: z.object({}),
  answer: concernsShape,
  async run({ history }) {
    const { records } = await history.evidence({});
    const groups = new Map<string, Cause[]>();
    for (const { path, findings } of records) {
      for (const finding of findings) {
        if (needsPerson(finding)) addTo(groups, causeOf(finding), { path, finding });
      }
    }
    const sorted = [...groups.values()].sort(
      (a, b) => weightOf(b) - weightOf(a) || b.length - a.length,
    );
    return { concerns: sorted.slice(0, maxConcerns).flatMap(concernOf) };
  },
});

interface Cause {
  readonly path: string;
  readonly finding: CheckFinding;
}

/** Whether Home does not name a finding otherwise. */
function needsPerson({ severity, kind }: CheckFinding): boolean {
  const isNamed = kind === 'duplicate' || kind === 'unreadable';
  return (severity === 'error' || severity === 'warning') && !isNamed;
}

function causeOf(finding: CheckFinding): string {
  if (finding.kind !== 'evidence') return finding.kind;
  return finding.verdict === 'beyond' ? 'beyond' : `code ${finding.commit}`;
}

/** Errors come before warnings. */
function weightOf(group: readonly Cause[]): number {
  return group.some(({ finding }) => finding.severity === 'error') ? 1 : 0;
}

function concernOf(group: readonly Cause[]): Concern[] {
  const [first] = group;
  if (!first) return [];
  const { finding } = first;
  const byPath = new Map(group.map(({ path, finding }) => [path, finding]));
  const commit = finding.kind === 'evidence' ? finding.changedBy : undefined;
  return [
    {
      about: meaningOf(finding),
      ...(commit && { commit: commitData(commit) }),
      count: byPath.size,
      records: [...byPath].slice(0, maxRecords).map(([path, finding]) => ({
        path,
        message: messageOf(finding),
        ...(finding.mend !== undefined && { mend: finding.mend }),
      })),
    },
  ];
}

function meaningOf(finding: CheckFinding): string {
  if (finding.kind !== 'evidence') return textKinds[finding.kind].meaning;
  if (finding.verdict === 'beyond') return verdicts.beyond.meaning;
  return finding.commit === undefined
    ? 'Its code has changed, and the change is not committed yet.'
    : 'A commit has changed its code.';
}

/** The message of a finding, like a commit without the address of its author. */
function messageOf({ message }: CheckFinding): string {
  return message.replace(/(by [0-9a-f]{12} \([^<>\n]*) <[^<>\n]*>: /, '$1: ');
}
