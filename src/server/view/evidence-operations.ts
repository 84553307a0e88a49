import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { textKinds, verdicts } from '../../core/evidence/finding-kinds.ts';
import type { CheckFinding } from '../../core/evidence/verdict.ts';
import { annotationsAt } from '../../core/markdown/section-statements.ts';
import { parseAddress } from '../../core/names/record-address.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { addTo } from '../../core/values/multimap.ts';
import {
  type Concern,
  concernsShape,
  evidenceShape,
  type StalePart,
  verifiedShape,
} from '../page/answers.ts';
import { commitData, path } from './answer-data.ts';
import { callTool } from './checked-call.ts';
import { defineMemoryOperation } from './operation.ts';
import { readRecord } from './record-answer.ts';
import { readState } from './record-source.ts';
import { isStale, messageOf, stalePartsOf } from './stale-parts.ts';

const address = z.string().min(1).max(2000);

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
  async run(context, request, { types }) {
    const { records } = await context.history.evidence({ ...request, docs: false });
    const rested = records.filter(({ findings }) => findings.some(isStale));
    const state = rested.length === 0 ? undefined : await readState(context, types, undefined);
    const byPath = new Map(state?.records.map((record) => [record.path, record]));
    return {
      stale: rested.flatMap(({ path, findings }) => {
        const record = byPath.get(path);
        const parts = record ? stalePartsOf(record, findings.filter(isStale)) : [];
        return context.session.isAgent ? parts.map(withoutCode) : parts;
      }),
      findings: records.flatMap(({ path, findings }) =>
        findings
          .filter((finding) => !isStale(finding) || !byPath.has(path))
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

/**
 * Leaves out the code: an agent could write a record that names a file, and read the file by that; a copy
 * may be published where the code is not.
 */
export function withoutCode({ places, ...part }: StalePart): StalePart {
  return { ...part, places: places.map(({ diff: _, ...place }) => place) };
}

export const verifyRecord = defineMemoryOperation({
  method: 'post',
  path: '/memory/verify',
  id: 'verify_memory',
  summary:
    'Says of a record or section that it is still true, or by which other one it is superseded.',
  input: z.object({
    address: address.describe('A record or section: decisionLog.md#Title'),
    seen: z
      .string()
      .max(100)
      .describe('The mark of the state that the person has seen; a later one is refused'),
    superseded_by: address.optional().describe('The record or section that replaces it'),
  }),
  answer: verifiedShape,
  async run(context, { address, seen, superseded_by: successor }, catalogue) {
    const { path } = parseAddress(address);
    const { type, value } = await readRecord(context, catalogue.types, path, undefined);
    const { records } = await context.history.evidence({ path, only: 'code' });
    const findings = records.flatMap((one) => one.findings.filter(isStale));
    const check = (value: object | undefined) => {
      const record = isObject(value) ? { path, type, value } : undefined;
      const part = record && stalePartsOf(record, findings).find((one) => one.address === address);
      if (part?.seen === seen) return;
      throw new MemoryError('conflict', `${address} or its code has changed meanwhile.`, {
        hint: 'Look at it again.',
      });
    };
    check(value);
    const key = value && type.key(value);
    const args =
      successor === undefined
        ? { path: address }
        : {
            path: successor,
            supersedes: [...(await replacedBy(context, catalogue.types, successor)), address],
          };
    await callTool(context, catalogue, 'verify_memory', args, async (transaction) =>
      check(key === undefined ? undefined : (await transaction.get(type, key))?.value),
    );
    return { address };
  },
});

/** The records and sections that one replaces already. */
async function replacedBy(
  context: Context,
  types: readonly AnyRecordType[],
  given: string,
): Promise<readonly string[]> {
  const { path, section } = parseAddress(given);
  const { type, value, text } = await readRecord(context, types, path, undefined);
  const body = value && section !== undefined ? type.search(value).body : undefined;
  return annotationsAt(given, body ?? text).supersedes;
}

export const concerns = defineMemoryOperation({
  method: 'get',
  path: '/memory/concerns',
  id: 'get_concerns',
  summary:
    'Groups the errors and warnings of a check by the commit that changed the code, or by their kind.',
  input: z.object({}),
  answer: concernsShape,
  async run({ history }) {
    const { records } = await history.evidence({ docs: false });
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
