import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { App, type AppOptions } from '../app.ts';
import type { LogLevel } from '../core/context.ts';
import { MemoryError } from '../core/error.ts';
import { bankFolder, startDirectory } from '../root.ts';
import { program } from '../workspaces.ts';
import { type Command, type Flags, type FlagValues, flagText } from './command.ts';
import { readCommandLine } from './command-line.ts';
import { completion } from './completion.ts';
import { exitStatus } from './exit-status.ts';
import { exportCommand } from './export.ts';
import { commandHelp, programHelp } from './help.ts';
import { serveHttp } from './http/serve.ts';
import { importCommand } from './import.ts';
import { diff, log } from './log.ts';
import { installMergeDriver, mergeDriver } from './merge-driver.ts';
import { printable } from './screen.ts';
import { search } from './search.ts';
import { serve } from './serve.ts';
import { doctor } from './setup/doctor.ts';
import { init } from './setup/init.ts';
import { show } from './show.ts';
import { status } from './status.ts';
import { findTool, toolCommand } from './tool-command.ts';

const { version } = packageJson;

/** The options of every command. */
const flags: Flags = {
  root: {
    value: 'folder',
    about: 'the project to serve (MEMORY_BANK_ROOT); default: the current one',
  },
  toolsets: {
    value: 'a,b,...',
    about: 'the toolsets to offer (MEMORY_BANK_TOOLSETS); default: all',
  },
  mode: { value: 'name', about: 'the mode in which a session begins; default: none' },
  version: { about: 'print the version' },
  help: { about: 'print this text, or that of the command' },
};

/** The commands that are no tools. */
const commands = new Map<string, Command>([
  ['', serve],
  ['init', init],
  ['doctor', doctor],
  ['status', status],
  ['search', search],
  ['show', show],
  ['log', log],
  ['diff', diff],
  ['import', importCommand],
  ['export', exportCommand],
  ['serve', serveHttp],
  ['install-merge-driver', installMergeDriver],
  ['merge-driver', mergeDriver],
]);
commands.set('completion', completion(commands, flags));

/**
 * Runs the program.
 *
 * @param packageFolder where the program's own package.json lies.
 * @returns the exit status: 0, or what `exitStatus` has for the failure.
 */
export async function run(args: readonly string[], packageFolder: string): Promise<number> {
  let name: string | undefined;
  try {
    const line = await readCommandLine(args, flags, find);
    const { command, general, values, operands } = line;
    name = line.name;
    if (values.help) return print(await help(name, command));
    if (values.version) return print(`${version}\n`);
    const options = appOptions(general, packageFolder);
    const app = new App(options);
    // A misspelt name is told at the start, and nothing else is loaded earlier than needed.
    if (options.enabled) await app.toolsets();
    return await command.run({ app, options, version, values, operands });
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    process.stderr.write(`memory-bank: ${printable(error.text)}\n`);
    if (error.code === 'invalid_input') process.stderr.write(await usage(name));
    return exitStatus[error.code];
  }
}

async function find(name: string): Promise<Command | undefined> {
  const command = commands.get(name);
  if (command) return command;
  const tool = findTool(await program.toolsets(), name);
  return tool && toolCommand(tool);
}

async function help(name: string, command: Command): Promise<string> {
  if (name !== '') return commandHelp(name, command, flags);
  return programHelp(commands, flags, await program.toolsets());
}

/** What to say below a complaint about the command line. */
async function usage(name: string | undefined): Promise<string> {
  const command = name ? await find(name) : undefined;
  if (name && command) return `Usage: see memory-bank ${name} --help\n`;
  return `\n${programHelp(commands, flags, await program.toolsets())}`;
}

function appOptions(values: FlagValues, packageFolder: string): AppOptions {
  const { env } = process;
  const home = homedir();
  const cwd = startDirectory(env, process.cwd(), packageFolder);
  const names = (flagText(values, 'toolsets') ?? env.MEMORY_BANK_TOOLSETS ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    place: { flag: flagText(values, 'root'), env, cwd, home },
    homeBank: resolve(cwd, env.MEMORY_BANK_HOME || join(home, bankFolder)),
    durability: env.MEMORY_BANK_DURABILITY === 'relaxed' ? 'relaxed' : 'full',
    enabled: names.length > 0 ? names : undefined,
    mode: flagText(values, 'mode'),
    log: report,
  };
}

/** Messages for the person who runs the server; the chatty ones only with `DEBUG=true`. */
function report(level: LogLevel, message: string): void {
  const chatty = level === 'debug' || level === 'info';
  if (chatty && process.env.DEBUG !== 'true') return;
  process.stderr.write(`memory-bank: ${level}: ${printable(message)}\n`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
