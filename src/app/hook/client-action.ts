import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isProjectPath } from '../../core/evidence/reference.ts';
import { isObject } from '../../core/values/json.ts';
import { filesOfCommand, keysOfCommand } from '../../toolsets/brief/command-keys.ts';
import { type Action, keysOfFile } from '../../toolsets/brief/keyed-passage.ts';

/** A call of a tool that a client is about to make, as far as it is about files or a command. */
export interface ClientAction {
  /** As the client names them. */
  readonly files: readonly string[];
  /** A line for a shell. */
  readonly command: string | undefined;
}

/** The arguments in which clients name one file. */
const fileNames = [
  'file_path',
  'filePath',
  'notebook_path',
  'absolute_path',
  'target_file',
  'path',
];
/** The arguments in which clients name several files. */
const fileLists = ['files', 'operations', 'paths', 'include'];
/** The arguments in which clients give a command or a patch. */
const commandNames = ['command', 'cmd', 'input', 'patch'];
/** Tools that look through folders, and those of servers. */
const other = /^(?:glob|grep|ls\b|list|search|find|file_search|semantic|mcp_)/i;
/** A line of a patch that names a file. */
const patched = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;
const patchStart = '*** Begin Patch';
const maxFiles = 8;
const maxText = 100_000;
const maxPath = 4_000;

/**
 * Reads the call of a tool; undefined for one that is about no file and no command.
 *
 * @param input an object, or its JSON as a text.
 */
export function readAction(tool: string, input: unknown): ClientAction | undefined {
  const given = typeof input === 'string' ? parsed(input) : input;
  if (other.test(tool) || !isObject(given)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(given));
  const text = textOf(commandNames.map((name) => fields.get(name)).find(Boolean));
  const isPatch = text?.includes(patchStart) === true;
  const files = isPatch
    ? [...text.matchAll(patched)].map(([, path = '']) => path.trim())
    : filesIn(fields);
  const isCommand = text !== undefined && !isPatch && files.length === 0;
  if (files.length === 0 && !isCommand) return undefined;
  return { files: files.slice(0, maxFiles), command: isCommand ? text : undefined };
}

/** The files that arguments name: one, or a list of objects that name one each. */
function filesIn(fields: ReadonlyMap<string, unknown>): string[] {
  const named = fileNames.map((name) => fields.get(name)).find((one) => typeof one === 'string');
  if (typeof named === 'string') return [named];
  const given = fileLists.map((name) => fields.get(name)).find(Boolean);
  // Cline gives some arguments as their JSON.
  const listed = typeof given === 'string' ? parsed(given) : given;
  if (!Array.isArray(listed)) return [];
  const paths = listed.slice(0, maxFiles).map((one: unknown) => (isObject(one) ? one.path : one));
  return paths.filter((path) => typeof path === 'string');
}

/** A command is a text, or the words of one: `["bash", "-lc", "npm test"]`. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.slice(0, maxText);
  if (!Array.isArray(value)) return undefined;
  const words = value.filter((one) => typeof one === 'string');
  const isShell = /^-\w*c$/.test(words[1] ?? '');
  return (isShell ? words.slice(2) : words).join(' ').slice(0, maxText);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.slice(0, maxText));
  } catch {
    return undefined;
  }
}

/**
 * Returns what a call is about, with the keys of the passages about it.
 *
 * @param root the real path of the project.
 * @param cwd of the session, to which its paths are relative.
 */
export function actionsOf(
  { files, command }: ClientAction,
  root: string,
  cwd: string | undefined,
): (Action & { readonly moment: 'file' | 'command' })[] {
  const opened = command === undefined ? files : filesOfCommand(command).slice(0, maxFiles);
  const found = opened.flatMap((file) => {
    const paths = projectPaths(file, root, cwd ?? root);
    const [subject] = paths;
    if (subject === undefined) return [];
    return [{ moment: 'file' as const, subject, keys: paths.flatMap(keysOfFile) }];
  });
  if (command === undefined) return found;
  const keys = keysOfCommand(command);
  return [...found, { moment: 'command' as const, subject: command, keys }];
}

/**
 * The paths of a file in the project, with `/`: as it is named, and with all links resolved; none for a
 * file outside.
 */
function projectPaths(file: string, root: string, cwd: string): string[] {
  if (file === '' || file.length > maxPath || file.includes('\0')) return [];
  const path = resolve(cwd, file);
  const inside = [path, realPath(path)].flatMap((one) => {
    const below = relative(root, one).replaceAll(sep, '/');
    return isProjectPath(below) ? [below] : [];
  });
  return [...new Set(inside)];
}

/** The real path of a file; of one that does not exist yet, by that of its folder. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    try {
      return join(realpathSync.native(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}
