import { counted } from '../../core/answers/painter.ts';
import type { CommitInfo, MadeCommit } from '../../core/memory/commit-log.ts';
import type { Squashable } from '../../core/memory/history.ts';
import { type Command, flagText } from '../line/command.ts';
import { mayGoOn } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';

/** `memory-bank squash`: replaces the last unpushed commits of the memory by one. */
export const squash: Command = {
  about:
    'make the unpushed memory commits one commit; also those between commits of code; shows them and asks',
  flags: {
    message: { value: 'text', about: 'the message of the new commit, subject first' },
    yes: { about: 'do not ask' },
    'dry-run': { about: 'only show the commits, and the message of the one commit' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values } = invocation;
    const screen = new Screen();
    const message = flagText(values, 'message');
    return inSession(invocation, (session, call) =>
      app.run(session, 'squash', call, async ({ history }) => {
        const found = await history.squashable(message);
        const isDry = values['dry-run'] === true || found.message === undefined;
        const json = asJson(values);
        if (!json) await screen.print(preview(screen, found));
        if (isDry) {
          if (json) await showResult(values, squashJson(found, undefined), () => []);
          else if (found.message !== undefined) {
            await screen.show(`\n${screen.plain(found.message)}`);
          }
          return 0;
        }
        if (!(await mayGoOn(values, 'Make them one commit?'))) return 0;
        // A person has agreed to the commits that were shown; --yes agrees to any.
        const done = await history.squash(values.yes === true || json ? undefined : found, message);
        await showResult(values, squashJson(done ?? found, done?.made), (screen) =>
          done ? report(screen, done, done.made) : [],
        );
        return 0;
      }),
    );
  },
};

function squashJson({ commits, moved, end, message }: Squashable, made: MadeCommit | undefined) {
  const brief = (list: readonly CommitInfo[]) =>
    list.map(({ oid, at, subject }) => ({ oid, at, subject }));
  return {
    commits: brief(commits),
    moved: brief(moved),
    end,
    message: message ?? null,
    made: made?.oid ?? null,
  };
}

function preview(screen: Screen, { commits, moved, end, message }: Squashable): string {
  const lines = (list: readonly CommitInfo[]) =>
    list.map(
      ({ oid, at, subject }) =>
        `${screen.paint('key', short(oid))}  ${screen.paint('faint', at.slice(0, 10))}  ${screen.plain(subject)}`,
    );
  if (commits.length === 0) return `${screen.paint('faint', `Nothing to squash: ${end}`)}\n`;
  const rest = message === undefined ? ' Nothing to squash.' : '';
  const others =
    message === undefined || moved.length === 0
      ? []
      : [
          screen.paint('title', `${counted(moved.length, 'commit')} of other files, put below it`),
          ...lines(moved),
        ];
  return [
    screen.paint('title', `${counted(commits.length, 'commit')} of the memory to make one`),
    ...lines(commits),
    ...others,
    screen.paint('faint', `${end}${rest}`),
    '',
  ].join('\n');
}

function report(
  screen: Screen,
  { commits, tip = '' }: Squashable,
  { oid, branch }: { readonly oid: string; readonly branch: string | undefined },
): string[] {
  const where = branch === undefined ? 'detached HEAD' : branch;
  return [
    screen.paint('good', `${commits.length} commits are one: ${short(oid)} on ${where}.`),
    `The old ones stay in the reflog; "git reset --soft ${short(tip)}" brings them back.`,
  ];
}

function short(oid: string): string {
  return oid.slice(0, 12);
}
