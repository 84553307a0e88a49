import type { Context } from '../../core/declarations/context.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Bank } from './bank.ts';
import { listed, namesWithin } from './budget.ts';
import { mentionsIn } from './mention.ts';

/** Maximum number of commits and files that are counted. */
const limit = 100;

/** Maximum sizes of the lists of changed files and of doubtful documents, in bytes. */
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

/** Computes how far the code has moved since a bank was written; undefined for a global bank. */
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

/** Lists the documents that mention a changed file; they are the most likely to be out of date. */
function mentioning(bank: Bank, files: readonly string[]): string[] {
  const found = bank.files.filter(({ value }) => files.some(mentionsIn(value.body)));
  return found.map(({ file }) => file);
}
