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

/** `memory-bank doctor`: checks everything that can be wrong, and repairs what is safe to repair. */
export const doctor: Command = {
  about: 'check everything that can keep the memory from working, and report what to do',
  flags: { fix: { about: 'repair what is safe to repair' } },
  async run(invocation) {
    const { app, options, values } = invocation;
    const program = [process.execPath, resolve(process.argv[1] ?? '')];
    const screen = new Screen();
    return inSession(invocation, async (session, call) => {
      const findings = [
        ...(await checkHealth(app, session, options.place, program, call)),
        ...(await checkClients(invocation)),
      ];
      let wrong = false;
      for (const finding of findings) {
        const { what, state, text } = values.fix === true ? await repaired(finding) : finding;
        wrong ||= state === 'bad';
        const label = `${marks[state].padEnd(6)}${what.padEnd(14)}`;
        await screen.show(`${screen.paint(styles[state], label)}${screen.plain(text)}\n`);
      }
      return wrong ? 6 : 0;
    });
  },
};

/** Repairs a finding where that is safe, and returns what is left of it. */
async function repaired(finding: Finding): Promise<Finding> {
  const { what, fix } = finding;
  if (!fix) return finding;
  try {
    return { what, state: 'good', text: await fix() };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { what, state: 'bad', text: error.text };
  }
}

/** Checks that the configurations of the clients in use here start the server. */
async function checkClients({ options }: Invocation): Promise<Finding[]> {
  const { home, env } = options.place;
  const root = await findRoot({ ...options.place, clientRoots: async () => [] }).catch(
    () => undefined,
  );
  if (!root) return [];
  const around = { root: root.path, home, env, platform: process.platform };
  return Object.entries(clients).flatMap(
    ([name, client]) => checkClient(name, client, around) ?? [],
  );
}

/** Checks the entry of a client; undefined when the client has no configuration. */
function checkClient(name: string, client: McpClient, around: Surroundings): Finding | undefined {
  const what = client.title;
  const path = client.config(around);
  try {
    const config = readText(configPath(client, around));
    if (config === undefined) return undefined;
    const entry = client.language.read(config, [client.servers, entryName]);
    if (entry === undefined) {
      const text = `${path} does not list the server: run memory-bank init --clients ${name}`;
      return { what, state: 'note', text };
    }
    const gone = programs(entry).find((file) => !existsSync(file));
    if (gone === undefined) return { what, state: 'good', text: `${path} starts the server` };
    const text = `${path} starts ${gone}, which does not exist: run memory-bank init --clients ${name}`;
    return { what, state: 'bad', text };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { what, state: 'bad', text: `${path}: ${error.text}` };
  }
}

/** Absolute paths of the files that an entry starts: a program, or the script that it runs. */
function programs(entry: unknown): string[] {
  if (!isObject(entry)) return [];
  const [script] = Array.isArray(entry.args) ? entry.args : [];
  return [entry.command, script]
    .filter((word) => typeof word === 'string')
    .filter((word) => isAbsolute(word));
}
