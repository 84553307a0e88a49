import type { Command } from '../line/command.ts';
import { mayAsk } from '../line/prompt.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { type NumberedEntry, ProjectProposals } from '../setup/project-proposals.ts';

/** `memory-bank propose [number...]`: lists what the project says already, and puts it into a review. */
export const propose: Command = {
  about: 'list what this project says already; numbers put entries into a review',
  operands: ['number...'],
  flags: { all: { about: 'put all of them into a review' }, ...outputFlag },
  async run(invocation) {
    const { operands, values } = invocation;
    return inSession(invocation, async (session, call) => {
      const proposals = await ProjectProposals.find(invocation, session, call);
      const { open } = proposals;
      const given = [...operands, ...(values.all === true ? ['all'] : [])];
      if (given.length > 0) return proposals.take(given);
      await showResult(values, { proposals: open.map(toJson) }, (screen) =>
        open.length === 0
          ? ['This project says nothing that the memory lacks and that can be proposed.']
          : [
              ...proposals.lines(screen),
              'Nothing was written. "memory-bank propose 1 3-5" puts entries into a review, --all puts all.',
            ],
      );
      return open.length > 0 && mayAsk(values) && !asJson(values) ? proposals.ask() : 0;
    });
  },
};

function toJson({ number, kind, category, key, value, reason, source, evidence }: NumberedEntry) {
  return {
    ...{ number, kind, category, key, value, source },
    ...(reason !== undefined && { reason }),
    evidence: [...evidence],
  };
}
