import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import { App, type AppOptions } from '../app.ts';
import type { LogLevel } from '../core/context.ts';
import { MemoryError } from '../core/error.ts';
import { bankFolder, startDirectory } from '../root.ts';
import type { Command } from './command.ts';
import { installMergeDriver, mergeDriver } from './merge-driver.ts';
import { serve } from './serve.ts';

const { version } = packageJson;

/** The commands by name; the one without a name is what an MCP client starts. */
const commands = new Map<string, Command>([
  ['', serve],
  ['install-merge-driver', installMergeDriver],
  ['merge-driver', mergeDriver],
]);

const flags = {
  root: { type: 'string' },
  toolsets: { type: 'string' },
  mode: { type: 'string' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const usage = `Usage: memory-bank [command] [options]

Commands:
${[...commands].map(([name, { about }]) => `  ${(name || '(none)').padEnd(22)}${about}`).join('\n')}

Options:
  --root <folder>       the project to serve (MEMORY_BANK_ROOT); default: the current one
  --toolsets <a,b,...>  the toolsets to offer (MEMORY_BANK_TOOLSETS); default: all
  --mode <name>         the mode in which a session begins; default: none
  --version             print the version
  --help                print this text
`;

/**
 * Runs the program.
 *
 * @param packageFolder where the program's own package.json lies.
 * @returns the exit status: 0, 1 for a failure, 2 for a wrong command line.
 */
export async function run(args: readonly string[], packageFolder: string): Promise<number> {
  try {
    const { command, values, operands, switches } = parse(args);
    if (values.help) return print(usage);
    if (values.version) return print(`${version}\n`);
    const options = appOptions(values, packageFolder);
    const app = new App(options);
    // A misspelt name is told at the start, and nothing else is loaded earlier than needed.
    if (options.enabled) await app.toolsets();
    return await command.run({ app, options, version, operands, switches });
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const wrong = error.code === 'invalid_input';
    process.stderr.write(`memory-bank: ${error.text}\n${wrong ? `\n${usage}` : ''}`);
    return wrong ? 2 : 1;
  }
}

function parse(args: readonly string[]) {
  const [first] = args;
  const name = first === undefined || first.startsWith('-') ? '' : first;
  const command = commands.get(name);
  if (!command) throw new MemoryError('invalid_input', `There is no command "${name}".`);
  try {
    const own = command.switches ?? [];
    const options: typeof flags = {
      ...Object.fromEntries(own.map((flag) => [flag, { type: 'boolean' }])),
      ...flags,
    };
    const { values, positionals: operands } = parseArgs({
      args: args.slice(name === '' ? 0 : 1),
      options,
      allowPositionals: command.operands !== undefined,
    });
    const names = command.operands ?? [];
    if (operands.length !== names.length && !values.help) {
      throw new Error(`"${name}" takes ${names.map((one) => `<${one}>`).join(' ')}.`);
    }
    return { command, values, operands, switches: own.filter((flag) => flag in values) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new MemoryError('invalid_input', message, { cause });
  }
}

function appOptions(values: ReturnType<typeof parse>['values'], packageFolder: string): AppOptions {
  const { env } = process;
  const home = homedir();
  const cwd = startDirectory(env, process.cwd(), packageFolder);
  const names = (values.toolsets ?? env.MEMORY_BANK_TOOLSETS ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    place: { flag: values.root, env, cwd, home },
    homeBank: resolve(cwd, env.MEMORY_BANK_HOME || join(home, bankFolder)),
    durability: env.MEMORY_BANK_DURABILITY === 'relaxed' ? 'relaxed' : 'full',
    enabled: names.length > 0 ? names : undefined,
    mode: values.mode,
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
