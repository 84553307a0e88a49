import { type Command, flagText } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';
import { inBank } from './log.ts';

/** `memory-bank restore <path>`: brings records back to an earlier state, as a new commit. */
export const restore: Command = {
  about: 'bring a record or folder back to an earlier state; restore-memory takes all',
  operands: ['path'],
  flags: {
    'as-of': {
      value: 'revision',
      about: 'the commit, branch or date; a record that is gone needs none',
    },
  },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const path = inBank(operands[0] ?? '');
    const { commit, restored, removed, damaged } = await inSession(invocation, (session, call) =>
      app.run(session, 'restore', call, ({ history }) =>
        history.restore(path, flagText(values, 'as-of')),
      ),
    );
    const screen = new Screen();
    const lines = [
      ...restored.map((one) => screen.paint('good', `restored ${one}`)),
      ...removed.map((one) => screen.paint('bad', `removed ${one}`)),
      ...damaged.map(({ error }) => screen.paint('bad', `cannot be read: ${error.text}`)),
      `${restored.length + removed.length} changed, as of ${commit.oid.slice(0, 12)}  ${screen.plain(commit.subject)}`,
    ];
    await screen.show(lines.map((line) => `${line}\n`).join(''));
    return 0;
  },
};
