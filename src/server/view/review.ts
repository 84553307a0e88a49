import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { isOfAgent } from '../../core/memory/author-name.ts';
import type { CommitInfo, LogEntry } from '../../core/memory/commit-log.ts';
import { isObject } from '../../core/values/json.ts';
import { type Home, reviewedShape } from '../page/answers.ts';
import { countMakers } from './answer-data.ts';
import { findCommit } from './news-operation.ts';
import { defineMemoryOperation } from './operation.ts';

/** The name under which this clone keeps the last commit that a person has reviewed. */
const stateKey = 'reviewed-commit';

export const reviewed = defineMemoryOperation({
  method: 'post',
  path: '/memory/reviewed',
  id: 'mark_reviewed',
  summary: 'Marks the commits up to one as reviewed, in this clone only; nothing is committed.',
  effect: 'read',
  input: z.object({ commit: z.string().min(1).max(256) }),
  answer: reviewedShape,
  async run({ store, history }, { commit }) {
    const { oid, at } = (await history.at(commit)).commit;
    await store.local.set(stateKey, { commit: oid, at });
    return { commit: oid, at };
  },
});

/**
 * Returns the newest commits of agents that no person has accepted or marked as reviewed.
 *
 * @param isCut whether the memory has older commits than the given ones.
 */
export async function findUnreviewed(
  context: Context,
  entries: readonly LogEntry[],
  isCut: boolean,
): Promise<Home['unreviewed']> {
  const { store, reviews } = context;
  const mark = await store.local.get(stateKey);
  const known = isObject(mark) ? mark : {};
  const all = entries.map(({ commit }) => commit);
  const end = all.findIndex(({ oid }) => oid === known.commit);
  // A rewritten history does not have the reviewed commit any more.
  const isNew = ({ at }: CommitInfo) =>
    typeof known.at !== 'string' || at > known.at || (isCut && at === known.at);
  const newer = end >= 0 ? all.slice(0, end) : all.filter(isNew);
  const ofAgents = newer.filter(({ agent }) => isOfAgent(agent));
  const accepted = await reviews.accepted(ofAgents.map(({ oid }) => oid));
  const found = ofAgents.filter(({ oid }) => !accepted.has(oid));
  const [newest, oldest] = [all[0], found.at(-1)];
  if (!newest || !oldest) return undefined;
  // The reviewed commit, or the first one, is older than all that were looked at.
  const isPart = isCut && newer.includes(all.at(-1) ?? newest);
  const reviewed = isPart && typeof known.commit === 'string' ? known.commit : `${oldest.oid}~1`;
  const before =
    (await findCommit(context, reviewed)) ?? (await findCommit(context, `${oldest.oid}~1`));
  return {
    count: found.length,
    agents: countMakers(found),
    ...(isPart && { isPart }),
    from: before?.oid ?? oldest.oid,
    until: newest.oid,
  };
}
