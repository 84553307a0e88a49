import { parseArgs } from 'node:util';
import { nearestName } from '../../core/names/nearest-name.ts';
import { MemoryError } from '../../core/values/error.ts';
import { own } from '../../core/values/json.ts';
import { type Command, type Flags, type FlagValues, flagText } from './command.ts';

/** A parsed command line. */
export interface CommandLine {
  readonly name: string;
  readonly command: Command;
  /** Options of every command, without those that the command has under the same name. */
  readonly general: FlagValues;
  /** All options. */
  readonly values: FlagValues;
  readonly operands: readonly string[];
}

/**
 * Parses the arguments of the program.
 *
 * They are options of every command, the name of a command, and its own options and operands.
 *
 * @param find looks a command up by its name.
 * @throws MemoryError `invalid_input` for an unknown command or option, or a wrong number of operands.
 */
export async function readCommandLine(
  args: readonly string[],
  general: Flags,
  find: (name: string) => Promise<Command | undefined>,
): Promise<CommandLine> {
  const at = commandIndex(args, general);
  const [first = '', second = ''] = args.slice(at);
  const single = await find(first);
  const name = single ? first : `${first} ${second}`;
  const command = single ?? (await find(name));
  if (!command) {
    throw new MemoryError('invalid_input', `There is no command "${first}".`);
  }
  const ownFlags = command.flags ?? {};
  const before = parse(args.slice(0, at), general, false).values;
  const names = command.operands ?? [];
  const { values, operands } = parse(
    args.slice(at + name.split(' ').length),
    { ...general, ...ownFlags },
    names.length > 0,
  );
  const after = Object.entries(values).filter(([flag]) => !Object.hasOwn(ownFlags, flag));
  if (!values.help) {
    checkOperands(name, names, operands);
    // A tool checks its own arguments, and its answer can be JSON.
    checkChoices(command.toolset === undefined ? ownFlags : onlyOutput(ownFlags), values);
  }
  return {
    name,
    command,
    general: { ...before, ...Object.fromEntries(after) },
    values: { ...before, ...values },
    operands,
  };
}

/** The index of the first argument that is neither an option nor the value of one. */
export function commandIndex(args: readonly string[], general: Flags): number {
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return at;
    const flag = own(general, arg.slice(2));
    // The value of an option follows it. An unknown option is reported by the parser.
    if (flag?.value !== undefined) at++;
  }
  return at;
}

function parse(args: readonly string[], flags: Flags, allowPositionals: boolean) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short, many = false }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, { type, multiple: many, ...(short !== undefined && { short }) }];
    }),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals });
    return { values: values as FlagValues, operands: positionals };
  } catch (cause) {
    throw new MemoryError('invalid_input', optionProblem(cause, Object.keys(flags)), { cause });
  }
}

/** Describes why Node.js cannot parse options. Its own texts give advice that rarely fits. */
function optionProblem(cause: unknown, names: readonly string[]): string {
  if (!(cause instanceof Error)) return String(cause);
  const { message } = cause;
  const [, option = ''] = /'(?:-\w, )?([^']*?)(?: <value>)?'/.exec(message) ?? [];
  switch ('code' in cause && cause.code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION': {
      const nearest = nearestName(option.replace(/^-+/, ''), names);
      const guess = nearest === undefined ? '' : ` Did you mean --${nearest}?`;
      return `There is no option ${option}.${guess}`;
    }
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      if (/does not take/.test(message)) return `${option} takes no value.`;
      return `${option} needs a value. Write one that begins with "-" as ${option}=-….`;
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `This command takes no arguments, not "${option}".`;
    default:
      return message;
  }
}

function onlyOutput({ output }: Flags): Flags {
  return output ? { output } : {};
}

/** @throws MemoryError `invalid_input` for a value that an option does not accept. */
function checkChoices(flags: Flags, values: FlagValues): void {
  for (const [name, { choices }] of Object.entries(flags)) {
    const given = flagText(values, name);
    if (!choices || given === undefined || choices.includes(given)) continue;
    throw new MemoryError('invalid_input', `--${name} must be ${orList(choices)}, not "${given}".`);
  }
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

function checkOperands(name: string, names: readonly string[], given: readonly string[]): void {
  const least = names.filter((one) => !/\?$|\.\.\.$/.test(one)).length;
  const most = names.some((one) => one.endsWith('...')) ? Number.POSITIVE_INFINITY : names.length;
  if (given.length >= least && given.length <= most) return;
  throw new MemoryError('invalid_input', `"${name}" takes ${operandText(names)}.`);
}

/** Operands as a usage text shows them: `<path> [folder]`. */
export function operandText(names: readonly string[]): string {
  return names
    .map((name) => {
      if (name.endsWith('?')) return `[${name.slice(0, -1)}]`;
      return name.endsWith('...') ? `[${name.slice(0, -3)} ...]` : `<${name}>`;
    })
    .join(' ');
}
