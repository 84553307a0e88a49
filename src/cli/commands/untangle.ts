import { counted } from '../../core/answers/painter.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { Division } from '../../core/memory/history.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagText } from '../line/command.ts';
import { exitStatus } from '../line/exit-status.ts';
import { agrees, mayAsk } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';

/** Number of files that the plan lists of each part. */
const maxListed = 10;

/** `memory-bank untangle`: divides a memory commit that also changes other files. */
export const untangle: Command = {
  about:
    'divide a memory commit that also contains code; an unpushed one, as an amend makes it; shows the plan first',
  operands: ['commit?'],
  flags: {
    message: {
      value: 'text',
      about: 'the message of the commit with the code, subject first',
      default: 'the names of its files',
    },
    amend: { about: 'put the code into the commit of code below, and that above the memory' },
    yes: { about: 'do not ask' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values, operands } = invocation;
    const message = flagText(values, 'message');
    if (message?.trim() === '') {
      throw new MemoryError('invalid_input', '--message is empty.');
    }
    const [revision] = operands;
    const request = { revision, message, amend: values.amend === true };
    const screen = new Screen();
    const isJson = asJson(values);
    return inSession(invocation, (session, call) =>
      app.run(session, 'untangle', call, async ({ history, project }) => {
        const found = await history.division(request);
        if (!isJson) await screen.print(found ? preview(screen, found, request.amend) : nothing);
        if (!found || found.obstacle !== undefined) {
          const { branch } = await project.head();
          if (found && !isJson) await screen.show(wayOut(screen, found, branch));
          if (isJson) await showResult(values, divisionJson(found, undefined), () => []);
          return found ? exitStatus.unsupported : 0;
        }
        const isConfirmed = values.yes === true;
        const canAsk = !isJson && mayAsk(values);
        if (!isConfirmed && !(canAsk && (await agrees('Divide it?')))) {
          await showResult(values, divisionJson(found, undefined), (screen) => [
            screen.paint('faint', 'Nothing was changed. Give --yes to divide it.'),
          ]);
          return 0;
        }
        // A person has agreed to the plan that was shown; --yes agrees to any.
        const done = await history.divide(request, isConfirmed ? undefined : found);
        await showResult(values, divisionJson(done ?? found, done?.made), (screen) =>
          done ? report(screen, done, done.made) : [nothing],
        );
        return 0;
      }),
    );
  },
};

const nothing = 'No unpushed commit of the memory changes other files.\n';

function divisionJson(found: Division | undefined, made: MadeCommit | undefined) {
  if (!found) return { commit: null, made: null };
  const { commit, records, outside, target, message, above, others, obstacle } = found;
  return {
    commit: { oid: commit.oid, at: commit.at, subject: commit.subject },
    records,
    outside,
    message,
    target: target ? { oid: target.oid, at: target.at, subject: target.subject } : null,
    above,
    others,
    obstacle: obstacle ?? null,
    made: made?.oid ?? null,
  };
}

function preview(screen: Screen, found: Division, amends: boolean): string {
  const { commit, records, outside, target, message, above, obstacle } = found;
  const [subject = ''] = message.split('\n', 1);
  const files = (paths: readonly string[], folder: string) => [
    ...paths.slice(0, maxListed).map((path) => `    ${screen.plain(folder + path)}`),
    ...(paths.length > maxListed ? [`    and ${paths.length - maxListed} more`] : []),
  ];
  const folder = found.folder === '' ? '' : `${found.folder}/`;
  const hint = target && !amends && obstacle === undefined;
  return [
    `${screen.paint('key', short(commit.oid))}  ${screen.paint('title', commit.subject)}`,
    '  becomes, the lower one first:',
    `  ${screen.paint('title', commit.subject)}`,
    ...files(records, folder),
    `  ${screen.paint('title', screen.plain(subject))}${amends && target ? `, with ${short(target.oid)}` : ''}`,
    ...files(outside, ''),
    ...(above > 0 ? [`  Above it, ${counted(above, 'commit')} with the same files.`] : []),
    ...(hint
      ? [
          screen.paint(
            'faint',
            `--amend puts the code into ${short(target.oid)} "${screen.plain(target.subject)}"; --message gives another message.`,
          ),
        ]
      : []),
    '',
  ].join('\n');
}

/** The commands of git that divide a commit where this program does not, for a team that agrees. */
function wayOut(
  screen: Screen,
  { tip, commit: { oid }, folder, message, obstacle = '' }: Division,
  branch: string | undefined,
): string {
  const restore = `git restore --source=${short(oid)} --staged --worktree --`;
  const quoted = `'${message.replaceAll("'", "'\\''")}'`;
  return [
    '',
    screen.paint('bad', `It is not divided: ${obstacle}`),
    'The files are right; only the message is incomplete. To note that, without new history:',
    `  git notes add -m ${screen.plain(quoted)} ${short(oid)}`,
    'To divide it all the same, if all who have it agree, in a clean work tree, while no agent writes:',
    `  git switch --detach ${short(oid)}~1`,
    `  ${restore} ':/${screen.plain(folder)}'`,
    `  git commit -C ${short(oid)}`,
    `  ${restore} :/`,
    `  git commit -m ${screen.plain(quoted)}`,
    `  git rebase --rebase-merges --onto HEAD ${short(oid)} ${screen.plain(branch ?? short(tip))}`,
    '  git push --force-with-lease',
    '',
  ].join('\n');
}

function report(screen: Screen, { commit, tip, others }: Division, made: MadeCommit): string[] {
  const where = made.branch === undefined ? 'detached HEAD' : made.branch;
  const more = others === 0 ? [] : [`${counted(others, 'other commit')} can be divided.`];
  return [
    screen.paint('good', `${short(commit.oid)} is divided: ${short(made.oid)} on ${where}.`),
    ...more,
    `The old one stays in the reflog; "git reset --soft ${short(tip)}" brings it back.`,
  ];
}

function short(oid: string): string {
  return oid.slice(0, 12);
}
