import type { Squashable } from '../../core/history.ts';
import { counted } from '../../core/painter.ts';
import type { Command } from '../command.ts';
import { mayGoOn } from '../prompt.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';

/** `memory-bank squash`: replaces the last unpushed commits of the memory by one. */
export const squash: Command = {
  about:
    'make the last unpushed commits that change only the memory one commit; shows them and asks',
  flags: {
    yes: { about: 'do not ask' },
    'dry-run': { about: 'only show the commits, and the message of the one commit' },
  },
  async run(invocation) {
    const { app, values } = invocation;
    const screen = new Screen();
    return inSession(invocation, (session, call) =>
      app.run(session, 'squash', call, async ({ history }) => {
        const found = await history.squashable();
        await screen.show(preview(screen, found));
        if (found.message === undefined) return 0;
        if (values['dry-run'] === true) {
          await screen.show(`\n${screen.plain(found.message)}`);
          return 0;
        }
        if (!(await mayGoOn(values, 'Make them one commit?'))) return 0;
        // A person has agreed to the commits that were shown; --yes agrees to any.
        const done = await history.squash(values.yes === true ? undefined : found);
        if (done) await screen.show(report(screen, done.commits, done.made));
        return 0;
      }),
    );
  },
};

function preview(screen: Screen, { commits, end, message }: Squashable): string {
  const lines = commits.map(
    ({ oid, at, subject }) =>
      `${screen.paint('key', short(oid))}  ${screen.paint('faint', at.slice(0, 10))}  ${screen.plain(subject)}`,
  );
  const rest = message === undefined ? ' Nothing to squash.' : '';
  return [
    screen.paint('title', `${counted(commits.length, 'commit')} of the memory to make one`),
    ...lines,
    screen.paint('faint', `${end}${rest}`),
    '',
  ].join('\n');
}

function report(
  screen: Screen,
  commits: Squashable['commits'],
  { oid, branch }: { readonly oid: string; readonly branch: string | undefined },
): string {
  const where = branch === undefined ? 'detached HEAD' : branch;
  const tip = short(commits[0]?.oid ?? '');
  return [
    screen.paint('good', `${commits.length} commits are one: ${short(oid)} on ${where}.`),
    `The old ones stay in the reflog; "git reset --soft ${tip}" brings them back.`,
    '',
  ].join('\n');
}

function short(oid: string): string {
  return oid.slice(0, 12);
}
