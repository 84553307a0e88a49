import type { JsonObject } from '../../src/core/values/json.ts';
import { fillRealistic } from './realistic-memory.ts';
import type { Repo } from './repo.ts';
import type { Served } from './served.ts';

/** The time between two commits, in seconds: some commits on most days. */
const pauses = [2_400, 900, 41_000, 7_200, 600, 88_000, 5_400, 1_200, 64_000];

/** The programs that a team uses in turn. */
const agents = ['claude-code/2.1', 'cursor/3.2', 'codex-cli/0.148'];

/** Fills the memory of a shop as a team does in some weeks, one change after another by different programs. */
export async function fillWeeks(memory: Served): Promise<void> {
  const { repo } = memory;
  let calls = 0;
  await fillRealistic(async (tool, args) => {
    memory.actAs(agents[Math.floor(calls++ / 3) % agents.length]);
    return memory.call(tool, args);
  }, repo.root);
  memory.actAs(agents[0]);
  commitCode(repo, 'export const retries = 3;\n', 'Add retries');
  const later: readonly (readonly [string, string])[] = [
    ['retry-budget', 'At most 3 retries, as in `retry.ts:1`; then the order waits for a person.'],
    ['card-tests', 'The test card 4000 0025 asks for a second factor, 4000 9995 is refused.'],
    ['log-fields', 'Every log line of a payment has the order number and the attempt.'],
  ];
  for (const [key, value] of later) await memory.write(key, value);
  repo.checkout('retry-queue');
  await memory.write('retry-budget', 'At most 5 retries in 10 minutes, from a queue of their own.');
  await memory.write('queue', 'The queue keeps an order for 24 hours, then a person decides.');
  repo.checkout('main');
  commitCode(repo, 'export const attempts = 7;\n', 'Count attempts');
  memory.actAs(undefined);
}

function commitCode(repo: Repo, text: string, message: string): void {
  repo.write('retry.ts', text);
  repo.git('add', 'retry.ts');
  repo.git('commit', '-qm', message);
}

/** The decisions that an agent proposes at the end. */
export const proposed: readonly JsonObject[] = [
  {
    title: 'Ask for a second factor once',
    context: 'A retry asked the customer for the same factor again.',
    decision: 'A retry of an order takes the factor of its first attempt.',
  },
  {
    title: 'Show the attempt in the shop',
    context: 'Customers press the button again while a payment runs.',
    decision: 'The page of an order shows that its payment is on its way.',
    alternatives: ['Hide the button'],
  },
  {
    title: 'Send refused cards to a person',
    context: 'Some banks refuse a card for a minute only.',
    decision: 'A refused card is tried again by hand.',
  },
];

/** Gives the commits of a repository times of the last weeks: they were all made in a second. */
export function spreadOverWeeks(repo: Repo): void {
  const times = new Map<string, number>();
  const all = repo.git('rev-list', '--reverse', '--all').trim().split('\n');
  let time = Math.floor(Date.now() / 1000) - 1_800;
  for (const [i, oid] of all.reverse().entries()) {
    times.set(oid, time);
    time -= pauses[i % pauses.length] ?? 0;
  }
  const list = [...times].map(
    ([oid, at]) =>
      `${oid}) export GIT_AUTHOR_DATE="@${at} +0000" GIT_COMMITTER_DATE="@${at} +0000";;`,
  );
  const filter = `case $GIT_COMMIT in ${list.join(' ')} esac`;
  repo.gitWith(
    { env: { FILTER_BRANCH_SQUELCH_WARNING: '1' } },
    'filter-branch',
    '--force',
    '--env-filter',
    filter,
    '--',
    '--all',
  );
}
