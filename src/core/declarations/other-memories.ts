import { reportHit } from '../memory/hit-form.ts';
import { type ForeignHit, maxForeign, reportForeign } from '../memory/pinned-memories.ts';
import type { FileHit, SearchHit, SearchRequest } from '../memory/search-hit.ts';
import type { RecordText } from '../memory/store.ts';
import { MemoryError } from '../values/error.ts';
import type { Context } from './context.ts';

/** The hits outside of the memory of the project. */
export interface OtherHits {
  /** In the memories of other repositories that the project pins. */
  readonly foreign: readonly ForeignHit[];
  /** In the files of the project that records name as their plans. */
  readonly plans: readonly FileHit[];
  /** In the memory of the user, such as global banks. */
  readonly personal: readonly SearchHit[];
}

/** The hits of a search of the memory of the project alone. */
export const noOthers: OtherHits = { foreign: [], plans: [], personal: [] };

/** The note of every answer with text of the user. */
const personalNote = 'From the global banks of the user, which belong to all projects.';

/** Searches the memories next to that of the project, at most a few hits of each. */
export async function searchOthers(context: Context, request: SearchRequest): Promise<OtherHits> {
  const others = { ...request, limit: Math.min(request.limit ?? maxForeign, maxForeign) };
  const foreign = await context.memories.search(others);
  const plans = await searchPlans(context, others);
  return { foreign, plans, personal: await searchUser(context, others) };
}

/** Limits of the files that a search reads, and of each of them, in bytes. */
const maxFiles = 20;
const maxFileBytes = 256 * 1024;

/** Searches the markdown files that belong to records, as the work tree has them. */
async function searchPlans(context: Context, request: SearchRequest): Promise<readonly FileHit[]> {
  const files = new Map<string, RecordText>();
  for (const type of request.types ?? []) {
    const filesOf = type.files;
    if (!filesOf) continue;
    const { records } = await context.store.list<object>(type);
    for (const record of records) {
      for (const file of filesOf(record.value)) {
        if (files.has(file) || files.size === maxFiles || !/\.(?:md|markdown)$/i.test(file))
          continue;
        const text = await readFile(context, file);
        if (text !== undefined) files.set(file, { file, text, type, record });
      }
    }
  }
  return files.size === 0 ? [] : context.store.searchFiles([...files.values()], request);
}

/** The text of a file; undefined for a path that is not of a file of the project. */
async function readFile({ project }: Context, file: string): Promise<string | undefined> {
  try {
    return await project.readFile(file.replace(/^\.\//, ''), maxFileBytes);
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

/** Searches the memory of the user; without one that can be read, only the project is searched. */
async function searchUser(context: Context, request: SearchRequest): Promise<readonly SearchHit[]> {
  // The banks of the user are read only where their own tools would read them.
  if (!(await context.toolNames()).has('activate')) return [];
  try {
    const home = await context.home();
    if ((await home.states.count()) === 0) return [];
    const { hits } = await home.search(request);
    // The texts of all other subjects are not near enough by their meaning alone.
    return hits.filter(({ matches }) => matches.length > 0);
  } catch (error) {
    if (error instanceof MemoryError) return [];
    throw error;
  }
}

/** Makes the part of the answer of a search about other memories, or nothing without hits. */
export function reportOthers({ foreign, plans, personal }: OtherHits) {
  return {
    ...reportForeign(foreign),
    ...(plans.length > 0 && {
      plans: plans.map((hit) => ({ file: hit.file, ...reportHit(hit) })),
    }),
    ...(personal.length > 0 && {
      personal: { note: personalNote, results: personal.map(reportHit) },
    }),
  };
}
