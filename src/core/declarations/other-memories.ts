import { reportHit } from '../memory/hit-form.ts';
import { type ForeignHit, maxForeign, reportForeign } from '../memory/pinned-memories.ts';
import type { SearchHit, SearchRequest } from '../memory/store.ts';
import { MemoryError } from '../values/error.ts';
import type { Context } from './context.ts';

/** The hits outside of the memory of the project. */
export interface OtherHits {
  /** In the memories of other repositories that the project pins. */
  readonly foreign: readonly ForeignHit[];
  /** In the memory of the user, such as global banks. */
  readonly personal: readonly SearchHit[];
}

/** The hits of a search of the memory of the project alone. */
export const noOthers: OtherHits = { foreign: [], personal: [] };

/** The note of every answer with text of the user. */
const personalNote = 'From the global banks of the user, which belong to all projects.';

/** Searches the memories next to that of the project, at most a few hits of each. */
export async function searchOthers(context: Context, request: SearchRequest): Promise<OtherHits> {
  const others = { ...request, limit: Math.min(request.limit ?? maxForeign, maxForeign) };
  const foreign = await context.memories.search(others);
  return { foreign, personal: await searchUser(context, others) };
}

/** Searches the memory of the user; without one that can be read, only the project is searched. */
async function searchUser(context: Context, request: SearchRequest): Promise<readonly SearchHit[]> {
  if (!(await mayReadUser(context))) return [];
  try {
    const { hits } = await (await context.home()).search(request);
    // The texts of all other subjects are not near enough by their meaning alone.
    return hits.filter(({ matches }) => matches.length > 0);
  } catch (error) {
    if (error instanceof MemoryError) return [];
    throw error;
  }
}

/**
 * Whether the caller is the user of this machine, or has the tools that read the banks: a person who has
 * signed in to a server of another one is an author of their own.
 */
async function mayReadUser(context: Context): Promise<boolean> {
  if (context.session.author === undefined) return true;
  return (await context.toolNames()).has('activate');
}

/** Makes the part of the answer of a search about other memories, or nothing without hits. */
export function reportOthers({ foreign, personal }: OtherHits) {
  return {
    ...reportForeign(foreign),
    ...(personal.length > 0 && {
      personal: { note: personalNote, results: personal.map(reportHit) },
    }),
  };
}
