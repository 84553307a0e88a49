import type { Toolset } from '../core/toolset.ts';
import { type Command, type Commands, type Flag, type Flags, flagMeaning } from './command.ts';
import { operandText } from './command-line.ts';
import { commandName } from './tool-arguments.ts';

const width = 100;

/** The usage text of the program. */
export function programHelp(
  commands: Commands,
  general: Flags,
  toolsets: readonly Toolset[],
): string {
  const plainTools = toolsets.map(({ name, tools }) => {
    const names = tools.filter(({ command }) => !command).map((tool) => commandName(tool.name));
    return { name, names };
  });
  const listed = new Set(plainTools.flatMap(({ names }) => names));
  const shown = [...commands].filter(([name, { hidden }]) => !hidden && !listed.has(name));
  const tools = plainTools.map(({ name, names }) => `  ${name}\n${wrap(names.join(', '), 4)}`);
  return `Usage: memory-bank [command] [options]

Commands:
${shown.map(([name, { about }]) => row(name || '(none)', about)).join('')}
Every other tool is also a command; "memory-bank <command> --help" lists its options:
${tools.join('')}
Options of every command:
${rows(general)}`;
}

/** The usage text of one command. */
export function commandHelp(name: string, command: Command, general: Flags): string {
  const own = command.flags ? `\nOptions:\n${rows(command.flags)}` : '';
  const others = Object.entries(general).filter(([flag]) => !command.flags?.[flag]);
  return `${usageLine(name, command)}

${wrap(command.about, 0)}${own}
Options of every command:
${rows(Object.fromEntries(others))}`;
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
  return names.filter((name) => name !== '' && isSimilar(name)).slice(0, 5);
}

function rows(flags: Flags): string {
  return Object.entries(flags)
    .filter(([name]) => !negates(name, flags))
    .map(([name, flag]) => row(optionText(name, flag, flags), flagMeaning(flag)))
    .join('');
}

/** How an option is written: `--limit <number>`, `--[no-]fuzzy`. */
export function optionText(name: string, { value, many }: Flag, flags: Flags): string {
  const flag = Object.hasOwn(flags, `no-${name}`) ? `[no-]${name}` : name;
  return `--${flag}${value ? ` <${value}>` : ''}${many ? ' ...' : ''}`;
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

/** Wraps a text into lines of at most `width` characters, each after so many spaces. */
function wrap(text: string, indent: number): string {
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
