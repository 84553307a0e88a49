import { join } from 'node:path';
import { isObject } from '../../../core/values/json.ts';
import { editJson, jsonWithComments } from '../language/json-entry.ts';
import { type HookLine, hookCommand, readHookCommand } from '../program/hook-command.ts';
import { otherUse } from '../program/own-entry.ts';
import hookSettings from './hook-settings.json' with { type: 'json' };

/** A client that runs hooks, and its settings of them. */
interface HookClient {
  readonly title: string;
  /** The path of the file in the project. */
  readonly path: readonly string[];
  /** The settings, with the command `memory-bank hook`. */
  readonly settings: { readonly version?: number; readonly hooks: object };
}

const claude: HookClient = {
  title: 'Claude Code hooks',
  path: ['.claude', 'settings.json'],
  settings: hookSettings.claude,
};

/** Clients with hooks, by the names that `--clients` takes. */
export const hookClients: { readonly [name: string]: HookClient } = {
  claude,
  codex: {
    title: 'Codex hooks',
    path: ['.codex', 'hooks.json'],
    settings: hookSettings.codex,
  },
  cursor: {
    title: 'Cursor hooks',
    path: ['.cursor', 'hooks.json'],
    settings: hookSettings.cursor,
  },
  // It reads the hooks of Claude Code.
  vscode: { ...claude, title: 'VS Code hooks' },
  copilot: {
    title: 'Copilot CLI hooks',
    path: ['.github', 'hooks', 'memory-bank.json'],
    settings: hookSettings.copilot,
  },
  gemini: {
    title: 'Gemini CLI hooks',
    path: ['.gemini', 'settings.json'],
    settings: hookSettings.gemini,
  },
};

/** The fields of an entry in which clients have a command. */
const commandKeys = ['command', 'bash', 'powershell'];

/** Absolute path of the file with the hooks of a client. */
export function hookPath({ path }: HookClient, root: string): string {
  return join(root, ...path);
}

/** A command in the settings of a client that answers an event with `hook`. */
export interface HookCommand extends HookLine {
  /** The keys and indexes that lead to the entry of the command. */
  readonly path: readonly (string | number)[];
  /** The keys of the entry that have the command: Copilot CLI has one for each shell. */
  readonly keys: readonly string[];
}

/**
 * Lists the commands `<program> hook <event>` in the settings of a client.
 *
 * @throws MemoryError `damaged` when the text cannot be read.
 */
export function hookCommands(text: string): HookCommand[] {
  const found: HookCommand[] = [];
  const visit = (value: unknown, path: HookCommand['path']) => {
    if (Array.isArray(value)) for (const [i, one] of value.entries()) visit(one, [...path, i]);
    if (!isObject(value)) return;
    const fields = Object.entries(value);
    const commands = fields.flatMap(([key, one]) => {
      const isCommand = commandKeys.includes(key) && typeof one === 'string';
      const command = isCommand ? readHookCommand(one) : undefined;
      return command ? [{ key, ...command }] : [];
    });
    const [command] = commands;
    if (command) {
      const { words, event } = command;
      const guarded = commands.every((one) => one.guarded);
      found.push({ path, keys: commands.map(({ key }) => key), words, event, guarded });
    }
    for (const [key, one] of fields) visit(one, [...path, key]);
  };
  visit(jsonWithComments.read(text, ['hooks']), ['hooks']);
  return found;
}

/** An edit of the hooks in the settings of a client. */
export type HookEdit =
  /** All of them, started by the command that `init` writes. */
  | 'add'
  /** Those that are present get the form that cannot fail. */
  | 'guard'
  | 'remove';

/**
 * Edits the hooks of a client in its settings; everything else stays as it is.
 *
 * @param program the command that `init` would write.
 * @throws MemoryError `damaged` when the text cannot be edited safely.
 */
export function editHooks(
  text: string,
  { settings }: HookClient,
  program: readonly string[],
  root: string,
  edit: HookEdit,
): string {
  const ours = ownHooks(text, program, root);
  if (edit === 'remove') {
    // From the last to the first, so that the indexes before it stay valid.
    return ours.reduceRight((part, { path }) => removeCommand(part, path), text);
  }
  const given = ours.reduce((part, { path, keys, words, event }) => {
    const line = hookCommand(edit === 'add' ? program : words, event);
    return editJson(part, path, Object.fromEntries(keys.map((key) => [key, line])));
  }, text);
  if (edit === 'guard') return given;
  let edited = given;
  if (settings.version !== undefined && text.trim() === '') {
    edited = `${JSON.stringify({ version: settings.version }, null, 2)}\n`;
  }
  for (const [name, groups] of Object.entries(settings.hooks)) {
    if (ours.some(({ path }) => path[1] === name)) continue;
    const present: unknown = jsonWithComments.read(edited, ['hooks', name]);
    const end = Array.isArray(present) ? present.length : 0;
    const [group] = withProgram(groups, program);
    edited = editJson(edited, ['hooks', name, end], group);
  }
  return edited;
}

/** Lists the commands in the settings of a client that start this program for the project. */
export function ownHooks(text: string, program: readonly string[], root: string): HookCommand[] {
  return hookCommands(text).filter(({ words: [command, ...args] }) => {
    return otherUse({ command, args }, program, root) === undefined;
  });
}

/** Removes the entry of a command, and the lists and objects that contained nothing else. */
function removeCommand(text: string, path: HookCommand['path']): string {
  // A group of commands also has a matcher, which means nothing without them.
  const group = path.slice(0, 3);
  const commands = path.length > 3 ? jsonWithComments.read(text, [...group, 'hooks']) : undefined;
  const isOnly = Array.isArray(commands) && commands.length === 1;
  return editJson(text, isOnly ? group : path, undefined);
}

/** The groups of hooks of an event, with the command that starts the program. */
function withProgram(groups: unknown, program: readonly string[]): object[] {
  const start = /^memory-bank hook (?=[a-z-]+$)/;
  return JSON.parse(JSON.stringify(groups), (_, value) => {
    if (typeof value !== 'string' || !start.test(value)) return value;
    return hookCommand(program, value.replace(start, ''));
  });
}

/** Whether a text contains only what a file of hooks begins with. */
export function isEmptySettings(text: string): boolean {
  return /^\ufeff?\s*(?:\{\s*(?:"version"\s*:\s*1\s*)?\}\s*)?$/.test(text);
}
