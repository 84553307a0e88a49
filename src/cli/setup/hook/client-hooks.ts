import { join } from 'node:path';
import { isObject } from '../../../core/values/json.ts';
import { editJson, jsonWithComments } from '../language/json-entry.ts';
import { type HookLine, hookCommand, readHookCommand } from '../program/hook-command.ts';
import { otherUse } from '../program/own-entry.ts';
import { type HookedClient, isListed } from './hook-table.ts';

/** The fields of an entry in which clients have a command. */
const commandKeys = ['command', 'bash', 'powershell'];

/** Absolute path of the file with the hooks of a client. */
export function hookPath({ path }: HookedClient, root: string): string {
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
 * @param root the keys that lead to the events.
 * @throws MemoryError `damaged` when the text cannot be read.
 */
export function hookCommands(text: string, root: HookedClient['root'] = ['hooks']): HookCommand[] {
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
      const { key: _, ...line } = command;
      const guarded = commands.every((one) => one.guarded);
      found.push({ ...line, path, keys: commands.map(({ key }) => key), guarded });
    }
    for (const [key, one] of fields) visit(one, [...path, key]);
  };
  visit(jsonWithComments.read(text, root), root);
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
  client: HookedClient,
  program: readonly string[],
  root: string,
  edit: HookEdit,
): string {
  const { settings } = client;
  const ours = ownHooks(text, program, root, client.root);
  if (edit === 'remove') {
    // From the last to the first, so that the indexes before it stay valid.
    return ours.reduceRight((part, { path }) => removeCommand(part, path, client), text);
  }
  const given = ours.reduce((part, { path, keys, words, event }) => {
    const line = hookCommand(edit === 'add' ? program : words, event, client.named);
    return editJson(part, path, Object.fromEntries(keys.map((key) => [key, line])));
  }, text);
  if (edit === 'guard') return given;
  let edited = given;
  if (settings.version !== undefined && text.trim() === '') {
    edited = `${JSON.stringify({ version: settings.version }, null, 2)}\n`;
  }
  const add = (path: HookedClient['root'], hook: object) => {
    const present: unknown = jsonWithComments.read(edited, path);
    const end = Array.isArray(present) ? present.length : 0;
    edited = editJson(edited, [...path, end], withProgram(hook, program, client));
  };
  if (isListed(settings.hooks)) {
    const present = jsonWithComments.read(given, client.root);
    const known = ours.map(({ path }) => triggerOf(present, path));
    for (const hook of settings.hooks) if (!known.includes(hook.trigger)) add(client.root, hook);
    return edited;
  }
  for (const [name, [group]] of Object.entries(settings.hooks)) {
    if (ours.some(({ path }) => path[client.root.length] === name)) continue;
    if (group) add([...client.root, name], group);
  }
  return edited;
}

/** The event of a hook in a list. */
function triggerOf(list: unknown, path: HookCommand['path']): unknown {
  const hook: unknown = Array.isArray(list) ? list[Number(path[1])] : undefined;
  return isObject(hook) ? hook.trigger : undefined;
}

/** Lists the commands in the settings of a client that start this program for the project. */
export function ownHooks(
  text: string,
  program: readonly string[],
  root: string,
  keys: HookedClient['root'] = ['hooks'],
): HookCommand[] {
  return hookCommands(text, keys).filter(({ words: [command, ...args] }) => {
    return otherUse({ command, args }, program, root) === undefined;
  });
}

/** Removes the entry of a command, and the lists and objects that contained nothing else. */
function removeCommand(
  text: string,
  path: HookCommand['path'],
  { root, settings }: HookedClient,
): string {
  if (isListed(settings.hooks)) return editJson(text, path.slice(0, root.length + 1), undefined);
  // A group of commands also has a matcher, which means nothing without them.
  const depth = root.length + 2;
  const group = path.slice(0, depth);
  const commands =
    path.length > depth ? jsonWithComments.read(text, [...group, 'hooks']) : undefined;
  const isOnly = Array.isArray(commands) && commands.length === 1;
  return editJson(text, isOnly ? group : path, undefined);
}

/** A hook with the command that starts the program. */
function withProgram(hook: object, program: readonly string[], { named }: HookedClient): object {
  const start = /^memory-bank hook (?=[a-z-]+$)/;
  return JSON.parse(JSON.stringify(hook), (_, value) => {
    if (typeof value !== 'string' || !start.test(value)) return value;
    return hookCommand(program, value.replace(start, ''), named);
  });
}

/** Whether a text contains only what a file of hooks begins with. */
export function isEmptySettings(text: string): boolean {
  return /^\ufeff?\s*(?:\{\s*(?:"version"\s*:\s*(?:1|"v1")\s*)?\}\s*)?$/.test(text);
}
