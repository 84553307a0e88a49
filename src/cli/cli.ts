import { homedir } from 'node:os';
import { App, type AppOptions, redactText } from '../app/app.ts';
import { embeddingSettings } from '../app/embeddings/embedding-settings.ts';
import { modelSettings } from '../app/model/model.ts';
import { profileOf, profileVariable, readProfile } from '../app/session/agent-profile.ts';
import { homeFolder, startDirectory } from '../app/session/root.ts';
import { syncInterval } from '../app/session/sync-interval.ts';
import { program } from '../app/session/workspaces.ts';
import { MemoryError } from '../core/values/error.ts';
import { serve } from './commands/serve-stdio.ts';
import {
  type Command,
  type Commands,
  type Flags,
  type FlagValues,
  flagText,
} from './line/command.ts';
import { readCommandLine } from './line/command-line.ts';
import { exitStatus } from './line/exit-status.ts';
import { programVersion } from './process/program-version.ts';
import { announce, isForPeople, report } from './screen/log.ts';
import { printable } from './screen/terminal.ts';

const version = programVersion(import.meta.dirname);

/** Options of every command. */
export const flags: Flags = {
  root: {
    value: 'folder',
    about: 'the project to serve (MEMORY_BANK_ROOT)',
    default: 'the current one',
  },
  toolsets: {
    value: 'toolset,...',
    about: 'the toolsets to offer (MEMORY_BANK_TOOLSETS)',
    default: 'all',
  },
  profile: {
    value: 'agent',
    choices: ['agent'],
    about: `list only the tools of this profile (${profileVariable})`,
    default: 'all tools',
  },
  mode: { value: 'mode', about: 'the mode in which a session begins', default: 'none' },
  version: { short: 'v', about: 'print the version' },
  help: { short: 'h', about: 'print this help, or that of the command' },
};

/** The commands that are not tools; each loads when it is called, since a client waits for the server. */
const ownCommands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['', async () => serve],
  ['init', async () => (await import('./setup/init.ts')).init],
  ['doctor', async () => (await import('./setup/doctor.ts')).doctor],
  ['status', async () => (await import('./commands/status.ts')).status],
  ['search', async () => (await import('./commands/search.ts')).search],
  ['list', async () => (await import('./commands/list-records.ts')).list],
  ['show', async () => (await import('./commands/show.ts')).show],
  ['edit', async () => (await import('./commands/edit-record.ts')).edit],
  ['check', async () => (await import('./commands/check-evidence.ts')).check],
  ['layout', async () => (await import('./commands/change-layout.ts')).changeLayout],
  ['squash', async () => (await import('./commands/squash.ts')).squash],
  ['untangle', async () => (await import('./commands/untangle.ts')).untangle],
  ['memories', async () => (await import('./commands/pin-memories.ts')).memories],
  ['review', async () => (await import('./commands/review-changes.ts')).review],
  ['confirm', async () => (await import('./commands/confirm-records.ts')).confirm],
  ['propose', async () => (await import('./commands/propose-records.ts')).propose],
  ['place', async () => (await import('./commands/place.ts')).place],
  ['merge', async () => (await import('./commands/merge-branch.ts')).mergeBranch],
  [
    'merge-pull-requests',
    async () => (await import('./commands/merge-pull-requests.ts')).mergePulls,
  ],
  ['import', async () => (await import('./commands/import.ts')).importCommand],
  ['export', async () => (await import('./commands/export.ts')).exportCommand],
  ['brief', async () => (await import('./commands/brief.ts')).brief(await program.toolsets())],
  ['hook', async () => (await import('./commands/hook.ts')).hook],
  ['view', async () => (await import('./commands/open-view.ts')).view],
  ['serve', async () => (await import('./commands/serve-http.ts')).serveHttp],
  [
    'install-merge-driver',
    async () => (await import('./commands/merge-driver.ts')).installMergeDriver,
  ],
  ['merge-driver', async () => (await import('./commands/merge-driver.ts')).mergeDriver],
  ['completion', async () => (await import('./commands/completion.ts')).completion],
  ['complete', async () => (await import('./commands/complete.ts')).complete(everyCommand, flags)],
  ['help', async () => (await import('./line/help.ts')).helpCommand(find, everyCommand, flags)],
]);

/** Every command by the name that people see: those of the program, operations, then other tools. */
export async function everyCommand(): Promise<Commands> {
  const { declaredCommands } = await import('./line/tool-command.ts');
  const loading = [...ownCommands].map(async ([name, load]) => [name, await load()] as const);
  const declared = declaredCommands(await program.toolsets()).filter(
    ({ name }) => !ownCommands.has(name),
  );
  const short = declared.filter(({ tool }) => tool.command);
  const others = declared.filter(({ tool }) => !tool.command);
  return new Map([
    ...(await Promise.all(loading)),
    ...[...short, ...others].map(({ name, command }) => [name, command] as const),
  ]);
}

/** A run of the command `hook`, which never fails. */
interface HookRun {
  /** The input, if it was read already. */
  readonly input?: string | undefined;
}

/**
 * Runs the program.
 *
 * @param packageFolder the folder of the program's own package.json.
 * @param hook undefined for another command.
 * @returns the exit status: 0, or the one of the error in `exitStatus`.
 */
export async function run(
  args: readonly string[],
  packageFolder: string,
  hook?: HookRun,
): Promise<number> {
  try {
    const line = await readCommandLine(args, flags, find);
    const { name, command, general, values, operands } = line;
    if (values.help) return print(await help(name, command));
    if (values.version) return print(`${version}\n`);
    const options = appOptions(general, packageFolder);
    const app = new App(options);
    // Refuses a misspelt toolset before the command runs.
    if (options.enabled) await app.toolsets();
    const { input } = hook ?? {};
    return await command.run({ app, options, version, input, values, operands });
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    if (hook) {
      report('debug', error.text);
      return 0;
    }
    const { wordingFor } = await import('./line/error-wording.ts');
    const word = await wordingFor();
    // An argument may be a credential, and agents and logs keep the output.
    const text = word(redactText(error.text));
    announce(`memory-bank: ${printable(text)}`, 'error', text);
    const advises = error.code === 'invalid_input' && isForPeople();
    if (advises) process.stderr.write(await usage(args));
    return exitStatus[error.code];
  }
}

async function find(name: string): Promise<Command | undefined> {
  const load = ownCommands.get(name);
  if (load) return load();
  const { findCommand } = await import('./line/tool-command.ts');
  return findCommand(await program.toolsets(), name);
}

async function help(name: string, command: Command): Promise<string> {
  const { commandHelp, programHelp } = await import('./line/help.ts');
  if (name !== '') return commandHelp(name, command, flags);
  return programHelp(await everyCommand(), flags);
}

/** Help below an error about the command line: similar names and the usage. */
async function usage(args: readonly string[]): Promise<string> {
  const { similarNames, usageLine } = await import('./line/help.ts');
  const words = args.filter((arg) => !arg.startsWith('-'));
  for (const [i, one] of words.entries()) {
    const pair = `${one} ${words[i + 1] ?? ''}`;
    const word = (await find(one)) ? one : pair;
    const command = await find(word);
    if (command) return `${usageLine(word, command)}\nSee memory-bank ${word} --help\n`;
  }
  const names = [...(await everyCommand()).keys()];
  const similar = words.slice(0, 1).flatMap((word) => similarNames(word, names));
  const guess = similar.length === 0 ? '' : `Did you mean ${similar.join(' or ')}?\n`;
  return `${guess}${usageLine('', serve)}\nSee memory-bank --help\n`;
}

function appOptions(values: FlagValues, packageFolder: string): AppOptions {
  const { env } = process;
  const home = homedir();
  const cwd = startDirectory(env, process.cwd(), packageFolder);
  const chosen = flagText(values, 'toolsets') ?? env.MEMORY_BANK_TOOLSETS ?? '';
  // A client may leave its variable for an empty setting as it is.
  const names = chosen
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('${'));
  const warn = (message: string) => report('warning', message);
  const profile = readProfile(flagText(values, 'profile')) ?? profileOf(env, warn);
  return {
    place: { flag: flagText(values, 'root'), env, cwd, home },
    homeFolder: homeFolder(env, cwd, home),
    durability: env.MEMORY_BANK_DURABILITY === 'relaxed' ? 'relaxed' : 'full',
    syncInterval: syncInterval(env, warn),
    enabled: names.length > 0 ? names : undefined,
    // Toolsets that are chosen by name are offered as they are.
    profile: names.length > 0 ? undefined : profile,
    mode: flagText(values, 'mode'),
    model: modelSettings(env, warn),
    embeddings: embeddingSettings(env, warn),
    log: report,
  };
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
