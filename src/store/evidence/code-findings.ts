import { formatPlace } from '../../core/evidence/annotations.ts';
import { verdicts } from '../../core/evidence/finding-kinds.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import type { EvidenceFinding } from '../../core/evidence/verdict.ts';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { changedPlace, lineNaming } from './finding-lines.ts';
import { type Judged, readText } from './judged-places.ts';
import type { MendCommands } from './mend-commands.ts';
import type { SpanChange } from './span-changes.ts';

/** The findings about the code that records rest on, by the path of the record. */
export async function codeFindings(
  reader: HistoryReader,
  judged: readonly Judged[],
  changes: ReadonlyMap<Judged, SpanChange>,
  mend: MendCommands,
): Promise<Map<string, EvidenceFinding[]>> {
  const infos = new Map<Oid, CommitInfo>();
  for (const { commit } of changes.values()) {
    if (commit && !infos.has(commit)) infos.set(commit, await reader.describeCode(commit));
  }
  const texts = new Map<string, string>();
  const found = new Map<string, EvidenceFinding[]>();
  for (const one of judged) {
    const { record, judgement } = one;
    const change = changes.get(one);
    const by = change?.commit ? infos.get(change.commit) : undefined;
    // A place that is as it was needs no line, and most are.
    const isFresh = judgement.verdict === 'fresh';
    const text = isFresh ? '' : (texts.get(record) ?? readText(reader, record) ?? '');
    if (!isFresh) texts.set(record, text);
    addTo(found, record, toFinding(one, change, by, lineNaming(text, one), mendOf(one, mend)));
  }
  return found;
}

function toFinding(
  judged: Judged,
  change: SpanChange | undefined,
  commit: CommitInfo | undefined,
  line: number | undefined,
  mend: string | undefined,
): EvidenceFinding {
  const { reference, judgement } = judged;
  const { verdict, now } = judgement;
  const place = changedPlace(judged, change?.diff);
  return {
    kind: 'evidence',
    verdict,
    severity: verdicts[verdict].severity,
    evidence: {
      path: reference.path,
      lines: reference.lines,
      ...(reference.symbol !== undefined && { symbol: reference.symbol }),
      source: reference.source,
      ...(reference.source === 'given' && { fingerprint: reference.fingerprint }),
    },
    now,
    commit: commit?.oid,
    ...(commit && { changedBy: commit }),
    ...(change?.diff !== undefined && { diff: change.diff }),
    ...(place && { change: place }),
    ...(line !== undefined && { line }),
    message: describe(judged, commit, change?.exact),
    ...(mend !== undefined && { mend }),
  };
}

/** The command that mends a finding, after a look at the code. */
function mendOf({ record, reference, judgement }: Judged, mend: MendCommands): string | undefined {
  const isGiven = reference.source === 'given';
  switch (judgement.verdict) {
    case 'fresh':
    case 'unknown':
      return undefined;
    case 'changed':
      return mend.verify(record);
    case 'gone':
      return mend.verify(record, isGiven ? '--evidence <place>' : '');
    case 'moved':
      return isGiven ? mend.fix() : mend.edit(record);
    case 'ambiguous':
    case 'beyond':
      return mend.edit(record);
  }
}

/** Says in one sentence what has become of a place. */
export function describe(
  { reference, judgement }: Judged,
  commit?: CommitInfo,
  exact = true,
): string {
  const { verdict, now, reason, uncommitted } = judgement;
  const place = formatPlace(reference);
  const here = now ? formatReference(now) : '';
  const by = commit
    ? `${exact ? ', last' : '; its file was last changed'} by ${commit.oid.slice(0, 12)} (${commit.author}: ${commit.subject})`
    : uncommitted
      ? ', not committed yet'
      : '';
  switch (verdict) {
    case 'fresh':
      return `${place} is as it was.`;
    case 'moved':
      return `${place} is now ${here}.`;
    case 'ambiguous':
      return `The text of ${place} occurs more than once; the nearest is ${here}.`;
    case 'changed':
      return `The text of ${place} was changed${by}.`;
    case 'gone':
      return `${place} was removed${by}.`;
    case 'beyond':
      return `${place} is beyond the end of the file, ${reason ?? ''}.`;
    case 'unknown':
      return `Nothing is known about ${place}: ${reason ?? 'git cannot say'}.`;
  }
}
