import type { Decisions } from '../../core/history.ts';
import type { Command, Flags, FlagValues } from '../command.ts';
import { exitStatus } from '../exit-status.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';
import { changeLine, inBank } from './log.ts';
import { counted } from './status.ts';

const sides: Flags = {
  ours: { value: 'path', about: 'keep ours where this record conflicts', many: true },
  theirs: { value: 'path', about: 'take theirs where this record conflicts', many: true },
};

/** `memory-bank sync`: what is new goes to the upstream of the branch and comes from there. */
export const sync: Command = {
  about: 'fetch, merge and push the current branch with its memory',
  flags: { ...sides, confirm: { about: 'push commits that change other files, too' } },
  async run(invocation) {
    const { app, values } = invocation;
    const request = { ...decisionsOf(values), confirm: values.confirm === true };
    const { upstream, commit, received, files, sent } = await inSession(
      invocation,
      (session, call) => app.run(session, 'sync', call, ({ history }) => history.sync(request)),
    );
    const screen = new Screen();
    const outside = files > 0 ? `, ${counted(files, 'file')} outside the memory` : '';
    const lines = [
      ...received.map((change) => changeLine(screen, change)),
      screen.plain(
        `Received ${counted(received.length, 'change')}${outside}; sent ${counted(sent, 'commit')}.`,
      ),
      screen.plain(`Here and ${upstream} are at ${commit.oid.slice(0, 12)}.`),
    ];
    await screen.show(`${lines.join('\n')}\n`);
    return 0;
  },
};

/** `memory-bank resolve`: finishes what native git has left of the memory in conflict. */
export const resolve: Command = {
  about: 'finish a merge, rebase or stash pop that left the memory in conflict',
  flags: sides,
  async run(invocation) {
    const { app, values } = invocation;
    const { resolved, conflicts, edited, elsewhere, next } = await inSession(
      invocation,
      (session, call) =>
        app.run(session, 'resolve', call, ({ history }) => history.resolve(decisionsOf(values))),
    );
    const screen = new Screen();
    const lines = [
      ...resolved.map((path) => screen.paint('good', `resolved ${path}`)),
      ...conflicts.map(({ path, reasons }) =>
        screen.paint('bad', `conflict ${path}: ${reasons.join('; ')}`),
      ),
      ...edited.map((path) => screen.paint('key', `edited by hand ${path}: "git add" it`)),
      ...elsewhere.map((path) => screen.paint('key', `outside the memory ${path}`)),
      ...(next === undefined ? [] : [screen.plain(`Conclude it: ${next}.`)]),
    ];
    await screen.show(lines.length === 0 ? 'Nothing to resolve.\n' : `${lines.join('\n')}\n`);
    return conflicts.length > 0 ? exitStatus.conflict : 0;
  },
};

function decisionsOf(values: FlagValues): Decisions {
  const paths = (name: string) => {
    const given = values[name];
    return Array.isArray(given) ? given.map((path) => inBank(String(path))) : [];
  };
  return { ours: paths('ours'), theirs: paths('theirs') };
}
