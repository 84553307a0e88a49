import { homedir } from 'node:os';
import { copiedMeaning } from '../../app/exchange/copied-meaning.ts';
import type { SearchedRecord } from '../../app/exchange/copied-search.ts';
import { CopyCleaning } from '../../app/exchange/copy-cleaning.ts';
import { recordText } from '../../app/project/record-text.ts';
import { knownProject } from '../../app/project/settings-problem.ts';
import type { Context } from '../../core/declarations/context.ts';
import { namedSections } from '../../core/markdown/section-path.ts';
import type { SearchHit } from '../../core/memory/search-hit.ts';
import { formatAddress } from '../../core/names/record-address.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import { searchedFields } from '../../core/record/searched-fields.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { CopyBase, CopyLinks } from '../copy/copy-parts.ts';
import {
  type PackedRecord,
  packRecord,
  packStatesOf,
  type RecordInCopy,
  type StatesInCopy,
} from '../copy/record-in-copy.ts';
import type { CommitLog, RecordList } from '../page/answers.ts';
import { entryData } from './answer-data.ts';
import { board } from './board-operations.ts';
import { concerns, evidence, withoutCode } from './evidence-operations.ts';
import { graph, nodeOf } from './graph-operation.ts';
import { activity, blame, branches, compare, modes } from './history-operations.ts';
import { home } from './home-operation.ts';
import { news } from './news-operation.ts';
import type { Catalogue, MemoryOperation } from './operation.ts';
import { pastStates } from './past-states.ts';
import { lastCommit, recordAnswer } from './record-answer.ts';
import { RecordLinks } from './record-links.ts';
import { records as recordList } from './record-operations.ts';
import { type KnownRecord, readState } from './record-source.ts';
import type { StatesOfRecord } from './site-states.ts';

/** Maximum number of commits in a copy, and of the states of one record. */
const maxCommits = 2000;
const maxStates = 200;
/** Number of records in one part. */
const partSize = 100;

/** The parts of a copy by name, as `CopyParts` has them, and what will be divided into more of them. */
export interface SiteParts {
  readonly parts: Map<string, unknown>;
  readonly states: readonly StatesOfRecord[];
}

/** Returns the parts of a copy. */
export async function copyParts(
  context: Context,
  catalogue: Catalogue,
  others: readonly string[],
): Promise<SiteParts> {
  const { types, toolsets } = catalogue;
  // The answer of each operation has the type that the page knows it by.
  const ask = async <T>(operation: MemoryOperation, args: JsonObject): Promise<T> =>
    (await operation.run(context, args, catalogue)) as T;
  const state = await readState(context, types, undefined);
  const links = new RecordLinks(state.records);
  const log = await commitsOf(context, maxCommits);
  const all = [
    ...state.records.map(({ type, path, value }) => ({ type, path, value, damaged: undefined })),
    ...state.damaged.flatMap(({ path, error }) => {
      const type = types.find((one) => one.owns(path));
      return type ? [{ type, path, value: undefined, damaged: error.text }] : [];
    }),
  ];
  const gone = new Set(log.entries.flatMap(({ changes }) => changes.map(({ path }) => path)));
  for (const { path } of all) gone.delete(path);
  const paths = [...all.map(({ path }) => path), ...gone].sort((a, b) => (a < b ? -1 : 1));
  const byPath = new Map(all.map((one) => [one.path, one]));
  const { root, synonyms = [] } = await knownProject(context);
  const records = new Map<string, RecordInCopy & { readonly states: StatesInCopy }>();
  for (const [i, path] of paths.entries()) {
    if (i % partSize === 0) {
      context.progress(i, paths.length, 'Copying records');
      context.signal.throwIfAborted();
    }
    const commits = await commitsOf(context, maxStates, path);
    const known = byPath.get(path);
    const entry = { log: commits, states: await pastStates(context, path, commits) };
    if (!known) {
      records.set(path, entry);
      continue;
    }
    const text = await recordText(context, path);
    const last = await lastCommit(context, path);
    const record = recordAnswer({ ...known, text, last }, path, links);
    const written = last && {
      blame: await ask<RecordInCopy['blame'] & {}>(blame, { path }),
    };
    const { type, value } = known;
    const searched = value && (await searchedRecord(context, path, searchedFields(type, value)));
    records.set(path, { record, ...written, ...entry, ...(searched && { searched }) });
  }
  const list = await branchesOf(ask, others);
  const base: CopyBase = {
    home: homeOf(await ask<CopyBase['home']>(home, {})),
    graph: await ask(graph, {}),
    board: withoutClaims(await ask<CopyBase['board']>(board, {})),
    ...list,
    modes: await ask(modes, {}),
    conflicts: { conflicts: [] },
    activity: await ask(activity, {}),
    news: await ask(news, {}),
    evidence: evidenceOf(await ask<CopyBase['evidence']>(evidence, {})),
    concerns: await ask(concerns, {}),
    records: await listOf(ask),
    tools: Object.fromEntries(
      toolsets.flatMap(({ name, tools }) => tools.map((tool) => [tool.name, name])),
    ),
    synonyms,
    starts: paths.filter((_, i) => i % partSize === 0),
  };
  const cleaning = cleaningOf(root, [base, log, [...records.values()]], records);
  const parts = new Map<string, unknown>([
    ['base', cleaning.clean(base)],
    ['log', cleaning.clean(log)],
    ['links', cleaning.clean(linksOf(links, state.records))],
  ]);
  const cleaned = [...records].map(([path, record]) => [path, cleaning.clean(record)] as const);
  const texts = cleaned.flatMap(([path, { searched }]): [string, SearchFields][] =>
    searched ? [[path, searched.fields]] : [],
  );
  const learned = await context.store.states.learnedWords();
  const { words, vectors } = copiedMeaning(new Map(texts), learned);
  parts.set('words', words).set('vectors', vectors);
  const packedStates: StatesOfRecord[] = [];
  for (const number of base.starts.keys()) {
    const part: Record<string, PackedRecord> = {};
    const some = cleaned.slice(number * partSize, (number + 1) * partSize);
    for (const [path, { states, ...record }] of some) {
      part[path] = packRecord(record);
      packedStates.push({ number, path, log: record.log, states: packStatesOf(record, states) });
    }
    parts.set(`records-${number}`, part);
  }
  return { parts, states: packedStates };
}

/** Returns the texts of a record that a search finds, and what is known for and against them. */
async function searchedRecord(
  { store }: Context,
  path: string,
  fields: SearchFields,
): Promise<SearchedRecord> {
  const { markdown, body = '' } = fields;
  const sections = markdown ? namedSections(body).map((section) => section.path) : [];
  const places = [{ path }, ...sections.map((section) => ({ path, section }))];
  const [whole, ...others] = await store.dated<HitPlace>(places);
  const changed = whole?.changed;
  const own = others.flatMap(({ section = '', changed: one }) =>
    one && JSON.stringify(one) !== JSON.stringify(changed) ? [[section, one] as const] : [],
  );
  const doubts = [...(await store.doubts(places.map(formatAddress)))].flatMap(
    ([address, { reasons, status, successor }]) =>
      reasons.length === 0 && status === undefined && successor === undefined
        ? []
        : [[address, { reasons, ...(status && { status }), ...(successor && { successor }) }]],
  );
  return {
    fields,
    ...(changed && { changed }),
    sections: Object.fromEntries(own),
    doubts: Object.fromEntries(doubts),
  };
}

type HitPlace = Pick<SearchHit, 'path' | 'section'>;

/** Returns which record names which other one. */
function linksOf(links: RecordLinks, records: readonly KnownRecord[]): CopyLinks {
  const places = new Map(records.map((record, at) => [record, at]));
  const edges = records.flatMap((record, at) =>
    links.from(record).flatMap((other): [number, number][] => {
      const to = places.get(other);
      return to === undefined ? [] : [[at, to]];
    }),
  );
  return { nodes: records.map(nodeOf), edges };
}

/** Finds the credentials in what is copied, also in old states and in messages of commits. */
function cleaningOf(
  root: string,
  all: readonly unknown[],
  records: ReadonlyMap<string, RecordInCopy & { readonly states: StatesInCopy }>,
): CopyCleaning {
  const cleaning = new CopyCleaning([
    [root, '.'],
    [homedir(), '~'],
  ]);
  cleaning.look(all);
  for (const { record, searched, states } of records.values()) {
    const { title = '', body = '' } = searched?.fields ?? {};
    cleaning.lookAt(title, body.trim());
    for (const [name, value] of Object.entries(record?.fields ?? {})) cleaning.lookAt(name, value);
    for (const state of states) {
      if (!state) continue;
      cleaning.lookAt(state.title, state.body?.trim());
      for (const [name, field] of Object.entries(state.value)) {
        cleaning.lookAt(state.title, field);
        cleaning.lookAt(name, field);
      }
    }
  }
  return cleaning;
}

type Ask = <T>(operation: MemoryOperation, args: JsonObject) => Promise<T>;

async function listOf(ask: Ask): Promise<RecordList['records']> {
  const all: RecordList['records'] = [];
  for (;;) {
    const { records: next, total } = await ask<RecordList>(recordList, {
      skip: all.length,
      limit: 1000,
    });
    all.push(...next);
    if (next.length === 0 || all.length >= total) return all;
  }
}

/** The current branch, and the other ones that were asked for: any other one may be meant for nobody. */
async function branchesOf(
  ask: Ask,
  others: readonly string[],
): Promise<Pick<CopyBase, 'branches' | 'compared'>> {
  const all = await ask<CopyBase['branches']>(branches, { limit: 500 });
  const missing = others.find((name) => all.branches.every((branch) => branch.name !== name));
  if (missing !== undefined) {
    throw new MemoryError('not_found', `There is no branch ${JSON.stringify(missing)}.`, {
      hint: '"memory-bank branches" lists them.',
    });
  }
  const shown = all.branches.filter(({ name, current }) => current || others.includes(name));
  const compared: Record<string, CopyBase['compared'][string]> = {};
  for (const { name, current, changes } of shown) {
    if (current || changes === 0) continue;
    compared[name] = await ask(compare, { from: 'HEAD', to: name, since: 'fork', limit: 500 });
  }
  return { branches: { branches: shown, total: shown.length }, compared };
}

/** Returns the newest commits of a record or of all; a memory that was never committed has none. */
async function commitsOf({ history }: Context, limit: number, path?: string): Promise<CommitLog> {
  try {
    const log = await history.log({ path, revision: 'HEAD', skip: 0, limit });
    return { ...log, entries: log.entries.map(entryData) };
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'not_found') throw error;
    return { entries: [], total: 0, shallow: false };
  }
}

/**
 * Returns the home page without what is not a part of the memory: changes that nobody has accepted, and
 * the commits that the person of this clone has not reviewed, which no reader of a copy can mark.
 */
function homeOf({ unreviewed: _, ...home }: CopyBase['home']): CopyBase['home'] {
  return { ...home, waiting: [] };
}

/** Returns the board without the claims, which are over before anybody reads a copy. */
function withoutClaims({ tasks, ...board }: CopyBase['board']): CopyBase['board'] {
  return { ...board, tasks: tasks.map(({ claim: _, ...task }) => task) };
}

/** Returns the findings without the code that they are about. */
function evidenceOf({ findings, stale }: CopyBase['evidence']): CopyBase['evidence'] {
  return { findings, stale: stale.map(withoutCode) };
}
