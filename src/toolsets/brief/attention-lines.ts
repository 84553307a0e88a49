import { findingCounts, type LastCheck } from '../../core/memory/last-check.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import type { ErrorCode } from '../../core/values/error.ts';
import { type BriefLine, oneLine, quote } from './layout.ts';

/** A record that cannot be read, does not count, or is a copy. */
export interface DamagedRecord {
  readonly path: string;
  readonly code: ErrorCode;
  /** The file of the same key that counts instead; undefined if that is not the reason. */
  readonly twin?: string;
  /** The file of which it is a copy by its name, if it can be read and counts as well. */
  readonly original?: string;
}

/** The parts of a memory of which the lines that want attention are made. */
export interface AttentionSource {
  /** The records that cannot be read, do not count, or are copies. */
  damaged(): Promise<readonly DamagedRecord[]>;
  /** Whether the settings cannot be used, so that nothing is written. */
  isStopped(): Promise<boolean>;
  /** The outcome of a check of the commit that is checked out, if that was the last check. */
  lastCheck(): Promise<LastCheck | undefined>;
  /** The records that a merge of git has left in conflict, by path. */
  conflicts(): Promise<readonly string[]>;
  /** Why the last automatic exchange with the remote failed; undefined if it did not. */
  syncProblem(): Promise<string | undefined>;
}

/** The lines about records that cannot be read, are in conflict, or may be out of date. */
export async function attentionLines(
  source: AttentionSource,
  tools: ReadonlySet<string>,
  doubts: ReadonlyMap<string, RecordDoubts>,
): Promise<BriefLine[]> {
  const merge = tools.has('resolve_conflicts') ? 'resolve_conflicts' : '"memory-bank resolve"';
  const unmerged = await source.conflicts();
  const damaged = await source.damaged();
  const unreadable = new Map(
    damaged.map((one) => {
      return [one.path, damageText(one, unmerged.includes(one.path) ? merge : undefined)];
    }),
  );
  const conflicts = unmerged.filter((path) => !unreadable.has(path));
  const problem = await source.syncProblem();
  const notSent =
    problem === undefined
      ? []
      : [{ path: 'sync', text: `the remote does not have the last changes: ${quote(problem)}` }];
  return [
    ...checkLines(damaged, await source.isStopped(), await source.lastCheck()),
    ...notSent,
    ...[...unreadable].map(([path, text]) => ({ path, text })),
    ...conflicts.map((path) => ({ path, text: `in conflict after a merge: ${merge} merges it` })),
  ]
    .map(({ path, text }) => ({ path, text: `${oneLine(path)}: ${text}` }))
    .concat(outdatedLines(doubts));
}

/** Sums up those findings of a check that are known without one, and the counts of the last one. */
function checkLines(
  damaged: readonly DamagedRecord[],
  isStopped: boolean,
  last: LastCheck | undefined,
): BriefLine[] {
  const counts = new Map<string, number>();
  const count = (words: string) => counts.set(words, (counts.get(words) ?? 0) + 1);
  for (const { code, twin, original } of damaged) {
    if (twin !== undefined) count('with the key of another one');
    else if (original !== undefined) count('a copy by its name');
    else count(code === 'conflict' ? 'with conflict markers' : 'not readable');
  }
  const files = [...counts].map(([words, number]) => `${number} ${words}`);
  const parts = [
    ...(isStopped ? ['the settings in config.yaml cannot be used, so nothing is written'] : []),
    ...(files.length > 0 ? [`records: ${files.join(', ')}`] : []),
  ];
  const found = last ? findingCounts(last) : '';
  if (found !== '') parts.push(`the last check of this commit found ${found}`);
  if (parts.length === 0) return [];
  return [{ path: 'check', text: `${parts.join('; ')}: run "memory-bank check"` }];
}

/** @param merge names what merges a record that git has as unmerged; undefined for any other one. */
function damageText({ path, code, twin, original }: DamagedRecord, merge?: string): string {
  const advice = 'take over what that lacks, and remove this one';
  if (twin !== undefined) return `does not count: ${oneLine(twin)} has the same key; ${advice}`;
  if (original !== undefined) {
    return `a copy of ${oneLine(original)} by its name, not in git; ${advice}`;
  }
  if (code !== 'conflict') return `cannot be read (${code})`;
  const help = merge === undefined ? editing(path) : `${merge} merges it`;
  return `cannot be read (conflict: ${help})`;
}

/** Names the command that opens a record whose markers are committed, which no merge removes. */
function editing(path: string): string {
  return `"memory-bank edit ${oneLine(path)}" opens it to remove the markers`;
}

/** The lines about records that may be out of date. */
export function outdatedLines(doubts: ReadonlyMap<string, RecordDoubts>): BriefLine[] {
  const outdated = [...doubts].filter(([, one]) => !one.superseded && one.reasons.length > 0);
  return outdated.map(([path, { reasons }]) => {
    return { path, text: `${oneLine(path)}: may be out of date: ${quote(reasons.join(' '))}` };
  });
}
