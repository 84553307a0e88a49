import { randomBytes } from 'node:crypto';
import { mkdir, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { personalPath, projectPath, readText } from '../../../app/project/project-file.ts';
import { type Profile, profileVariable } from '../../../app/session/agent-profile.ts';
import { unifiedDiff } from '../../../core/diff/unified-diff.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { own } from '../../../core/values/json.ts';
import { clients, configPath, entryName, type Start } from '../client/client.ts';
import { editHooks, hookClients, hookPath, isEmptySettings } from '../hook/client-hooks.ts';
import type { ClientPrograms } from '../program/client-programs.ts';
import { otherUse } from '../program/own-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import { editInstructions } from './agent-instructions.ts';

/** A change of a file; its text is undefined where the file does not exist. */
export interface FileEdit {
  /** Absolute, links resolved: what is shown is what is written. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A file that the setup does not edit, and why. */
export interface Untouched {
  readonly path: string;
  readonly reason: string;
  /** Whether its entry of our name is for something else, which is not an error. */
  readonly isForeign?: boolean;
  /** The remedy, where it is not about an entry. */
  readonly remedy?: string;
}

export interface SetupPlan {
  readonly edits: readonly FileEdit[];
  readonly untouched: readonly Untouched[];
}

/** The settings of the server that an entry starts. */
export interface ServerSettings {
  readonly options: readonly string[];
  /**
   * The profile; undefined for none. An entry sets it as a variable, because an older program, which a
   * teammate may have, refuses an option that it does not know and ignores a variable.
   */
  readonly profile: Profile | undefined;
}

/** Input of the plan of a setup. */
export interface Setup {
  /** Names of clients. */
  readonly names: readonly string[];
  /**
   * Whether the clients that have hooks get them. Hooks that are present are brought up to date in any
   * case; undo always removes them.
   */
  readonly hooks: boolean;
  /** Names of the instruction files for agents. */
  readonly instructions: readonly string[];
  readonly programs: ClientPrograms;
  /** How the server is started; undefined removes the entries and sections again. */
  readonly server: ServerSettings | undefined;
  readonly around: Surroundings;
  /** Whether to replace the entry of our name in a file, although it is for something else. */
  mayReplace(path: string, use: string): Promise<boolean>;
}

/** Plans the changes of the configurations of clients and of the instructions for agents. */
export async function planSetup({
  names,
  hooks,
  instructions,
  programs,
  server,
  around,
  mayReplace,
}: Setup): Promise<SetupPlan> {
  const undo = server === undefined;
  const edits: FileEdit[] = [];
  const untouched: Untouched[] = [];
  const consider = async (
    given: string,
    resolve: () => string,
    edit: (text: string) => Promise<string> | string,
    mark = entryName,
  ) => {
    let path: string;
    try {
      path = resolve();
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'damaged') throw error;
      // A setup does not write there, so there is nothing to take back either.
      const reason = error.message.replace(/\.$/, '');
      untouched.push({ path: given, reason, isForeign: undo });
      return;
    }
    try {
      // Two files may be links to one, which then gets both changes.
      const earlier = edits.find((one) => one.path === path);
      const before = earlier ? earlier.after : readText(path);
      // A text without the mark has nothing to remove, even where it cannot be parsed.
      if (undo && !before?.includes(mark)) return;
      const text = await edit(before ?? '');
      const after = undo && isEmptySettings(text) ? undefined : text;
      if (before === undefined ? undo : after === before) return;
      if (earlier) edits.splice(edits.indexOf(earlier), 1, { ...earlier, after });
      else edits.push({ path, before, after });
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code !== 'damaged') throw error;
      untouched.push({ path: given, reason: error.message.replace(/\.$/, '') });
    }
  };
  for (const name of names) {
    const client = own(clients, name);
    if (!client) {
      throw new MemoryError('invalid_input', `There is no client "${name}".`, {
        hint: `The clients are: ${Object.keys(clients).join(', ')}.`,
      });
    }
    const program = client.personal ? programs.personal : programs.shared;
    const [command = '', ...words] = program;
    const start: Start | undefined = server && {
      command,
      args: [...words, ...server.options],
      ...(server.profile && { env: { [profileVariable]: server.profile } }),
    };
    const entry = start && (client.start?.(start, around) ?? start);
    const { language, servers } = client;
    const path = client.config(around);
    const keys = [servers, entryName];
    const resolve = () => configPath(client, around);
    await consider(path, resolve, async (text) => {
      const present = language.read(text, keys);
      if (present === undefined) return language.edit(text, keys, entry);
      const use = otherUse(present, program, around.root);
      if (use === undefined && entry && server) {
        // Keep the members that a person added to an entry of ours.
        const { command, args } = entry;
        const env = { [profileVariable]: server.profile };
        return language.edit(text, keys, { command, args, env });
      }
      if (use === undefined) return language.edit(text, keys, undefined);
      if (entry && (await mayReplace(path, use))) {
        return language.edit(language.edit(text, keys, undefined), keys, entry);
      }
      untouched.push({ path, reason: `its entry "${entryName}" ${use}`, isForeign: true });
      return text;
    });
  }
  for (const [name, client] of Object.entries(hookClients)) {
    const path = hookPath(client, around.root);
    const resolve = () => projectPath(around.root, path);
    const isChosen = names.includes(name) && (hooks || undo);
    const edit = !isChosen ? 'guard' : undo ? 'remove' : 'add';
    // Hooks that an earlier version wrote can stop everybody who works on the project.
    if (edit === 'guard' && (undo || !hasHooks(resolve))) continue;
    await consider(
      path,
      resolve,
      (text) => editHooks(text, client, programs.shared, around.root, edit),
      ' hook ',
    );
  }
  for (const file of instructions) {
    const path = join(around.root, file);
    const resolve = () => projectPath(around.root, path);
    await consider(path, resolve, (text) => editInstructions(text, !undo));
  }
  return { edits, untouched };
}

/** Whether a file exists that may contain hooks of this program. */
function hasHooks(resolve: () => string): boolean {
  try {
    return readText(resolve())?.includes(' hook ') === true;
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

/** The change of a file as a unified diff. */
export function diffOf({ path, before, after }: FileEdit): string {
  const old = before === undefined ? '/dev/null' : path;
  const now = after === undefined ? '/dev/null' : path;
  return `--- ${old}\n+++ ${now}\n${unifiedDiff(before ?? '', after ?? '')}`;
}

/** Writes the change at once: the file is never seen half-written. */
export async function applyEdit(
  { path, after }: FileEdit,
  { root, home }: Pick<Surroundings, 'root' | 'home'>,
): Promise<void> {
  // A link that was put there after the plan was shown leads elsewhere.
  if (personalPath(path) !== path) {
    throw new MemoryError('storage', `${path} has become a symbolic link.`, {
      hint: 'Run the command again.',
    });
  }
  try {
    if (after === undefined) {
      await rm(path);
      // Remove the folders that only contained this file.
      const ends = await Promise.all([root, home].map((end) => realpath(end).catch(() => end)));
      let folder = dirname(path);
      while (!ends.includes(folder) && (await isRemoved(folder))) folder = dirname(folder);
      return;
    }
    await mkdir(dirname(path), { recursive: true });
    const mode = await stat(path).then(
      (found) => found.mode & 0o777,
      () => 0o644,
    );
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    await writeFile(temporary, after, { mode });
    await rename(temporary, path);
  } catch (cause) {
    throw new MemoryError('storage', `${path} cannot be written.`, { cause });
  }
}

/** Removes a folder if it is empty; returns whether it did. */
function isRemoved(folder: string): Promise<boolean> {
  return rmdir(folder).then(
    () => true,
    () => false,
  );
}
