import type { RecordConfirmation } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Command } from '../line/command.ts';
import { withPathOf } from '../line/record-lookup.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';

/** `memory-bank confirm <record>`: a person says that a record or section is right as it is. */
export const confirm: Command = {
  about: 'confirm that a record or section is right as it is: a commit that changes no file',
  operands: ['record...'],
  flags: outputFlag,
  async run(invocation) {
    const { app, operands, values } = invocation;
    if (operands.length === 0) {
      throw new MemoryError('invalid_input', 'confirm needs the name of a record.', {
        hint: 'Give a path, a key, a title, or a section of a log: decisionLog.md#Title.',
      });
    }
    const types = (await app.toolsets()).flatMap(({ records }) => records);
    const confirmed = await inSession(invocation, (session, call) =>
      app.run(session, 'confirm', call, async ({ reviews, store }) => {
        const made: RecordConfirmation[] = [];
        for (const given of operands) {
          made.push(await withPathOf(store, types, given, (address) => reviews.confirm(address)));
        }
        return made;
      }),
    );
    await showResult(values, { confirmed }, (screen) =>
      confirmed.map(({ address }) => screen.paint('good', `confirmed ${screen.plain(address)}`)),
    );
    return 0;
  },
};
