import { statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { projectPath, readText } from '../../../app/project/project-file.ts';
import { type Profile, profileVariable } from '../../../app/session/agent-profile.ts';
import { MemoryError } from '../../../core/values/error.ts';
import { own } from '../../../core/values/json.ts';
import {
  configFile,
  configFiles,
  configPath,
  entriesIn,
  entryName,
  entryOf,
  hasPersonalFile,
  type McpClient,
  servesAll,
  startOf,
} from '../client/client.ts';
import { placed } from '../client/client-place.ts';
import { clients } from '../client/client-table.ts';
import type { Start } from '../client/entry-shape.ts';
import { editWaiting } from '../client/waiting-setting.ts';
import { editHooks, hookPath, isEmptySettings } from '../hook/client-hooks.ts';
import { editScript, hookScripts } from '../hook/hook-script.ts';
import { getsBrief, hasHooks, hookClients, scriptClients } from '../hook/hook-table.ts';
import type { ClientPrograms } from '../program/client-programs.ts';
import { otherUse } from '../program/own-entry.ts';
import type { Surroundings } from '../program/surroundings.ts';
import { editInstructions } from './agent-instructions.ts';
import type { FileEdit } from './file-edit.ts';

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
  /** For each client, what the setup does for it and what it does not, as a sentence. */
  readonly outcomes: readonly string[];
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
  /** Whether a person gave the names, so that undo also removes an entry that serves all projects. */
  readonly isNamed?: boolean;
  /**
   * Whether the clients that have hooks get them, and the others the section for agents. Hooks that are
   * present are brought up to date in any case; undo always removes them.
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
export async function planSetup(setup: Setup): Promise<SetupPlan> {
  const plan = new Planner(setup);
  for (const name of setup.names) await plan.server(name);
  await plan.hooks();
  await plan.instructions();
  return plan.result();
}

/** The outcome for a file, as words. */
type Outcome = 'added' | 'as it was' | 'left alone';

class Planner {
  readonly #setup: Setup;
  readonly #undo: boolean;
  readonly #edits: FileEdit[] = [];
  readonly #untouched: Untouched[] = [];
  /** The outcome for each file by its path in the table. */
  readonly #outcomes = new Map<string, Outcome>();
  readonly #kept: string[] = [];

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#undo = setup.server === undefined;
  }

  result(): SetupPlan {
    const { names } = this.#setup;
    const outcomes = this.#undo ? this.#kept : names.map((name) => this.#sentence(name));
    return { edits: this.#edits, untouched: this.#untouched, outcomes };
  }

  /** Plans the entry of a client. */
  async server(name: string): Promise<void> {
    const { around, programs, server } = this.#setup;
    const client = own(clients, name);
    if (!client) {
      throw new MemoryError('invalid_input', `There is no client "${name}".`, {
        hint: `The clients are: ${Object.keys(clients).join(', ')}.`,
      });
    }
    const program = hasPersonalFile(client) ? programs.personal : programs.shared;
    const [command = '', ...words] = program;
    const start: Start | undefined = server && {
      command,
      args: [...words, ...server.options],
      ...(server.profile && { env: { [profileVariable]: server.profile } }),
    };
    const paths = this.#undo
      ? client.files.map((place) => placed(place, around))
      : configFiles(client, around);
    for (const path of paths) {
      await this.#consider(
        path,
        () => configPath(client, around, path),
        (text) => this.#entry(name, client, path, text, program, start),
        { base: client.base },
      );
    }
    await this.#waiting(client, paths);
  }

  /** Plans the setting by which a client waits for the server, where the entry is or was there. */
  async #waiting({ title, waiting }: McpClient, entries: readonly string[]): Promise<void> {
    if (!waiting) return;
    const { around } = this.#setup;
    const outcomes = entries.map((path) => this.#outcomes.get(path) ?? 'as it was');
    if (outcomes.includes('left alone') || (this.#undo && !outcomes.includes('added'))) return;
    const path = placed(waiting.place, around);
    const change = (text: string) => {
      const edited = editWaiting(text, waiting, !this.#undo);
      if (this.#undo && edited === text) {
        this.#kept.push(`${path} keeps "${waiting.key}" of ${title}, which a person may have set.`);
      }
      return edited;
    };
    await this.#consider(path, () => projectPath(around.root, path), change, { mark: waiting.key });
  }

  async #entry(
    name: string,
    client: McpClient,
    path: string,
    text: string,
    program: readonly string[],
    start: Start | undefined,
  ): Promise<string> {
    const { around, server, mayReplace, isNamed = true } = this.#setup;
    const { language } = client;
    let edited = text;
    for (const { list, path: keys, present } of entriesIn(client, text)) {
      const entry = start && entryOf(client, list, start, around);
      if (present === undefined) {
        edited = entry ? language.edit(edited || (client.base ?? ''), keys, entry) : edited;
        continue;
      }
      const use = otherUse(present, program, around.root);
      if (use === undefined && start && server) {
        // Keep the members that a person added to an entry of ours.
        const env = { [profileVariable]: server.profile };
        const members = startOf(client, list.shape, { ...start, env }, around.root);
        edited = language.edit(edited, keys, members);
      } else if (use === undefined && servesAll(client) && !isNamed) {
        this.#kept.push(
          `${path} keeps the entry of ${client.title}, which serves all projects: "memory-bank init --undo --clients ${name}" removes it.`,
        );
      } else if (use === undefined) edited = language.edit(edited, keys, undefined);
      else if (entry && (await mayReplace(path, use))) {
        edited = language.edit(language.edit(edited, keys, undefined), keys, entry);
      } else {
        const reason = `its entry "${entryName}" ${use}`;
        this.#untouched.push({ path, reason, isForeign: true });
        this.#outcomes.set(path, 'left alone');
      }
    }
    return edited;
  }

  /** Plans the hooks of all clients: those of other clients are only brought up to date. */
  async hooks(): Promise<void> {
    const { names, hooks, programs, around } = this.#setup;
    for (const [name, client] of Object.entries(hookClients)) {
      const path = hookPath(client, around.root);
      const resolve = () => projectPath(around.root, path);
      const isChosen = names.includes(name) && (hooks || this.#undo);
      const edit = !isChosen ? 'guard' : this.#undo ? 'remove' : 'add';
      // Hooks that an earlier version wrote can stop everybody who works on the project.
      if (edit === 'guard' && (this.#undo || !hasText(resolve, ' hook '))) continue;
      const change = (text: string) => editHooks(text, client, programs.shared, around.root, edit);
      await this.#consider(path, resolve, change, { mark: ' hook ' });
    }
    for (const [name, client] of Object.entries(scriptClients)) {
      if (!names.includes(name) || !(hooks || this.#undo)) continue;
      for (const script of hookScripts(name, client, around.root)) {
        await this.#consider(
          script.path,
          () => projectPath(around.root, script.path),
          (text) => editScript(text, this.#undo ? undefined : script.text(programs.shared)),
          { mark: 'memory-bank', isProgram: script.isProgram },
        );
      }
    }
  }

  async instructions(): Promise<void> {
    const { names, hooks, instructions, around } = this.#setup;
    const contexts = names.flatMap((name) => {
      const context = own(clients, name)?.context ?? [];
      return this.#undo || (hooks && !getsBrief(name)) ? context : [];
    });
    for (const file of new Set([...instructions, ...contexts])) {
      const path = join(around.root, file);
      const resolve = () => projectPath(around.root, path);
      await this.#consider(path, resolve, (text) => editInstructions(text, !this.#undo));
    }
  }

  /** Plans the change of a file, unless it cannot be edited safely. */
  async #consider(
    given: string,
    resolve: () => string,
    edit: (text: string) => Promise<string> | string,
    { mark = entryName, base = '', isProgram = false }: FileKind = {},
  ): Promise<void> {
    const leave = (error: unknown, isForeign: boolean) => {
      if (!(error instanceof MemoryError) || !isAboutFile(error)) throw error;
      const reason = error.message.replace(/\.$/, '');
      this.#untouched.push({ path: given, reason, ...(isForeign && { isForeign }) });
      this.#outcomes.set(given, 'left alone');
    };
    let path: string;
    try {
      path = resolve();
    } catch (error) {
      // A setup does not write there, so there is nothing to take back either.
      return leave(error, this.#undo);
    }
    try {
      // Two files may be links to one, which then gets both changes.
      const earlier = this.#edits.find((one) => one.path === path);
      const before = earlier ? earlier.after : readText(path);
      // A text without the mark has nothing to remove, even where it cannot be parsed.
      if (this.#undo && !before?.includes(mark)) return;
      const text = await edit(before ?? '');
      const isEmpty = isEmptySettings(text) || (base !== '' && text === base);
      const after = this.#undo && isEmpty ? undefined : text;
      const isSame = before === undefined ? this.#undo || after === '' : after === before;
      const known = this.#outcomes.get(given);
      this.#outcomes.set(given, known ?? (isSame ? 'as it was' : 'added'));
      if (isSame) return;
      if (before !== undefined && !earlier) checkWritable(path);
      if (earlier) this.#edits.splice(this.#edits.indexOf(earlier), 1, { ...earlier, after });
      else this.#edits.push({ path, before, after, ...(isProgram && { isProgram }) });
    } catch (error) {
      leave(error, false);
    }
  }

  /** Says what the setup does for a client, and what it does not. */
  #sentence(name: string): string {
    const { around, hooks, instructions } = this.#setup;
    const client = own(clients, name);
    if (!client) return name;
    const file = configFile(client, around);
    const parts = [this.#part('the server', file)];
    const { waiting } = client;
    if (waiting) parts.push(this.#part(`"${waiting.key}"`, placed(waiting.place, around)));
    const hooked = own(hookClients, name);
    const script = own(scriptClients, name);
    const hookFile = hooked
      ? hookPath(hooked, around.root)
      : script && hookScripts(name, script, around.root)[0]?.path;
    if (hooks && hookFile !== undefined) parts.push(this.#part('hooks', hookFile));
    else if (hasHooks(name)) parts.push('no hooks (--hooks adds them)');
    const context = join(around.root, client.context);
    if ((hooks && !getsBrief(name)) || instructions.includes(client.context)) {
      parts.push(this.#part('the section for agents', context));
    } else if (!getsBrief(name)) {
      parts.push(
        `no section in ${client.context} (--hooks adds it, as there is no hook for a brief)`,
      );
    }
    const isNew = this.#outcomes.get(file) === 'added';
    return `${client.title}: ${parts.join('; ')}.${isNew ? ` ${client.trust}` : ''}`;
  }

  #part(what: string, path: string): string {
    const outcome = this.#outcomes.get(path) ?? 'as it was';
    return `${what} in ${shown(path, this.#setup.around)} (${outcome})`;
  }
}

/** How a file is taken. */
interface FileKind {
  /** A text that each file has which the setup has edited. */
  readonly mark?: string;
  /** The text of a file without the entry. */
  readonly base?: string | undefined;
  readonly isProgram?: boolean;
}

/** Whether an error is about one file, so that the rest can go on. */
function isAboutFile({ code }: MemoryError): boolean {
  return ['damaged', 'conflict', 'too_large', 'storage'].includes(code);
}

/** A path as a person would write it: in the project or the home directory. */
function shown(path: string, { root, home }: Surroundings): string {
  for (const [top, prefix] of [
    [root, ''],
    [home, '~/'],
  ] as const) {
    const inside = relative(top, path);
    if (!isAbsolute(inside) && !inside.startsWith('..')) {
      return prefix + inside.split(sep).join('/');
    }
  }
  return path;
}

/** Refuses a file that its owner has made read-only: replacing it would go round that. */
function checkWritable(path: string): void {
  if ((statSync(path).mode & 0o222) === 0) throw new MemoryError('damaged', 'it is read-only');
}

/** Whether a file exists that contains a text. */
function hasText(resolve: () => string, text: string): boolean {
  try {
    return readText(resolve())?.includes(text) === true;
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}
