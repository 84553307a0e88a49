import type { CommitLog, GraphData, RecordList, StateComparison } from '../page/answers.ts';
import { decodePath } from '../page/link-target.ts';
import { RefusedRequest } from '../page/refused-request.ts';
import type { WindowData } from '../page/window-answers.ts';
import { aroundRecord } from './around-record.ts';
import type { CopyBase } from './copy-parts.ts';
import { part } from './copy-parts-loader.ts';
import { CopySearch } from './copy-search.ts';
import { PastStates } from './past-in-copy.ts';
import { type RecordInCopy, unpackRecord } from './record-in-copy.ts';

/** Answers a request from the copy as the server answers it. */
export async function answerFromCopy(address: string): Promise<unknown> {
  const { pathname, searchParams: query } = new URL(address, 'http://memory/');
  const [, name = '', ...rest] = decodePath(pathname.slice(1)).split('/');
  const base = await part('base');
  const path = rest.join('/') || query.get('path') || '';
  switch (name) {
    case 'window': {
      return windowData(base, query.get('at'));
    }
    case 'home':
    case 'graph':
    case 'board':
    case 'branches':
    case 'modes':
    case 'conflicts':
    case 'activity':
    case 'news':
    case 'concerns':
      return base[name];
    case 'evidence': {
      const { findings, stale } = base.evidence;
      const isOf = (one: { path: string }) => path === '' || one.path === path;
      return { findings: findings.filter(isOf), stale: stale.filter(isOf) };
    }
    case 'records':
      return listed(base.records, query);
    case 'record': {
      const at = query.get('at');
      if (at !== null) return ((await pastOf(path)) ?? noRecord(path)).read(at);
      return (await ofRecord(path))?.record ?? noRecord(path);
    }
    case 'blame':
      return (await ofRecord(path))?.blame ?? noRecord(path);
    case 'search':
      search ??= searchOf(base);
      return (await search).find(query);
    case 'around':
      return around(path);
    case 'log':
      return history(base, path, query);
    case 'compare':
      return compared(base, path, query);
    default:
      return missing('A copy can only be read.');
  }
}

function missing(message: string): never {
  throw new RefusedRequest(404, message);
}

function noRecord(path: string): never {
  return missing(`There is no record "${path}".`);
}

/** Names the project, and the commit of the state that the page shows. */
async function windowData({ home }: CopyBase, at: string | null): Promise<WindowData> {
  const { project, id, branch, head, records: kinds } = home;
  const commit = at === null ? home.commit : await commitAt(at);
  return { project, id, branch, head, commit, kinds };
}

async function commitAt(id: string): Promise<WindowData['commit']> {
  const { entries } = await part('log');
  return entries.find(({ commit }) => commit.oid.startsWith(id))?.commit;
}

async function pastOf(path: string): Promise<PastStates | undefined> {
  const own = await ofRecord(path);
  if (!own) return undefined;
  const states = await part(`states-${await numberOf(path)}`);
  return new PastStates(path, own, Object.hasOwn(states, path) ? (states[path] ?? []) : []);
}

/** The number of the part that a record is in; -1 for none. */
async function numberOf(path: string): Promise<number> {
  const { starts } = await part('base');
  return starts.findLastIndex((start) => start <= path);
}

async function ofRecord(path: string): Promise<RecordInCopy | undefined> {
  const number = await numberOf(path);
  if (number < 0) return undefined;
  const records = await part(`records-${number}`);
  const packed = Object.hasOwn(records, path) ? records[path] : undefined;
  return packed && unpackRecord(packed);
}

async function around(path: string): Promise<GraphData> {
  const { nodes, edges } = await part('links');
  const centre = nodes.findIndex((node) => node.path === path);
  if (centre < 0) return missing(`There is no record "${path}".`);
  const next = (side: 0 | 1) => (at: number) =>
    edges.flatMap((edge) => (edge[side] === at ? [edge[side === 0 ? 1 : 0]] : []));
  return aroundRecord(
    centre,
    next(0),
    next(1),
    (at) => nodes[at] ?? missing('A link leads nowhere.'),
  );
}

let search: Promise<CopySearch> | undefined;

/** Reads all records once, and makes their index. */
async function searchOf(base: CopyBase): Promise<CopySearch> {
  const numbers = [...base.starts.keys()];
  const parts = await Promise.all(numbers.map((number) => part(`records-${number}`)));
  const [words, vectors] = await Promise.all([part('words'), part('vectors')]);
  return CopySearch.of(parts, base, { words, vectors });
}

function listed(records: RecordList['records'], query: URLSearchParams): RecordList {
  const [toolset, type] = [query.get('toolset'), query.get('type')];
  const skip = Number(query.get('skip') ?? 0);
  const found = records.filter(
    (one) => one.toolset === (toolset ?? one.toolset) && one.type === (type ?? one.type),
  );
  const limit = Number(query.get('limit') ?? 200);
  return { records: found.slice(skip, skip + limit), total: found.length };
}

async function history(base: CopyBase, path: string, query: URLSearchParams): Promise<CommitLog> {
  const past = path === '' ? undefined : await pastOf(path);
  if (past) return past.log;
  const { entries, total, shallow } = await part('log');
  const [agent, toolset] = [query.get('agent'), query.get('toolset')];
  const [after, before] = [query.get('after') ?? '', query.get('before') ?? '9999-12-31'];
  const folder = `${path.replace(/\/$/, '')}/`;
  const found = entries.filter(({ commit, changes }) => {
    const day = commit.at.slice(0, 10);
    const name = commit.agent?.replace(/\/.*/, '') ?? commit.author;
    return (
      (agent === null || name === agent) &&
      (toolset === null || base.tools[commit.tool ?? ''] === toolset) &&
      day >= after &&
      day <= before &&
      (path === '' || changes.some((one) => one.path.startsWith(folder)))
    );
  });
  const skip = Number(query.get('skip') ?? 0);
  const limit = Number(query.get('limit') ?? 50);
  return {
    entries: found.slice(skip, skip + limit),
    total: found.length,
    shallow,
    ...(entries.length < total && { searched: entries.length }),
  };
}

async function compared(
  base: CopyBase,
  path: string,
  query: URLSearchParams,
): Promise<Pick<StateComparison, 'changes' | 'counts'>> {
  const to = query.get('to') ?? '';
  if (path === '') {
    return base.compared[to] ?? missing(`The copy does not have the branch "${to}".`);
  }
  const changes = ((await pastOf(path)) ?? noRecord(path)).compare(query.get('from'), to);
  return { changes, counts: { added: 0, changed: 0, moved: 0, removed: 0 } };
}
