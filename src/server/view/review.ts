import * as z from 'zod';
import type { Context } from '../../core/context.ts';
import type { CommitInfo, LogEntry } from '../../core/history.ts';
import { isObject } from '../../core/json.ts';
import { isOfPerson } from '../../core/maker.ts';
import { type Home, reviewedShape } from '../page/answers.ts';
import { countMakers } from './answer-data.ts';
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

/** Returns the newest commits of agents that no person has accepted or marked as reviewed. */
export async function findUnreviewed(
  { store, history, reviews }: Context,
  entries: readonly LogEntry[],
): Promise<Home['unreviewed']> {
  const mark = await store.local.get(stateKey);
  const known = isObject(mark) ? mark : {};
  const all = entries.map(({ commit }) => commit);
  const end = all.findIndex(({ oid }) => oid === known.commit);
  // A rewritten history does not have the reviewed commit any more.
  const isNew = ({ at }: CommitInfo) => typeof known.at !== 'string' || at > known.at;
  const newer = end >= 0 ? all.slice(0, end) : all.filter(isNew);
  const ofAgents = newer.filter(({ agent }) => agent !== undefined && !isOfPerson(agent));
  const accepted = await reviews.accepted(ofAgents.map(({ oid }) => oid));
  const found = ofAgents.filter(({ oid }) => !accepted.has(oid));
  const [newest, oldest] = [all[0], found.at(-1)];
  if (!newest || !oldest) return undefined;
  const before = await stateBefore(history, oldest.oid);
  return {
    count: found.length,
    agents: countMakers(found),
    from: before ?? oldest.oid,
    until: newest.oid,
  };
}

/** Returns the commit before another one; undefined for the first one. */
async function stateBefore(history: Context['history'], oid: string): Promise<string | undefined> {
  const state = await history.at(`${oid}~1`).catch(() => undefined);
  return state?.commit.oid;
}
