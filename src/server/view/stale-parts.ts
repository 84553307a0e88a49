import { formatGiven, formatPlace, inlineEvidence } from '../../core/evidence/annotations.ts';
import type { CheckFinding, EvidenceFinding } from '../../core/evidence/verdict.ts';
import { Anchors } from '../../core/markdown/anchors.ts';
import { Sections, textAt } from '../../core/markdown/section-statements.ts';
import { placesIn } from '../../core/markdown/text-evidence.ts';
import { checksum } from '../../core/values/checksum.ts';
import type { StalePart } from '../page/answers.ts';
import { commitData } from './answer-data.ts';
import type { KnownRecord } from './record-source.ts';

type StatedRecord = Pick<KnownRecord, 'path' | 'type' | 'value'>;

/** Whether the code of a finding is not as it was, so that its record may no longer be true. */
export function isStale(finding: CheckFinding): finding is EvidenceFinding {
  return (
    finding.kind === 'evidence' && (finding.verdict === 'changed' || finding.verdict === 'gone')
  );
}

/** Divides the stale evidence of a record by the entry that names it; other records are one part. */
export function stalePartsOf(
  record: StatedRecord,
  findings: readonly EvidenceFinding[],
): StalePart[] {
  const entries = entriesOf(record);
  const left = new Set(findings);
  const parts = entries.flatMap(({ address, title, anchor, text }) => {
    const own = findings.filter((one) => names(text, one));
    for (const one of own) left.delete(one);
    return own.length === 0 ? [] : [{ ...partOf(record, address, own), title, anchor }];
  });
  return left.size === 0 ? parts : [partOf(record, record.path, [...left]), ...parts];
}

/** A mark of all that a person sees of a part, so that a later state is known from it. */
function markOf(
  { path, type, value }: StatedRecord,
  address: string,
  findings: readonly EvidenceFinding[],
): string {
  const { body = '' } = type.search(value);
  const text = address === path ? JSON.stringify(value) : textAt(address, body);
  return checksum(text, ...findings.map(({ message, diff = '' }) => message + diff));
}

/** The entries of a log with their texts; other records have none. */
function entriesOf({ path, type, value }: StatedRecord) {
  if (type.toolset !== 'memory-bank' || !path.endsWith('.md')) return [];
  const { body = '' } = type.search(value);
  const sections = new Sections(path, body);
  const all = new Anchors();
  const anchors = new Map(sections.all.map((one) => [one, all.next(one.heading)]));
  const parts = sections.all.filter((one) => sections.addressOf(one) !== path);
  const level = Math.min(...parts.map((one) => one.level));
  return parts
    .filter((one) => one.level === level)
    .filter((one) => sections.statementsOf(one).supersededBy === undefined)
    .map((one) => ({
      address: sections.addressOf(one),
      title: one.heading,
      anchor: anchors.get(one) ?? '',
      text: body.slice(one.start, one.end),
    }));
}

/** Whether an entry rests on a place: the same place can have been given at different times. */
function names(text: string, { evidence }: EvidenceFinding): boolean {
  const given = inlineEvidence(text);
  if (evidence.source === 'given') {
    return given.some((one) => formatGiven(one) === formatGiven(evidence));
  }
  const place = formatPlace(evidence);
  return placesIn(text).has(place) && given.every((one) => formatPlace(one) !== place);
}

function partOf(
  record: StatedRecord,
  address: string,
  findings: readonly EvidenceFinding[],
): StalePart {
  return {
    path: record.path,
    address,
    seen: markOf(record, address, findings),
    places: findings.map((finding) => ({
      message: messageOf(finding),
      ...(finding.changedBy && { commit: commitData(finding.changedBy) }),
      ...(finding.diff !== undefined && { diff: finding.diff }),
    })),
  };
}

/** The message of a finding, like a commit without the address of its author. */
export function messageOf({ message }: CheckFinding): string {
  return message.replace(/(by [0-9a-f]{12} \([^<>\n]*) <[^<>\n]*>: /, '$1: ');
}
