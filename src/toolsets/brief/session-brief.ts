import type { BranchWork, Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { LogEntry } from '../../core/history.ts';
import type { AnyRecordType, BriefPoint } from '../../core/record-type.ts';
import type { Damaged, SearchHit } from '../../core/store.ts';
import { BranchRelevance } from './branch-relevance.ts';
import { type Brief, type BriefLine, type BriefSection, layOut, oneLine, quote } from './layout.ts';
import { isAbout, promptQuery } from './prompt-match.ts';

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

/** Limit of changed files that are compared with the records. */
const maxFiles = 500;
/** Limit of commits that are read and of those that are shown. */
const maxLog = 50;
/** Number of changes to show to an agent that was never here. */
const newcomer = 5;

interface LocatedPoint extends BriefPoint {
  readonly path: string;
}

/**
 * Composes what a session needs to know at its start, within a budget.
 *
 * It reads listings, the history and, for a prompt, the search index. The same state of the project
 * and the same request give the same text.
 */
export async function composeBrief(
  context: Context,
  types: readonly AnyRecordType[],
  request: BriefRequest,
): Promise<Brief> {
  if (!(await context.project.info()).initialized) return { text: '', lines: [] };
  const prompted = await aboutPrompt(context, types, request.prompt);
  if (request.onlyPrompt) return layOut([prompted], request.budget, request.isKnown);
  const { points, damaged } = await allPoints(context, types);
  const [work, { branch }] = await Promise.all([
    context.project.work(maxFiles),
    context.project.head(),
  ]);
  const relevance = new BranchRelevance(branch, work);
  const ranked = points
    .map((point) => ({ point, relevant: relevance.of(point) }))
    .sort((a, b) => b.relevant - a.relevant || newer(a.point, b.point));
  const part = (name: BriefPoint['part']) => ranked.filter(({ point }) => point.part === name);
  const onBranch = part('about').filter(({ relevant }) => relevant > 0);
  const lines = (list: typeof ranked) => list.map(({ point }) => pointLine(point));
  return layOut(
    [
      { title: 'Needs attention', lines: damaged.map(damagedLine) },
      { title: 'Current work', lines: lines(part('now')) },
      prompted,
      { title: branchTitle(branch, work), lines: lines(onBranch) },
      { title: 'Decisions, corrections and preferences', lines: lines(part('decision')) },
      await changes(context, request.since),
    ],
    request.budget,
    request.isKnown,
  );
}

async function allPoints(context: Context, types: readonly AnyRecordType[]) {
  const points: LocatedPoint[] = [];
  const damaged: Damaged[] = [];
  for (const type of types) {
    if (!type.points) continue;
    const listing = await context.store.list<object>(type);
    damaged.push(...listing.damaged);
    for (const { path, value } of listing.records) {
      for (const point of type.points(value)) points.push({ ...point, path });
    }
  }
  return { points, damaged };
}

/** Orders points by time, the newest first, then by path; the sort keeps the order of one record. */
function newer(a: LocatedPoint, b: LocatedPoint): number {
  const [one = '', other = ''] = [a.at, b.at];
  if (one !== other) return one > other ? -1 : 1;
  return a.path === b.path ? 0 : a.path < b.path ? -1 : 1;
}

function pointLine({ path, text, at }: LocatedPoint) {
  const date = at === undefined ? '' : ` (${at.slice(0, 10)})`;
  return { path, text: `${oneLine(path)}${date}: ${quote(text)}` };
}

function damagedLine({ path, error }: Damaged) {
  return { path, text: `${oneLine(path)}: cannot be read (${error.code})` };
}

function branchTitle(branch: string | undefined, { base, committed, edited }: BranchWork): string {
  const name = branch === undefined ? 'this commit' : `branch ${quote(branch)}`;
  const from = base === undefined ? '' : `${committed.length} changed since ${base}, `;
  return `Records about the files of ${name} (${from}${edited.length} edited)`;
}

/** Records about the prompt; empty without a prompt, and for one that the memory knows nothing about. */
async function aboutPrompt(
  { store }: Context,
  types: readonly AnyRecordType[],
  prompt: string | undefined,
): Promise<BriefSection> {
  const title = 'Records about the prompt';
  const query = promptQuery(prompt ?? '');
  if (query === '') return { title, lines: [] };
  const { hits } = await store.search({ query, types, limit: 30 });
  return { title, lines: hits.filter((hit) => isAbout(hit, query)).map(hitLine) };
}

function hitLine({ type, path, value, snippet }: SearchHit) {
  const { title } = type.search(value);
  const text = snippet.includes(title) ? snippet : `${title}: ${snippet}`;
  return { path, text: `${oneLine(path)}: ${quote(text)}` };
}

/** The commits since the agent was here; the last ones for an agent that never was. */
async function changes(context: Context, since: string | undefined): Promise<BriefSection> {
  const entries = await newestChanges(context);
  const agent = nameOf(context.session.agent);
  const own = entries.findIndex(({ commit }) => agent !== '' && nameOf(commit.agent) === agent);
  const known = since === undefined ? own >= 0 : true;
  const end = since === undefined ? own : entries.findIndex(({ commit }) => commit.at <= since);
  const shown = known
    ? entries.slice(0, end < 0 ? entries.length : end)
    : entries.slice(0, newcomer);
  return {
    title: known ? 'Changed since you were last here' : 'Last changes',
    lines: shown.map(changeLine),
  };
}

/** The history, newest first; empty where there is none or it cannot be read. */
async function newestChanges({ history }: Context): Promise<readonly LogEntry[]> {
  try {
    return (await history.log({ revision: 'HEAD', limit: maxLog, skip: 0 })).entries;
  } catch (error) {
    if (error instanceof MemoryError && error.code !== 'cancelled') return [];
    throw error;
  }
}

function changeLine({ commit, changes }: LogEntry) {
  const [first, ...others] = changes;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const path = first?.path ?? '';
  const author = commit.author.replace(/\s*<[^<>]*>$/, '');
  const agent = commit.agent === undefined ? '' : `, ${commit.agent}`;
  const who = quote(`${author}${agent}`, 80);
  const day = commit.at.slice(0, 10);
  return { path, text: `${oneLine(path)}${more}: ${quote(commit.subject)} by ${who}, ${day}` };
}

/** The name of a client without its version. */
function nameOf(agent: string | undefined): string {
  return agent?.split('/', 1)[0]?.toLowerCase() ?? '';
}
