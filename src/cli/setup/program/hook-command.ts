import {
  hookEvents,
  type NamedClient,
  namedClients,
  PlainAnswer,
} from '../../../app/hook/client-event.ts';
import { MemoryError } from '../../../core/values/error.ts';
import hookCommandForm from './hook-command.json' with { type: 'json' };
import { shimNames, withoutCmd } from './own-entry.ts';

/**
 * The command line of a hook, which cannot fail: it ends with status 0, and prints nothing but an answer,
 * which its start shows, also where the program is missing, older or broken.
 *
 * Everybody who works on a project has the same file, and each client starts it with another shell, so
 * that one text has to serve all of them:
 *
 * - cmd sees three commands and a comment; it cannot check the output. `set` assigns a variable.
 * - sh sets an argument to the quoted text, which the comment in backquotes does not change. It ends at
 *   `exit 0`, before the comment `#>`.
 * - PowerShell stores what a client pipes into the command as a variable with that odd name. It skips
 *   the comment from `<#` to `#>`, and catches that the program is missing.
 */
const form = hookCommandForm.form;

/** A command line of a hook in the settings of a client. */
export interface HookLine {
  /** The words of the command before `hook`. */
  readonly words: readonly string[];
  readonly event: string;
  /** The client, where the command names it. */
  readonly client?: NamedClient;
  /** Whether the command cannot fail, in the form that `init` writes now. */
  readonly guarded: boolean;
}

/**
 * Returns the command line by which clients answer an event with a program.
 *
 * @throws MemoryError as `hookProgram`.
 */
export function hookCommand(
  program: readonly string[],
  event: string,
  client?: NamedClient,
): string {
  const [start = ''] = client ? PlainAnswer.mark : '{';
  const words = client ? [event, client] : [event];
  return Object.entries({ ...hookProgram(program, ...words), start }).reduce(
    (text, [name, part]) => text.replaceAll(`{${name}}`, () => part),
    form,
  );
}

/**
 * The call of a program for an event, in the words of each shell.
 *
 * @param event its name, and the client where the command names it.
 * @throws MemoryError `invalid_input` for a program that cannot be written for all shells.
 */
export function hookProgram(
  program: readonly string[],
  ...event: readonly string[]
): { readonly cmd: string; readonly sh: string; readonly powershell: string } {
  const odd = program.find((word) => !/^[\p{L}\p{N}_@+=:,./\\~() -]+$/u.test(word));
  if (odd !== undefined) {
    throw new MemoryError('invalid_input', `A hook cannot start ${JSON.stringify(odd)}.`, {
      hint: 'Use a command without quotes and other special characters for --command.',
    });
  }
  // The shells start files for cmd themselves, and Git Bash would take `/c` for a folder.
  const [command = '', ...args] = withoutCmd(program);
  const words = [command, ...args, 'hook', ...event];
  // npm also installs a script for PowerShell, which Windows does not run by default.
  const shim = shimNames.includes(command) ? `${command}.cmd` : command;
  return {
    cmd: words.map((word) => quoted(word, '"')).join(' '),
    sh: words.map((word) => quoted(word, "'")).join(' '),
    powershell: [shim, ...args, 'hook', ...event].map((word) => quoted(word, "'")).join(' '),
  };
}

function quoted(word: string, quote: string): string {
  const isPlain =
    quote === '"' ? /^[^\s()=,]+$/.test(word) : /^[\w+=:./~-][\w@+=:./~-]*$/.test(word);
  return isPlain ? word : quote + word + quote;
}

/** Reads a command line `<program> hook <event> [<client>]`, in any form; undefined for another command. */
export function readHookCommand(command: string): HookLine | undefined {
  const [before = '', after = ''] = form.split('{cmd}');
  const [next = ''] = after.split('{sh}');
  const end = command.startsWith(before) ? command.indexOf(next) : -1;
  const plain = command.replace(/\s*(?:\|\||;|&)\s*exit\s+(?:\/b\s+)?0\s*$/, '');
  const line = end < 0 ? plain : command.slice(before.length, end);
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  const at = words.lastIndexOf('hook');
  const [event = '', name] = words.slice(at + 1);
  const client = namedClients.find((one) => one === name);
  const isHook = at > 0 && words.length === at + (client ? 3 : 2);
  if (!isHook || !hookEvents.some((one) => one === event)) return undefined;
  const found = { words: words.slice(0, at), event, ...(client && { client }) };
  return { ...found, guarded: isCurrent(command, found) };
}

function isCurrent(command: string, { words, event, client }: Omit<HookLine, 'guarded'>): boolean {
  try {
    return command === hookCommand(words, event, client);
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}
