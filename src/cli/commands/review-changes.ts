import { counted } from '../../core/answers/painter.ts';
import type { Context } from '../../core/declarations/context.ts';
import { changedRecordLines } from '../../core/memory/change-lines.ts';
import { reviewBranches, type WaitingReview } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText, type Invocation } from '../line/command.ts';
import { decisionFlags, mergeOrAsk } from '../line/conflict-questions.ts';
import { mayGoOn } from '../line/prompt.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { changeSigns } from '../screen/change-signs.ts';
import { edit } from './edit-record.ts';

/** Limit of the records of a review that are shown. */
const maxShown = 200;

/** The sides of a conflict when a review is accepted. */
const sideNames = { ours: 'the memory', theirs: 'the review' };

const actions = ['list', 'show', 'accept', 'edit', 'drop'] as const;

/** `memory-bank review`: lists changes of agents that wait for a review, and accepts or drops them. */
export const review: Command = {
  about:
    'list the changes of agents that wait for a review; show, accept, edit or drop them, whole or by record',
  operands: ['action?', 'review?', 'record...'],
  flags: {
    ...decisionFlags(sideNames, 'accept: '),
    comment: { value: 'text', about: 'accept: why, as a line of the commit' },
    yes: { about: 'drop: do not ask' },
    ...outputFlag,
  },
  async run(invocation) {
    const [given = 'list', name, ...records] = invocation.operands;
    const action = actions.find((one) => one === given);
    if (action === undefined) {
      throw new MemoryError('invalid_input', `${JSON.stringify(given)} is not an action.`, {
        hint: `Give ${actions.join(', ')}.`,
      });
    }
    if (action === 'list') return list(invocation);
    if (name === undefined) {
      throw new MemoryError('invalid_input', `${action} needs the name of a review.`, {
        hint: '"memory-bank review" lists them.',
      });
    }
    switch (action) {
      case 'show':
        return show(invocation, name);
      case 'accept':
        return accept(invocation, name, records);
      case 'edit':
        return edit.run({ ...invocation, client: { review: name }, operands: records });
      case 'drop':
        return drop(invocation, name, records);
    }
  },
};

async function list(invocation: Invocation): Promise<number> {
  const { values } = invocation;
  const reviews = await inReviews(invocation, (context) => context.reviews.list());
  await showResult(values, { reviews }, (screen) =>
    reviews.length === 0
      ? ['No change waits for a review.']
      : reviews.flatMap(({ name, agent = 'a person', at, commits, changes, problem }) => [
          `${screen.paint('title', name)}  ${screen.plain(`${counted(commits, 'commit')} by ${agent}, the last one ${at}`)}`,
          ...changes.map(({ change, path }) => screen.plain(`  ${changeSigns[change]} ${path}`)),
          ...(problem === undefined
            ? []
            : [screen.paint('bad', `  It can only be accepted record by record: ${problem}.`)]),
        ]),
  );
  return 0;
}

/** Shows the changes of a review record by record, as `memory-bank diff` does. */
async function show(invocation: Invocation, name: string): Promise<number> {
  const { changes } = await inReviews(invocation, async (context) => {
    const { base: from, tip: to } = await find(context, name);
    return context.history.compare({ from, to, sections: true, limit: maxShown, skip: 0 });
  });
  const paths = changes.map(({ change, path, fields, sections }) => ({
    change,
    path,
    ...(sections && sections.length > 0 && { sections }),
    fields,
  }));
  await showResult(invocation.values, { name, changes: paths }, (screen) =>
    changes.flatMap((change) => [
      ...changedRecordLines(screen, change),
      ...(change.sections ?? []).map((section) =>
        screen.paint('faint', `    can be accepted alone: ${screen.plain(section)}`),
      ),
    ]),
  );
  return 0;
}

async function accept(
  invocation: Invocation,
  name: string,
  records: readonly string[],
): Promise<number> {
  const { values } = invocation;
  const { changes } = await mergeOrAsk(values, sideNames, (decisions) =>
    inReviews(invocation, ({ reviews }) =>
      reviews.accept(name, { ...decisions, records, comment: flagText(values, 'comment') }),
    ),
  );
  await showResult(values, { accepted: changes }, (screen) => [
    ...changes.map(({ change, path }) => screen.plain(`${changeSigns[change]} ${path}`)),
    screen.paint('good', `Accepted ${counted(changes.length, 'change')} of ${name}.`),
  ]);
  return 0;
}

async function drop(
  invocation: Invocation,
  name: string,
  records: readonly string[],
): Promise<number> {
  const { app, values } = invocation;
  const what = records.length > 0 ? counted(records.length, 'record') : 'all changes';
  const tip = await inSession(invocation, async (session, call) => {
    const inside = app.connect({ review: name });
    inside.agent = session.agent;
    // It merges the memory into the review first, whose base is then the memory as it is now.
    if (records.length > 0) await app.run(inside, 'review', call, ({ project }) => project.info());
    const found = await app.run(session, 'review', call, (context) => find(context, name));
    if (!(await mayGoOn(values, `Drop ${what} of ${name}?`))) return undefined;
    if (records.length === 0) {
      return app.run(session, 'review', call, ({ reviews }) => reviews.drop(name, found.tip));
    }
    await app.run(inside, 'review', call, ({ reviews }) =>
      reviews.withdraw(found.base, records, found.tip),
    );
    return found.tip;
  });
  if (tip === undefined) return 0;
  await showResult(values, { dropped: records, tip }, (screen) => [
    screen.paint('good', `Dropped ${what} of ${name}.`),
    `"git branch ${reviewBranches}${name} ${tip.slice(0, 12)}" brings the review back.`,
  ]);
  return 0;
}

async function find({ reviews }: Context, name: string): Promise<WaitingReview> {
  const found = (await reviews.list()).find((one) => one.name === name);
  if (found) return found;
  throw new MemoryError('not_found', `No changes wait under the name ${JSON.stringify(name)}.`, {
    hint: '"memory-bank review" lists the reviews.',
  });
}

function inReviews<R>(invocation: Invocation, work: (context: Context) => Promise<R>): Promise<R> {
  return inSession(invocation, (session, call) =>
    invocation.app.run(session, 'review', call, work),
  );
}
