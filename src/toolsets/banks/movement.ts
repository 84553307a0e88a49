import type { Context } from '../../core/context.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Bank } from './bank.ts';
import { listed, namesWithin } from './budget.ts';
import { mentionsIn } from './mention.ts';

/** Commits and files are counted up to here. */
const limit = 100;

/** How many bytes the names of changed files and of doubtful documents may take. */
const budgets = { files: 2_000, doubtful: 1_000 };

/** State of the code in relation to a bank. */
export interface Movement {
  /** The part of the answer about the code. */
  readonly git: JsonObject;
  /** When the bank was last committed. */
  readonly since: string | undefined;
  /** How far the code has moved since then; undefined when the bank was never committed. */
  readonly distance: { readonly commits: number; readonly doubtful: readonly string[] } | undefined;
}

/** How far the code has moved since a bank was last written; undefined for global banks, which have no code. */
export async function movedSince(context: Context, bank: Bank): Promise<Movement | undefined> {
  if (bank.type === 'global') return undefined;
  const { branch, oid, problem } = await context.project.head();
  const change = await context.project.lastChange(`banks/${bank.folder}`);
  const drift = change && (await context.project.drift(change.oid, limit));
  const doubtful = drift ? mentioning(bank, drift.files) : [];
  const moved = drift && {
    commits: drift.commits,
    files: namesWithin(drift.files, budgets.files),
    files_changed: drift.files.length,
    truncated: drift.truncated,
  };
  return {
    git: {
      branch: branch ?? null,
      head: oid ?? null,
      ...(problem !== undefined && { problem }),
      moved: moved ?? null,
      ...listed('doubtful', doubtful, budgets.doubtful),
    },
    since: change?.at,
    distance: drift && { commits: drift.commits, doubtful },
  };
}

/** The documents that name a file which has changed: the first ones to distrust. */
function mentioning(bank: Bank, files: readonly string[]): string[] {
  const found = bank.files.filter(({ value }) => files.some(mentionsIn(value.body)));
  return found.map(({ file }) => file);
}
