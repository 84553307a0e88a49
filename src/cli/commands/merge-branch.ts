import { counted } from '../../core/painter.ts';
import { changeSigns } from '../change-signs.ts';
import { type Command, flagTexts } from '../command.ts';
import { outputFlag, showResult } from '../result.ts';
import { inSession } from '../run-in-session.ts';

/** `memory-bank merge`: merges another branch of a memory that has branches of its own. */
export const mergeBranch: Command = {
  about: 'merge another branch of a memory that is on branches of its own, by record',
  operands: ['branch'],
  flags: {
    ours: { value: 'path', many: true, about: 'keep ours where this record conflicts' },
    theirs: { value: 'path', many: true, about: 'take theirs where this record conflicts' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values, operands } = invocation;
    const [branch = ''] = operands;
    const sides = { ours: flagTexts(values, 'ours'), theirs: flagTexts(values, 'theirs') };
    const { commit, isNew, changes } = await inSession(invocation, (session, call) =>
      app.run(session, 'merge', call, ({ history }) => history.merge(branch, sides)),
    );
    const result = { commit: commit.oid, merged: isNew, changes };
    await showResult(values, result, (screen) => [
      ...changes.map(({ change, path }) => screen.plain(`${changeSigns[change]} ${path}`)),
      isNew
        ? screen.paint('good', `Merged ${counted(changes.length, 'change')} of ${branch}.`)
        : screen.plain(`The memory has everything of ${branch}.`),
    ]);
    return 0;
  },
};
