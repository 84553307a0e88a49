import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { checkHealth, type Finding } from '../../health.ts';
import { findRoot } from '../../root.ts';
import type { Command, Invocation } from '../command.ts';
import { Screen } from '../screen.ts';
import { inSession } from '../work.ts';
import { clients } from './client.ts';
import { planSetup } from './plan.ts';

const marks = { good: 'ok', note: 'note', bad: 'WRONG' } as const;
const styles = { good: 'good', note: 'key', bad: 'bad' } as const;

/** `memory-bank doctor`: looks at everything that can be wrong, and mends what is safe to mend. */
export const doctor: Command = {
  about: 'check everything that can keep the memory from working, and say what to do',
  flags: { fix: { about: 'mend what is safe to mend' } },
  async run(invocation) {
    const { app, options, values } = invocation;
    const program = [process.execPath, resolve(process.argv[1] ?? '')];
    const findings = await inSession(invocation, (session, call) =>
      checkHealth(app, session, options.place, program, call),
    );
    findings.push(...(await lookAtClients(invocation)));
    const screen = new Screen();
    let wrong = false;
    for (const { what, state, text, fix } of findings) {
      const done = fix && values.fix === true ? await fix() : undefined;
      wrong ||= state === 'bad';
      const mark = done === undefined ? state : 'good';
      const label = `${marks[mark].padEnd(6)}${what.padEnd(14)}`;
      await screen.show(`${screen.paint(styles[mark], label)}${screen.plain(done ?? text)}\n`);
    }
    return wrong ? 6 : 0;
  },
};

/** Whether the configurations of clients can be read, for those that are in use here. */
async function lookAtClients({ options }: Invocation): Promise<Finding[]> {
  const { home, env } = options.place;
  const root = await findRoot({ ...options.place, clientRoots: async () => [] }).catch(
    () => undefined,
  );
  if (!root) return [];
  const around = { root: root.path, home, env, platform: process.platform };
  const found: Finding[] = [];
  for (const [name, client] of Object.entries(clients)) {
    const path = client.config(around);
    if (!existsSync(path)) continue;
    const what = client.title;
    // What taking the entry out would change tells whether there is one.
    const { edits, untouched } = await planSetup([name], [], undefined, around);
    for (const { reason } of untouched)
      found.push({ what, state: 'bad', text: `${path}: ${reason}` });
    if (untouched.length > 0) continue;
    found.push(
      edits.length > 0
        ? { what, state: 'good', text: `${path} starts the server` }
        : {
            what,
            state: 'note',
            text: `${path} does not know the server: memory-bank init --clients ${name}`,
          },
    );
  }
  return found;
}
