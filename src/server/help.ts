import type { Toolset } from '../core/toolset.ts';
import type { Command, Commands, Flags } from './command.ts';
import { operandText } from './command-line.ts';
import { commandName } from './tool-command.ts';

const width = 100;

/** The usage text of the program. */
export function programHelp(
  commands: Commands,
  general: Flags,
  toolsets: readonly Toolset[],
): string {
  const shown = [...commands].filter(([, { hidden }]) => !hidden);
  const tools = toolsets.map(({ name, tools }) => {
    const names = tools.map((tool) => commandName(tool.name)).join(', ');
    return `  ${name}\n${wrap(names, 4)}`;
  });
  return `Usage: memory-bank [command] [options]

Commands:
${shown.map(([name, { about }]) => row(name || '(none)', about)).join('')}
Every tool is a command, too; "memory-bank <command> --help" tells its options:
${tools.join('')}
Options of every command:
${rows(general)}`;
}

/** The usage text of one command. */
export function commandHelp(name: string, command: Command, general: Flags): string {
  const operands = operandText(command.operands ?? []);
  const line = ['memory-bank', name, operands, '[options]'].filter((part) => part !== '');
  const own = command.flags ? `\nOptions:\n${rows(command.flags)}` : '';
  const others = Object.entries(general).filter(([flag]) => !command.flags?.[flag]);
  return `Usage: ${line.join(' ')}

${wrap(command.about, 0)}${own}
Options of every command:
${rows(Object.fromEntries(others))}`;
}

function rows(flags: Flags): string {
  return Object.entries(flags)
    .filter(([name]) => !negates(name, flags))
    .map(([name, { value, about, many }]) => {
      const flag = Object.hasOwn(flags, `no-${name}`) ? `[no-]${name}` : name;
      return row(`--${flag}${value ? ` <${value}>` : ''}${many ? ' ...' : ''}`, about);
    })
    .join('');
}

/** Whether an option only turns off another one. */
function negates(name: string, flags: Flags): boolean {
  return name.startsWith('no-') && Object.hasOwn(flags, name.slice(3));
}

function row(name: string, about: string): string {
  const column = 26;
  const text = about === '' ? '' : wrap(about, column);
  return name.length + 4 > column
    ? `  ${name}\n${text}`
    : `  ${name.padEnd(column - 2)}${text.slice(column) || '\n'}`;
}

/** A text in lines that fit, each after so many spaces. */
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
