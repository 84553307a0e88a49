import { counted } from '../../core/answers/painter.ts';
import type { Command } from '../line/command.ts';
import { decisionFlags, mergeOrAsk } from '../line/conflict-questions.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { changeSigns } from '../screen/change-signs.ts';

/** The sides of a conflict. */
const sideNames = { ours: 'this branch', theirs: 'the other branch' };

/** `memory-bank merge`: merges another branch of a memory that has branches of its own. */
export const mergeBranch: Command = {
  about: 'merge another branch of a memory; one that is on branches of its own, by record',
  operands: ['branch'],
  flags: {
    ...decisionFlags(sideNames),
    ...outputFlag,
  },
  async run(invocation) {
    const { app, values, operands } = invocation;
    const [branch = ''] = operands;
    const { commit, isNew, changes } = await mergeOrAsk(values, sideNames, (decisions) =>
      inSession(invocation, (session, call) =>
        app.run(session, 'merge', call, ({ history }) => history.merge(branch, decisions)),
      ),
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
