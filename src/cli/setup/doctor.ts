import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Finding } from '../../app/health/finding.ts';
import { checkHealth } from '../../app/health/health.ts';
import { readText } from '../../app/project-file.ts';
import { findRoot } from '../../app/root.ts';
import { MemoryError } from '../../core/error.ts';
import { isObject } from '../../core/json.ts';
import type { Command, Invocation } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen } from '../terminal.ts';
import { clients, configPath, entryName, type McpClient, type Surroundings } from './client.ts';

const marks = { good: 'ok', note: 'note', bad: 'WRONG' } as const;
const styles = { good: 'good', note: 'key', bad: 'bad' } as const;

/** `memory-bank doctor`: looks at everything that can be wrong, and mends what is safe to mend. */
export const doctor: Command = {
  about: 'check everything that can keep the memory from working, and say what to do',
  flags: { fix: { about: 'mend what is safe to mend' } },
  async run(invocation) {
    const { app, options, values } = invocation;
    const program = [process.execPath, resolve(process.argv[1] ?? '')];
    const screen = new Screen();
    return inSession(invocation, async (session, call) => {
      const findings = [
        ...(await checkHealth(app, session, options.place, program, call)),
        ...(await lookAtClients(invocation)),
      ];
      let wrong = false;
      for (const finding of findings) {
        const { what, state, text } = values.fix === true ? await mended(finding) : finding;
        wrong ||= state === 'bad';
        const label = `${marks[state].padEnd(6)}${what.padEnd(14)}`;
        await screen.show(`${screen.paint(styles[state], label)}${screen.plain(text)}\n`);
      }
      return wrong ? 6 : 0;
    });
  },
};

/** What is left of a finding after it was mended, where that is safe. */
async function mended(finding: Finding): Promise<Finding> {
  const { what, fix } = finding;
  if (!fix) return finding;
  try {
    return { what, state: 'good', text: await fix() };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { what, state: 'bad', text: error.text };
  }
}

/** Whether the configurations of clients start a server, for those that are in use here. */
async function lookAtClients({ options }: Invocation): Promise<Finding[]> {
  const { home, env } = options.place;
  const root = await findRoot({ ...options.place, clientRoots: async () => [] }).catch(
    () => undefined,
  );
  if (!root) return [];
  const around = { root: root.path, home, env, platform: process.platform };
  return Object.entries(clients).flatMap(
    ([name, client]) => lookAtClient(name, client, around) ?? [],
  );
}

/** Undefined where there is no configuration. */
function lookAtClient(name: string, client: McpClient, around: Surroundings): Finding | undefined {
  const what = client.title;
  const path = client.config(around);
  try {
    const config = readText(configPath(client, around));
    if (config === undefined) return undefined;
    const entry = client.language.read(config, [client.servers, entryName]);
    if (entry === undefined) {
      const text = `${path} does not know the server: memory-bank init --clients ${name}`;
      return { what, state: 'note', text };
    }
    const gone = programs(entry).find((file) => !existsSync(file));
    if (gone === undefined) return { what, state: 'good', text: `${path} starts the server` };
    const text = `${path} starts ${gone}, which is not there: memory-bank init --clients ${name}`;
    return { what, state: 'bad', text };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { what, state: 'bad', text: `${path}: ${error.text}` };
  }
}

/** The files by their whole path that an entry starts: a program, or the script that it runs. */
function programs(entry: unknown): string[] {
  if (!isObject(entry)) return [];
  const [script] = Array.isArray(entry.args) ? entry.args : [];
  return [entry.command, script]
    .filter((word) => typeof word === 'string')
    .filter((word) => isAbsolute(word));
}
