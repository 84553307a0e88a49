import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { personalPath, projectPath, readText } from '../../../app/project/project-file.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { isObject } from '../../../core/values/json.ts';
import type { Language } from '../language/language.ts';
import type { Surroundings } from '../program/surroundings.ts';
import { isPersonal, placed } from './client-place.ts';
import { type EntryShape, type Start, usualEntry } from './entry-shape.ts';
import type { ToolLimits } from './listed-tools.ts';

/** The name of the entry in every configuration. */
export const entryName = 'memory-bank';

/** A list of servers in the configuration of a client. */
export interface ServerList {
  /** The keys that lead to it, and to an entry in it. */
  readonly keys: readonly string[];
  /** The key of the entry, where it is not its name. */
  readonly entry?: string;
  readonly shape: EntryShape;
}

/** The state of a client's approval of the server, where a file tells it. */
export interface TrustFile {
  /** The place of the file. */
  readonly place: string;
  /** The act of the client without it, if that is not to leave out all that the project has for it. */
  readonly pending?: string;
  /** Whether the client also runs no hooks without it; it does not in most clients. */
  readonly coversHooks?: false;
  /** Whether the client asks at all, by the setting `security.folderTrust.enabled` in a file, or without it. */
  readonly asks?: { readonly place: string; readonly usually: boolean };
  /** Whether it approves of the server of a project; undefined where it does not say. */
  approves(value: unknown, root: string): boolean | undefined;
}

/** A setting of the project without which a client asks its model before the servers are connected. */
export interface WaitingSetting {
  /** The place of the file, which is JSON. */
  readonly place: string;
  /** The key, which is `true` in a client that waits. */
  readonly key: string;
  /** The act of the client without it. */
  readonly without: string;
}

/** An MCP client whose configuration the setup can edit. */
export interface McpClient {
  readonly title: string;
  /** Places of files or folders whose presence shows that the client is in use here. */
  readonly signs: readonly string[];
  /** Places of its configuration, of which `configFile` chooses one. */
  readonly files: readonly string[];
  readonly language: Language;
  /** Its lists of servers, the newest form first: one that is present, else the last. */
  readonly lists: readonly ServerList[];
  /** The text that a new configuration begins with. */
  readonly base?: string;
  /**
   * How the entry says which project it serves, for a client that starts servers elsewhere: by a
   * variable of the client, or by an option in the one entry for all projects.
   */
  readonly names?: 'variable' | 'option';
  readonly limits: ToolLimits;
  /** The instructions in the project that the client reads. */
  readonly context: string;
  /** The step by which a person approves of the server, as a sentence. */
  readonly trust: string;
  readonly trustFile?: TrustFile;
  readonly waiting?: WaitingSetting;
  /** How a person sees in the client that the server works. */
  readonly shows: string;
}

/** Whether the configuration of a client is the user's own, outside of any project. */
export function hasPersonalFile({ files }: McpClient): boolean {
  return files.every(isPersonal);
}

/** Whether a client has one entry for all projects, so that it does not belong to one of them. */
export function servesAll(client: McpClient): boolean {
  return hasPersonalFile(client) && client.names === undefined;
}

/** Whether a client is in use here. */
export function isUsed({ signs }: McpClient, around: Surroundings): boolean {
  return signs.some((sign) => existsSync(placed(sign, around)));
}

/**
 * The absolute path of the configuration of a client: the one that has our entry, else the first that
 * exists, else the first whose folder exists, else the first of all.
 */
export function configFile(client: McpClient, around: Surroundings): string {
  const paths = client.files.map((place) => placed(place, around));
  const present = paths.filter((path) => existsSync(path));
  const named = present.find((path) => contains(path, entryName));
  // A form of the client that is in use here has the folder, before it has a server.
  const begun = paths.find((path) => existsSync(dirname(path)));
  return named ?? present[0] ?? begun ?? paths[0] ?? around.root;
}

/**
 * The configurations that a setup writes. Of a user's own there is one for each form of the client that is
 * in use, such as an editor and a command line, which do not read that of the other.
 */
export function configFiles(client: McpClient, around: Surroundings): string[] {
  const usual = configFile(client, around);
  if (!hasPersonalFile(client)) return [usual];
  const paths = client.files.map((place) => placed(place, around));
  return [...new Set([usual, ...paths.filter((path) => existsSync(dirname(path)))])];
}

function contains(path: string, text: string): boolean {
  try {
    return readText(path)?.includes(text) === true;
  } catch {
    return false;
  }
}

/**
 * The real path of a client's configuration, which is what is shown, read and written.
 *
 * @param path by default the one that `configFile` chooses.
 * @throws MemoryError `damaged` for a link in the project that leads out of it, or one that leads
 *   nowhere.
 */
export function configPath(
  client: McpClient,
  around: Surroundings,
  path = configFile(client, around),
): string {
  return hasPersonalFile(client) ? personalPath(path) : projectPath(around.root, path);
}

/** An entry of ours, or the place where it belongs. */
export interface PlacedEntry {
  readonly list: ServerList;
  /** The keys that lead to the entry. */
  readonly path: readonly string[];
  /** The entry in the form that most clients have; undefined where there is none. */
  readonly present: unknown;
}

/**
 * Finds the entries of our name in a configuration, in the forms of all versions of the client. Without
 * one it returns the place of a new entry.
 *
 * @throws MemoryError `damaged` when the text cannot be read.
 */
export function entriesIn(
  client: McpClient,
  text: string,
): readonly [PlacedEntry, ...PlacedEntry[]] {
  const all = client.lists.map((list): PlacedEntry => {
    const path = [...list.keys, list.entry ?? entryName];
    return { list, path, present: usualEntry(client.language.read(text, path)) };
  });
  const [first, ...others] = all.filter(({ present }) => present !== undefined);
  if (first) return [first, ...others];
  const begun = all.find(({ list }) => isList(client.language.read(text, list.keys)));
  const place = begun ?? all.at(-1);
  if (!place) throw new MemoryError('damaged', `${client.title} has no list of servers`);
  return [place];
}

/** Whether a value is a list of servers, and not a server of that name. */
function isList(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((one) => isObject(one));
}

/** The entry by which a client starts the server. */
export function entryOf(
  client: McpClient,
  { shape }: ServerList,
  start: Start,
  { root }: Surroundings,
): object {
  return { ...shape.constant, ...startOf(client, shape, start, root) };
}

/** The members of an entry that say how the server is started. */
export function startOf(
  { names }: McpClient,
  shape: EntryShape,
  start: Start,
  root: string,
): object {
  if (names === 'option') return shape.start({ ...start, args: [...start.args, '--root', root] });
  if (names === undefined) return shape.start(start);
  return shape.start({ ...start, env: { ...start.env, MEMORY_BANK_ROOT: `\${workspaceFolder}` } });
}
