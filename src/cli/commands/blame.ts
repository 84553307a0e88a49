import { type Command, flagText } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';
import { inBank } from './log.ts';

/** `memory-bank blame <path>`: who wrote each line of a record. */
export const blame: Command = {
  about: 'show who wrote each line of a record: commit, day, author, agent',
  operands: ['path'],
  flags: { 'as-of': { value: 'revision', about: 'as a commit, branch or date has it' } },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const path = inBank(operands[0] ?? '');
    const lines = await inSession(invocation, (session, call) =>
      app.run(session, 'blame', call, ({ history }) =>
        history.blame(path, flagText(values, 'as-of') ?? 'HEAD'),
      ),
    );
    const screen = new Screen();
    const writers = lines.map(({ commit: { author, agent } }) => {
      const name = author.replace(/ <[^<>]*>$/, '');
      return screen.fit(agent === undefined ? name : `${name}, ${agent}`, 40);
    });
    const width = Math.max(0, ...writers.map((writer) => writer.length));
    const digits = String(lines.length).length;
    const text = lines.map(({ text, commit, boundary }, i) => {
      // As git does: behind this commit of a shallow clone the line may be older.
      const id = `${boundary ? '^' : ' '}${commit.oid.slice(0, 12)}`;
      const head = `${commit.at.slice(0, 10)} ${(writers[i] ?? '').padEnd(width)}`;
      const number = String(i + 1).padStart(digits);
      return `${screen.paint('key', id)} ${screen.paint('faint', `${head} ${number}`)} ${screen.plain(text.replace(/\n$/, ''))}\n`;
    });
    await screen.show(text.join(''));
    return 0;
  },
};
