import type { Finding } from '../../app/health/finding.ts';
import { checkHealth } from '../../app/health/health.ts';
import { readText } from '../../app/project/project-file.ts';
import { findRoot } from '../../app/session/root.ts';
import { program } from '../../app/session/workspaces.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import type { Command, Invocation } from '../line/command.ts';
import { wordingFor } from '../line/error-wording.ts';
import { asJson, outputFlag, showResult } from '../line/result.ts';
import { inSession } from '../line/run-in-session.ts';
import { Screen } from '../screen/terminal.ts';
import {
  configFile,
  configPath,
  entriesIn,
  entryName,
  entryOf,
  hasPersonalFile,
  isUsed,
  type McpClient,
} from './client/client.ts';
import { clients } from './client/client-table.ts';
import { notListed, passedLimit } from './client/listed-tools.ts';
import { trustNote } from './client/trust-state.ts';
import { waitingNote } from './client/waiting-setting.ts';
import { checkHooks } from './hook/hook-check.ts';
import { CannotStart, NotOnPath, NotStarted, startOfEntry } from './program/entry-start.ts';
import { binName, otherUse, ownProgram, pathAdvice, realPath } from './program/own-entry.ts';
import { ProbeError, probeProcess, probeUrl, type ServerAnswer } from './program/server-probe.ts';
import type { Surroundings } from './program/surroundings.ts';

const marks = { good: 'ok', note: 'note', bad: 'WRONG' } as const;
const styles = { good: 'good', note: 'key', bad: 'bad' } as const;

/** `memory-bank doctor`: checks everything that can be wrong, and repairs what is safe to repair. */
export const doctor: Command = {
  about: 'check what can keep the memory from working; reports what to do',
  flags: {
    fix: { about: 'repair what is safe to repair' },
    start: { about: "start also programs that the project's own files name for clients" },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, options, values } = invocation;
    const screen = new Screen();
    return inSession(invocation, async (session, call) => {
      const health = await checkHealth(app, session, options.place, ownProgram(), call);
      const findings = [...health, ...(await checkClients(invocation))];
      const word = await wordingFor();
      const width = Math.max(...findings.map(({ what }) => what.length));
      const shown: object[] = [];
      let wrong = false;
      for (const finding of findings) {
        const { what, state, ...found } = values.fix === true ? await repaired(finding) : finding;
        // The tools of a client keep the names that it shows.
        const text = health.includes(finding) ? word(found.text) : found.text;
        wrong ||= state === 'bad';
        shown.push({ what, state, text });
        if (asJson(values)) continue;
        const label = `${marks[state].padEnd(6)}${what.padEnd(width)} `;
        await screen.show(`${screen.paint(styles[state], label)}${screen.plain(text)}\n`);
      }
      if (asJson(values)) await showResult(values, { findings: shown }, () => []);
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

/** Starts the server as each configured client does, and compares what it serves with the project. */
async function checkClients({ options, values }: Invocation): Promise<Finding[]> {
  const { home, env } = options.place;
  const root = await findRoot({ ...options.place, clientRoots: async () => [] }).catch(
    () => undefined,
  );
  if (!root) return [];
  const around = { root: root.path, home, env, platform: process.platform };
  const findings: Finding[] = [];
  /** The clients by the tools that they are not offered. */
  const titles = new Map<string, readonly string[]>();
  // One after the other: on a slow machine, servers that start at once would all be late.
  for (const [name, client] of Object.entries(clients)) {
    const finding = await checkClient(client, name, around, values.start === true);
    if (!finding) continue;
    const { others, ...found } = finding;
    findings.push(found);
    if (others !== undefined) titles.set(others, [...(titles.get(others) ?? []), client.title]);
  }
  for (const [text, names] of titles)
    findings.push({ what: 'Tools', state: 'good', text: `${names.join(', ')}: ${text}` });
  findings.push(...checkHooks(around, values.start === true));
  return findings;
}

/** A finding about a client. */
interface ClientFinding extends Finding {
  /** The tools that it is not offered; undefined if it is offered all. */
  readonly others?: string | undefined;
}

/** Checks the entry of a client; undefined when the client has no configuration. */
async function checkClient(
  client: McpClient,
  name: string,
  around: Surroundings,
  startsAll: boolean,
): Promise<ClientFinding | undefined> {
  const what = client.title;
  const path = configFile(client, around);
  const say = (state: Finding['state'], text: string): Finding => {
    return { what, state, text: `${path}${/^not /.test(text) ? ':' : ''} ${text}` };
  };
  try {
    const config = readText(configPath(client, around));
    if (config === undefined) return undefined;
    const [entry, ...others] = entriesIn(client, config);
    const init = initFor(name);
    if (entry.present === undefined) {
      // Settings of the user that another program made say nothing about this project.
      const isOthers = client.names === 'option' || !isUsed(client, around);
      if (hasPersonalFile(client) && isOthers) return undefined;
      const { list, path: keys } = entry;
      const start = { command: binName, args: [] };
      const obstacle = obstacleTo(() =>
        client.language.edit(config, keys, entryOf(client, list, start, around)),
      );
      if (obstacle === undefined) return say('note', `does not list the server: run ${init}`);
      const wanted = JSON.stringify({ [entryName]: entryOf(client, list, start, around) });
      const text = `does not list the server, and init cannot edit it (${obstacle}): add ${wanted} to "${list.keys.join('.')}" by hand`;
      return say('note', text);
    }
    if (others.length > 0) {
      const places = [entry, ...others].map((one) => `"${one.list.keys.join('.')}"`).join(' and ');
      return say('note', `has the server in ${places}, the forms of two versions: remove one`);
    }
    const isOurs = otherUse(entry.present, [binName], around.root) === undefined;
    const fix = isOurs ? `run ${init}` : `change that entry, or remove it and run ${init}`;
    try {
      const found = await serverOf(entry.present, around, hasPersonalFile(client) || startsAll);
      if (typeof found === 'string') {
        const why = found.replace(/\.$/, '');
        return say('bad', `does not start the server of this project: it ${why}; ${fix}`);
      }
      if (!hasPersonalFile(client) && hasProfileOption(entry.present)) {
        return say('note', `has the option --profile, which an older program refuses: ${fix}`);
      }
      const limit = passedLimit(found.tools, client.limits, what);
      if (limit !== undefined) return say('note', limit);
      const unlisted = notListed(found.tools, await program.toolsets());
      const pending = hasPersonalFile(client) ? undefined : trustNote(client, around);
      if (pending !== undefined)
        return { ...say('note', `starts the server; ${pending}`), others: unlisted };
      const early = waitingNote(client, around);
      if (early !== undefined)
        return { ...say('note', `starts the server; ${early}: run ${init}`), others: unlisted };
      return { ...say('good', 'starts the server'), others: unlisted };
    } catch (error) {
      if (error instanceof OtherProject) {
        if (client.names === 'option') {
          const remedy = `${what} has one entry for all projects; change --root there to use it here`;
          return say('note', `${error.message}: ${remedy}`);
        }
        return say('bad', `does not start the server of this project: it ${error.message}; ${fix}`);
      }
      if (error instanceof NotStarted) {
        const remedy = 'If you trust that, "memory-bank doctor --start" starts it';
        return say('note', `not started: ${error.message}. ${remedy}`);
      }
      if (error instanceof NotOnPath && isOurs) {
        return say('bad', `${error.message}: ${pathAdvice()}`);
      }
      if (error instanceof CannotStart) return say('bad', `${error.message}: ${fix}`);
      throw error;
    }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    // Without a sign of it here, nobody misses it.
    const isOthers = hasPersonalFile(client) && !isUsed(client, around);
    return { what, state: isOthers ? 'note' : 'bad', text: `${path}: ${error.text}` };
  }
}

function initFor(name: string): string {
  return `memory-bank init --clients ${name}`;
}

/** Whether an entry has the option that an earlier version of `init` wrote. */
function hasProfileOption(entry: unknown): boolean {
  const args: unknown[] = isObject(entry) && Array.isArray(entry.args) ? entry.args : [];
  return args.some((arg) => /^--profile(?:=|$)/.test(String(arg)));
}

/** Why an edit of a configuration is not possible; undefined where it is. */
function obstacleTo(edit: () => unknown): string | undefined {
  try {
    edit();
    return undefined;
  } catch (error) {
    if (error instanceof MemoryError) return error.message;
    throw error;
  }
}

/** An entry starts this program for another project. */
class OtherProject extends Error {}

/**
 * Starts what an entry says, and returns its server, or why that does not serve the project.
 *
 * @throws OtherProject
 */
async function serverOf(
  entry: unknown,
  around: Surroundings,
  trusted: boolean,
): Promise<ServerAnswer | string> {
  const start = startOfEntry(entry, around, trusted);
  const at = 'url' in start ? `its server at ${start.url} ` : '';
  try {
    const found =
      'url' in start ? await probeUrl(start.url, start.headers) : await probeProcess(start.process);
    const { name, server, root, problem } = found;
    if (name !== 'memory-bank') return `${at}is another server, "${server}"`;
    if (problem !== undefined) return `${at}serves no project: ${problem}`;
    if (root !== undefined && root !== realPath(around.root)) {
      throw new OtherProject(`${at}serves ${root}`);
    }
    return found;
  } catch (error) {
    if (error instanceof ProbeError) return at + error.message;
    throw error;
  }
}
