import { nearestName } from '../../core/names/nearest-name.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import { Screen } from '../screen/terminal.ts';
import { type Command, type Commands, type Flag, type Flags, flagMeaning } from './command.ts';
import { operandText } from './command-line.ts';

/** `memory-bank help [command]`: shows the usage text of the program, of one command or of the tools. */
export function helpCommand(
  find: (name: string) => Promise<Command | undefined>,
  everyCommand: () => Promise<Commands>,
  general: Flags,
): Command {
  return {
    about: 'show this help, that of a command, or all tools',
    operands: ['command?', 'tool?'],
    async run({ operands }) {
      const name = operands.join(' ');
      if (name === 'tools') {
        await new Screen().show(toolsHelp(await everyCommand()));
        return 0;
      }
      const command = await find(name);
      if (!command) {
        const similar = similarNames(name, [...(await everyCommand()).keys()]);
        throw new MemoryError('invalid_input', `There is no command "${name}".`, {
          ...(similar.length > 0 && { hint: `Did you mean ${similar.join(' or ')}?` }),
        });
      }
      const text =
        name === ''
          ? programHelp(await everyCommand(), general)
          : commandHelp(name, command, general);
      await new Screen().show(text);
      return 0;
    },
  };
}

/** The commands of the program by what a person wants to do. */
export const commandGroups: readonly (readonly [title: string, names: readonly string[]])[] = [
  [
    'Read',
    ['brief', 'search', 'list', 'show', 'status', 'log', 'diff', 'blame', 'branches', 'view'],
  ],
  [
    'Write',
    ['edit', 'forget', 'restore', 'verify', 'confirm', 'propose', 'check', 'import', 'export'],
  ],
  [
    'Team',
    [
      ...['sync', 'review', 'resolve', 'merge', 'merge-pull-requests', 'squash', 'untangle'],
      ...['memories', 'layout', 'place'],
    ],
  ],
  ['Setup', ['', 'init', 'doctor', 'serve', 'hook', 'install-merge-driver', 'completion', 'help']],
];

/** The usage text of the program. */
export function programHelp(commands: Commands, general: Flags): string {
  const groups = commandGroups.map(([title, names]) => {
    const shown = names.map((name) => row(name || '(none)', summary(commands.get(name)?.about)));
    return `${title}:\n${shown.join('')}`;
  });
  return `Usage: memory-bank [command] [options]

${groups.join('')}
"memory-bank help <command>" lists its options, "memory-bank help tools" the commands of all tools.

Options of every command:
${rows(general)}`;
}

/** The first part of what a command is about, which fits into a line. */
function summary(about = ''): string {
  return about.replace(/[;:] .*$/s, '');
}

/** The commands of the tools, by their toolsets. */
function toolsHelp(commands: Commands): string {
  const named = new Set(commandGroups.flatMap(([, names]) => names));
  const tools = new Map<string, string[]>();
  for (const [name, { toolset }] of commands) {
    if (toolset && !named.has(name)) addTo(tools, toolset, name);
  }
  const groups = [...tools].map(([name, names]) => `  ${name}\n${wrap(names.join(', '), 4)}`);
  return `Every tool is also a command; "memory-bank help <command>" lists its options:
${groups.join('')}`;
}

/** The usage text of one command. */
export function commandHelp(name: string, command: Command, general: Flags): string {
  const own = command.flags ? `\nOptions:\n${rows(command.flags)}` : '';
  const others = Object.entries(general)
    .filter(([flag]) => !command.flags?.[flag])
    .map(([flag, value]) => optionText(flag, value, general));
  return `${usageLine(name, command)}

${wrap(command.about, 0)}${own}
${wrap(`Options of every command: ${others.join(', ')}; see memory-bank help.`, 0)}`;
}

/** One line that shows how to call a command. */
export function usageLine(name: string, command: Command): string {
  const words = name === '' ? '[command]' : [name, operandText(command.operands ?? [])].join(' ');
  return `Usage: memory-bank ${words.trim()} [options]`;
}

/** The names that are most similar to an unknown word. */
export function similarNames(word: string, names: readonly string[]): string[] {
  const beginning = word.slice(0, 4);
  const isSimilar = (name: string) =>
    name.includes(word) || word.includes(name) || name.startsWith(beginning);
  const similar = names.filter((name) => name !== '' && isSimilar(name));
  const nearest = similar.length > 0 ? undefined : nearestName(word, names);
  return nearest === undefined ? similar.slice(0, 5) : [nearest];
}

function rows(flags: Flags): string {
  return Object.entries(flags)
    .filter(([name]) => !negates(name, flags))
    .map(([name, flag]) => row(optionText(name, flag, flags), flagMeaning(flag)))
    .join('');
}

/** How an option is written: `--limit <number>`, `--[no-]fuzzy`, `-h, --help`. */
export function optionText(name: string, { value, short, many }: Flag, flags: Flags): string {
  const flag = Object.hasOwn(flags, `no-${name}`) ? `[no-]${name}` : name;
  return `${short ? `-${short}, ` : ''}--${flag}${value ? ` <${value}>` : ''}${many ? ' ...' : ''}`;
}

/** Whether an option only turns off another one. */
export function negates(name: string, flags: Flags): boolean {
  return name.startsWith('no-') && Object.hasOwn(flags, name.slice(3));
}

function row(name: string, about: string): string {
  const column = 26;
  const text = about === '' ? '' : wrap(about, column);
  return name.length + 4 > column
    ? `  ${name}\n${text}`
    : `  ${name.padEnd(column - 2)}${text.slice(column) || '\n'}`;
}

/** Wraps a text into lines that fit the terminal, each after so many spaces. */
function wrap(text: string, indent: number): string {
  const { width } = new Screen();
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => `${' '.repeat(indent)}${one}\n`).join('');
}
