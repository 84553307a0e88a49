import { spawnSync } from 'node:child_process';
import type { Finding } from '../../../app/health/finding.ts';
import { PlainAnswer } from '../../../app/hook/client-event.ts';
import { projectPath, readText } from '../../../app/project/project-file.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { own } from '../../../core/values/json.ts';
import { clients } from '../client/client-table.ts';
import { trustNote } from '../client/trust-state.ts';
import { CannotStart, NotOnPath, NotStarted, startOfEntry } from '../program/entry-start.ts';
import { binName, pathAdvice } from '../program/own-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import { type HookCommand, hookCommands, hookPath, ownHooks } from './client-hooks.ts';
import { hookClients } from './hook-table.ts';

/** How long a hook may take, in milliseconds. */
const limit = 10_000;
/** The name under which most clients report each event. */
const eventNames: { readonly [event: string]: string } = {
  'session-start': 'SessionStart',
  prompt: 'UserPromptSubmit',
  action: 'PreToolUse',
  'pre-compact': 'PreCompact',
  stop: 'Stop',
  'session-end': 'SessionEnd',
};

/** Runs each hook in the settings of clients once, and reports how long it takes. */
export function checkHooks(around: Surroundings, startsAll: boolean): Finding[] {
  const seen = new Set<string>();
  return Object.entries(hookClients).flatMap(([name, client]): Finding[] => {
    const given = hookPath(client, around.root);
    // Two clients may read one file.
    if (seen.has(given)) return [];
    seen.add(given);
    const what = client.title;
    try {
      const text = readText(projectPath(around.root, given));
      if (text === undefined) return [];
      const findings = hookCommands(text, client.root).map((hook): Finding => {
        const { state, text: result } = run(hook, around, startsAll);
        return { what, state, text: `${given}: the hook ${hook.event} ${result}` };
      });
      const unguarded = ownHooks(text, [binName], around.root, client.root).filter(
        ({ guarded }) => !guarded,
      );
      if (unguarded.length > 0) {
        const events = unguarded.map(({ event }) => event).join(', ');
        const why = `${events} can stop everybody who does not have this version of the program`;
        findings.push({ what, state: 'bad', text: `${given}: ${why}: run memory-bank init` });
      }
      const owner = own(clients, name);
      const isCovered = owner?.trustFile?.coversHooks !== false && findings.length > 0;
      const pending = owner && isCovered ? trustNote(owner, around) : undefined;
      if (pending !== undefined) {
        findings.push({ what, state: 'note', text: `${given}: ${pending}` });
      }
      return findings;
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      return [{ what, state: 'bad', text: `${given}: ${error.text}` }];
    }
  });
}

/** Runs a hook with the input of a session without an id, which leaves no trace. */
function run(
  { words: [command, ...args], event, client }: HookCommand,
  around: Surroundings,
  startsAll: boolean,
): Omit<Finding, 'what'> {
  try {
    const start = startOfEntry({ command, args }, around, startsAll);
    if ('url' in start) return { state: 'bad', text: 'is a URL' };
    const { command: program, args: words, cwd, env } = start.process;
    const shell = process.platform === 'win32' && /\.(?:cmd|bat)$/i.test(program);
    const input = {
      ...{ hook_event_name: eventNames[event], cwd: around.root, source: 'startup' },
      ...{ tool_name: 'Read', tool_input: { file_path: 'README.md' } },
    };
    const begun = performance.now();
    const { status, stdout, error } = spawnSync(
      shell ? `"${program}"` : program,
      [...words, 'hook', event, ...(client ? [client] : [])],
      {
        cwd,
        env: { ...env },
        shell,
        input: JSON.stringify(input),
        encoding: 'utf8',
        timeout: limit,
      },
    );
    const time = `${Math.round(performance.now() - begun)} ms`;
    if (error) return { state: 'bad', text: `cannot be run: ${error.message}` };
    if (status !== 0) return { state: 'bad', text: `ends with status ${status} instead of 0` };
    if (client && !isPlainAnswer(stdout)) return { state: 'bad', text: 'prints no answer' };
    if (!client && !isAnswer(stdout))
      return { state: 'bad', text: 'prints something that is not JSON' };
    return { state: 'good', text: `answers in ${time}` };
  } catch (error) {
    if (error instanceof NotStarted) {
      const remedy = 'If you trust that, "memory-bank doctor --start" runs it';
      return { state: 'note', text: `is not run: ${error.message}. ${remedy}` };
    }
    if (error instanceof NotOnPath) {
      return { state: 'bad', text: `${error.message}: ${pathAdvice()}` };
    }
    if (error instanceof CannotStart) return { state: 'bad', text: error.message };
    throw error;
  }
}

/** Whether the output of a hook is one for a client that takes plain text. */
function isPlainAnswer(text: string): boolean {
  return text.trim() === '' || text.startsWith(PlainAnswer.mark);
}

/** Whether a client can read the output of a hook: nothing, or one JSON value. */
function isAnswer(text: string): boolean {
  try {
    if (text.trim() !== '') JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
