import type { CommitLog, Found, RecordList, StateComparison } from './answers.ts';
import type { CopyBase, CopyRecords, CopyTexts } from './copy-parts.ts';
import { findInCopy } from './copy-search.ts';
import { decodePath } from './link-target.ts';
import type { WindowData } from './window-answers.ts';

/** A request that a copy cannot answer. */
export class NotInCopy extends Error {}

interface Parts {
  readonly base: CopyBase;
  /** The newest commits. */
  readonly log: CommitLog;
  readonly texts: CopyTexts;
  readonly [records: `records-${number}`]: CopyRecords;
}

const loaded = new Map<string, Promise<unknown>>();
const arrivals = new Map<string, (part: unknown) => void>();

/** Receives a part from its file. */
Reflect.set(globalThis, 'memoryPart', (name: string, part: unknown) => arrivals.get(name)?.(part));

/** Loads a part of the copy: from this document, or from a script, as a file may not read other files. */
function part<N extends keyof Parts & string>(name: N): Promise<Parts[N]> {
  let promise = loaded.get(name);
  if (!promise) {
    promise = new Promise<unknown>((resolve, reject) => {
      const inline = document.getElementById(`part-${name}`)?.textContent;
      if (inline) return resolve(JSON.parse(inline));
      arrivals.set(name, resolve);
      const script = document.createElement('script');
      script.src = `data/${name}.js`;
      script.onerror = () => reject(new NotInCopy(`The file data/${name}.js is missing.`));
      document.head.append(script);
    });
    loaded.set(name, promise);
  }
  // Each part was written with the type of its name.
  return promise as Promise<Parts[N]>;
}

/** Answers a request from the copy as the server answers it. */
export async function answerFromCopy(address: string): Promise<unknown> {
  const { pathname, searchParams: query } = new URL(address, 'http://memory/');
  const [, name = '', ...rest] = decodePath(pathname.slice(1)).split('/');
  const base = await part('base');
  const path = rest.join('/') || query.get('path') || '';
  switch (name) {
    case 'window': {
      const { project, id, branch, head, commit, records: kinds } = base.home;
      return { project, id, branch, head, commit, kinds } satisfies WindowData;
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
    case 'record':
    case 'blame':
      return (await ofRecord(path))?.[name] ?? missing(`There is no record "${path}".`);
    case 'search':
      return findInCopy(await part('texts'), query) satisfies Found;
    case 'log':
      return history(base, path, query);
    case 'compare':
      return compared(base, path, query);
    default:
      return missing('A copy can only be read.');
  }
}

function missing(message: string): never {
  throw new NotInCopy(message);
}

async function ofRecord(path: string): Promise<CopyRecords[string] | undefined> {
  const { starts } = await part('base');
  const number = starts.findLastIndex((start) => start <= path);
  if (number < 0) return undefined;
  const records = await part(`records-${number}`);
  return Object.hasOwn(records, path) ? records[path] : undefined;
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
  const own = path === '' ? undefined : await ofRecord(path);
  if (own) return own.log;
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
  const changes = (await ofRecord(path))?.changes[to];
  if (!changes) return missing('The copy does not have this difference.');
  return { changes: [...changes], counts: { added: 0, changed: 0, moved: 0, removed: 0 } };
}
