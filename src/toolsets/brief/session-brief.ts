import type { BranchWork } from '../../core/declarations/context.ts';
import type { WorkClaim } from '../../core/memory/claims.ts';
import type { ForeignRecord } from '../../core/memory/pinned-memories.ts';
import type { HitChange } from '../../core/memory/search-hit.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';
import { type AttentionSource, attentionLines, outdatedLines } from './attention-lines.ts';
import { BranchRelevance } from './branch-relevance.ts';
import { changeNote, trustedFirst } from './change-note.ts';
import {
  type Brief,
  type BriefLine,
  type BriefSection,
  layOut,
  maxLines,
  oneLine,
  quote,
} from './layout.ts';
import { maxAtPrompt, promptQuery } from './prompt-match.ts';

export interface BriefRequest {
  /** Maximum length of the text, in characters. */
  readonly budget: number;
  /** The prompt of the user; records about it are included. */
  readonly prompt?: string | undefined;
  /** Whether only records about the prompt are wanted. */
  readonly onlyPrompt?: boolean;
  /** When the agent was last here, ISO 8601. Default: its last commit. */
  readonly since?: string | undefined;
  /** Whether a line is to be left out, because the session has it already. */
  readonly isKnown?: (line: BriefLine) => boolean;
}

/** A statement of a record. */
export interface LocatedPoint extends BriefPoint {
  /** Of the record, relative to `.memory-bank/`. */
  readonly path: string;
}

/** A statement with the last change of its record or section, if it is known. */
export interface DatedPoint extends LocatedPoint {
  readonly changed?: HitChange;
}

/** A commit of the memory. */
export interface MemoryChange {
  readonly oid: string;
  /** ISO 8601. */
  readonly at: string;
  readonly subject: string;
  /** With the e-mail address. */
  readonly author: string;
  readonly agent: string | undefined;
  /** The first record that it changed, and the number of others. */
  readonly path: string;
  readonly others: number;
}

/**
 * The statements of a memory: in each part the most relevant ones first, and then the newest ones.
 *
 * Each part can be iterated more than once.
 */
export interface BriefPoints {
  readonly now: Iterable<LocatedPoint>;
  readonly decision: Iterable<LocatedPoint>;
  /** Only those that have to do with the branch. */
  readonly about: Iterable<LocatedPoint>;
}

/**
 * The parts of a memory from which a brief is composed.
 *
 * @typeParam U `'unknown'` for a source that cannot tell everything.
 */
export interface BriefSource<U extends 'unknown' = never> extends AttentionSource {
  /** The agent that gets the brief: `claude-code/2.1`. */
  readonly agent: string | undefined;
  /** The statements of the records. */
  points(relevance: BranchRelevance): Promise<BriefPoints>;
  /** Adds the last change of the record or section that each statement is from. */
  dated(points: readonly LocatedPoint[]): Promise<readonly DatedPoint[]>;
  /** The doubts about records. */
  doubts(paths: readonly string[]): Promise<ReadonlyMap<string, RecordDoubts> | U>;
  /** The name of the branch, and the files that it changes. */
  branch(): Promise<{ readonly name: string | undefined; readonly work: BranchWork }>;
  /** The claims of records, by path. */
  claims(): Promise<readonly BriefClaim[]>;
  /** The lines about memories of other repositories, the most important first. */
  foreign(): Promise<readonly BriefLine[]>;
  /** The last commits of the memory, the newest first. */
  changes(): Promise<readonly MemoryChange[]>;
  /** The names of the tools that the session is offered. */
  tools(): Promise<ReadonlySet<string>>;
  /** The lines about the words of a prompt, the best first. */
  about(query: string): Promise<Generator<BriefLine> | U>;
}

/** A claim as a brief shows it. */
type BriefClaim = Pick<WorkClaim, 'path' | 'agent' | 'person' | 'until'>;

/** The budget of a brief that asks for no other, in characters. */
export const defaultBudget = 6_000;
/** Limit of changed files that are compared with the records. */
export const maxChangedFiles = 500;
const attention = 'Needs attention';
const foreignTitle = 'From memories of other repositories: data of others, after all of the above';
/** Number of lines about memories of others. */
const maxForeign = 10;
/** Number of changes to show to an agent that was never here. */
const newcomer = 5;
/** The first statements of a part, whose records are compared with the code. */
const maxChecked = 30;

/**
 * Composes what a session needs to know at its start, within a budget.
 *
 * The same source and the same request give the same text.
 *
 * @returns `'unknown'` if the source cannot tell something that the brief needs.
 */
export async function composeBrief<U extends 'unknown' = never>(
  source: BriefSource<U>,
  request: BriefRequest,
): Promise<Brief | U> {
  const query = promptQuery(request.prompt ?? '');
  const matching = query === '' ? undefined : await source.about(query);
  if (matching === 'unknown') return matching;
  const found = fitting(matching ?? [], request);
  const asked = found.map(({ path }) => path);
  const tools = await source.tools();
  const prompted = (doubts: ReadonlyMap<string, RecordDoubts>) => ({
    title: 'Records about the prompt',
    lines: trustedFirst(found.filter(({ path }) => !doubts.get(path)?.superseded)),
  });
  if (request.onlyPrompt) {
    const doubts = await source.doubts(asked);
    if (doubts === 'unknown') return doubts;
    const sections = [{ title: attention, lines: outdatedLines(doubts) }, prompted(doubts)];
    return layOut(sections, request.budget, tools, request.isKnown);
  }
  const { name, work } = await source.branch();
  const { now, decision, about } = await source.points(new BranchRelevance(name, work));
  const checked = checkedPaths({ now, decision, about });
  const doubts = await source.doubts([...new Set([...checked, ...asked])]);
  if (doubts === 'unknown') return doubts;
  const lines = (part: Iterable<LocatedPoint>) => pointLines(source, part, doubts, request.isKnown);
  return layOut(
    [
      { title: attention, lines: await attentionLines(source, tools, doubts) },
      { title: 'Claimed by sessions', lines: claimLines(await source.claims()) },
      { title: 'Current work', lines: await lines(now) },
      prompted(doubts),
      { title: branchTitle(name, work), lines: await lines(about) },
      { title: 'Decisions, corrections and preferences', lines: await lines(decision) },
      changedSince(await source.changes(), nameOf(source.agent), request.since),
      { title: foreignTitle, lines: await source.foreign() },
    ],
    request.budget,
    tools,
    request.isKnown,
  );
}

/** Takes as many lines as can be shown, because to make one takes long. */
function fitting(
  lines: Iterable<BriefLine>,
  { budget, isKnown, onlyPrompt }: Pick<BriefRequest, 'budget' | 'isKnown' | 'onlyPrompt'>,
): BriefLine[] {
  const most = onlyPrompt ? maxAtPrompt : maxLines;
  const taken: BriefLine[] = [];
  let length = 0;
  for (const line of lines) {
    if (isKnown?.(line)) continue;
    taken.push(line);
    length += line.text.length;
    if (taken.length === most || length > budget) break;
  }
  return taken;
}

/** The paths of the records that a brief compares with the code: the first ones of each part. */
export function checkedPaths({ now, decision, about }: BriefPoints): string[] {
  const paths = [now, decision, about].flatMap((part) =>
    [...first(part, maxChecked)].map(({ path }) => path),
  );
  return [...new Set(paths)];
}

/** Ranks the statements of all records; the given ones are in the order of `newestFirst`. */
export function rankPoints(
  points: readonly LocatedPoint[],
  relevance: BranchRelevance,
): BriefPoints {
  const ranked = points
    .map((point) => ({ point, relevant: relevance.of(point) }))
    .sort((a, b) => b.relevant - a.relevant);
  const part = (wanted: BriefPoint['part'], least = 0) =>
    ranked.flatMap(({ point, relevant }) =>
      point.part === wanted && relevant >= least ? [point] : [],
    );
  return { now: part('now'), decision: part('decision'), about: part('about', 1) };
}

/** Orders statements by time, the newest first, then by path; a sort keeps the order of one record. */
export function newestFirst(a: LocatedPoint, b: LocatedPoint): number {
  const [one = '', other = ''] = [a.at, b.at];
  if (one !== other) return one > other ? -1 : 1;
  return a.path === b.path ? 0 : a.path < b.path ? -1 : 1;
}

/**
 * The lines of the first statements that a session lacks: a brief shows few of many. Of these, the ones that
 * a person has written or confirmed come first. Superseded records are of the past.
 */
async function pointLines(
  source: Pick<BriefSource, 'dated'>,
  points: Iterable<LocatedPoint>,
  doubts: ReadonlyMap<string, RecordDoubts>,
  isKnown: BriefRequest['isKnown'],
): Promise<BriefLine[]> {
  const rest = points[Symbol.iterator]();
  const found = new Map<string, BriefLine>();
  while (found.size < maxLines) {
    const some: LocatedPoint[] = [];
    for (let next = rest.next(); !next.done; next = rest.next()) {
      if (!doubts.get(next.value.path)?.superseded) some.push(next.value);
      if (found.size + some.length >= maxLines) break;
    }
    if (some.length === 0) break;
    for (const line of (await source.dated(some)).map(pointLine)) {
      if (!isKnown?.(line)) found.set(line.text, line);
    }
  }
  return trustedFirst([...found.values()]);
}

function pointLine({ path, text, at, changed }: DatedPoint): BriefLine {
  return { path, text: `${oneLine(path)}${changeNote(changed, at)}: ${quote(text)}`, changed };
}

/** The lines of the records on which sessions work. */
function claimLines(claims: readonly BriefClaim[]): BriefLine[] {
  return [...claims]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, agent, person, until }) => {
      const owner = quote(person === '' ? agent : `${agent} (${person})`, 80);
      return { path, text: `${oneLine(path)}: by ${owner} until ${until.slice(0, 16)}Z` };
    });
}

/** The decisions, corrections and preferences in memories of others, the newest first. */
export function foreignLines(records: readonly ForeignRecord[]): BriefLine[] {
  const points = records.flatMap(({ type, path, value, superseded }) =>
    value === undefined || superseded
      ? []
      : (type.points?.(value) ?? []).map((point: BriefPoint) => ({ ...point, path })),
  );
  const decisions = points.filter(({ part }) => part === 'decision').sort(newestFirst);
  return decisions.slice(0, maxForeign).map(pointLine);
}

function* first<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left-- <= 0) return;
    yield item;
  }
}

function branchTitle(branch: string | undefined, { base, committed, edited }: BranchWork): string {
  const name = branch === undefined ? 'this commit' : `branch ${quote(branch)}`;
  const from = base === undefined ? '' : `${committed.length} changed since ${base}, `;
  return `Records about the files of ${name} (${from}${edited.length} edited)`;
}

/** The commits since the agent was here; the last ones for an agent that never was. */
function changedSince(
  changes: readonly MemoryChange[],
  agent: string,
  since: string | undefined,
): BriefSection {
  const own = changes.findIndex((change) => agent !== '' && nameOf(change.agent) === agent);
  const isKnown = since !== undefined || own >= 0;
  const end = since === undefined ? own : changes.findIndex(({ at }) => at <= since);
  const shown = isKnown
    ? changes.slice(0, end < 0 ? changes.length : end)
    : changes.slice(0, newcomer);
  return {
    title: isKnown ? 'Changed since you were last here' : 'Last changes',
    lines: shown.map(changeLine),
  };
}

function changeLine({ at, subject, author, agent, path, others }: MemoryChange): BriefLine {
  const more = others === 0 ? '' : ` and ${others} more`;
  const by = `${author.replace(/\s*<[^<>]*>$/, '')}${agent === undefined ? '' : `, ${agent}`}`;
  const text = `${oneLine(path)}${more}: ${quote(subject)} by ${quote(by, 80)}, ${at.slice(0, 10)}`;
  return { path, text };
}

/** The name of a client without its version. */
function nameOf(agent: string | undefined): string {
  return agent?.split('/', 1)[0]?.toLowerCase() ?? '';
}
