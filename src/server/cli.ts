import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { App, type AppOptions } from '../app.ts';
import type { LogLevel } from '../core/context.ts';
import { MemoryError } from '../core/error.ts';
import { bankFolder, startDirectory } from '../root.ts';
import { type Command, type Flag, type FlagValues, flagText } from './command.ts';
import { serveHttp } from './http/serve.ts';
import { serve } from './serve.ts';

const { version } = packageJson;

/** The commands by name; the one without a name is what an MCP client starts. */
const commands = new Map<string, Command>([
  ['', serve],
  ['serve', serveHttp],
]);

/** The options of every command. */
const flags: { readonly [name: string]: Flag } = {
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
  help: { about: 'print this text' },
};

const usage = `Usage: memory-bank [command] [options]

Commands:
${[...commands].map(([name, { about }]) => row(name || '(none)', about)).join('')}
Options:
${rows(flags)}${[...commands].map(([name, command]) => (command.flags ? `\nOptions of ${name}:\n${rows(command.flags)}` : '')).join('')}`;

function rows(of: { readonly [name: string]: Flag }): string {
  return Object.entries(of)
    .map(([name, { value, about }]) => row(`--${name}${value ? ` <${value}>` : ''}`, about))
    .join('');
}

function row(name: string, about: string): string {
  return `  ${name.padEnd(24)}${about}\n`;
}

/**
 * Runs the program.
 *
 * @param packageFolder where the program's own package.json lies.
 * @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function run(args: readonly string[], packageFolder: string): Promise<number> {
  try {
    const { command, values } = parse(args);
    if (values.help) return print(usage);
    if (values.version) return print(`${version}\n`);
    const options = appOptions(values, packageFolder);
    const app = new App(options);
    // A misspelt name is told at the start, and nothing else is loaded earlier than needed.
    if (options.enabled) await app.toolsets();
    return await command.run({ app, options, version, values });
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const wrong = error.code === 'invalid_input';
    process.stderr.write(`memory-bank: ${error.text}\n${wrong ? `\n${usage}` : ''}`);
    return wrong ? 2 : 1;
  }
}

function parse(args: readonly string[]): { command: Command; values: FlagValues } {
  const [first] = args;
  const name = first === undefined || first.startsWith('-') ? '' : first;
  const command = commands.get(name);
  if (!command) throw new MemoryError('invalid_input', `There is no command "${name}".`);
  const known = Object.entries({ ...flags, ...command.flags });
  const options = Object.fromEntries(
    known.map(([flag, { value }]) => [flag, { type: value ? 'string' : 'boolean' }] as const),
  );
  try {
    const { values } = parseArgs({ args: args.slice(name === '' ? 0 : 1), options });
    return { command, values: values as FlagValues };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new MemoryError('invalid_input', message, { cause });
  }
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
    log,
  };
}

/** Messages for the person who runs the server; the chatty ones only with `DEBUG=true`. */
function log(level: LogLevel, message: string): void {
  const chatty = level === 'debug' || level === 'info';
  if (chatty && process.env.DEBUG !== 'true') return;
  process.stderr.write(`memory-bank: ${level}: ${message}\n`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
