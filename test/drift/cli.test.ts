import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { everyCommand, flags as general } from '../../src/cli/cli.ts';
import type { Command, Flags } from '../../src/cli/line/command.ts';
import { operandText } from '../../src/cli/line/command-line.ts';
import { negates, optionText } from '../../src/cli/line/help.ts';
import { type DeclaredCommand, declaredCommands } from '../../src/cli/line/tool-command.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { table, withPart } from '../support/page.ts';

const declared = declaredCommands(toolsets);

it('docs/cli.md describes every command', async () => {
  const file = resolve(import.meta.dirname, '../../docs/cli.md');
  const reference = await commandReference();
  const text = withPart(readFileSync(file, 'utf8'), 'commands', `\n${reference}\n`);
  expect(text).toContain('### log');
  await expect(text).toMatchFileSnapshot(file);
});

it('has one command for each name', async () => {
  const names = [...(await everyCommand())].map(([name]) => name);
  for (const { name, command } of declared) {
    const about = (await everyCommand()).get(name)?.about;
    expect({ name, about }).toEqual({ name, about: command.about });
  }
  expect(names).toContain('init');
  expect(names).toContain('brief');
  expect(names).not.toContain('brief brief');
});

async function commandReference(): Promise<string> {
  const tools = new Set(
    declared
      .filter(({ name, tool, toolset }) => !tool.command && name !== toolset.name)
      .map(({ name }) => name),
  );
  const shown = [...(await everyCommand())].filter(
    ([name, { hidden }]) => !hidden && !tools.has(name),
  );
  const described = new Set(shown.map(([name]) => name));
  return [
    'Options of every command:',
    optionTable(general),
    ...shown.map(([name, command]) => section(name, command)),
    '### Commands of the other tools',
    'Each one is the tool of the same name; [tools.md](tools.md) describes its arguments. Options in brackets are optional. A tool whose name is one word is listed after its toolset, and the word alone also works if no other command has it. Every tool can be called after its toolset: `memory-bank graph list-features`. All of these commands accept `--json` and `--output`.',
    ...toolsets.flatMap(({ name }) => {
      // The command of a tool with the name of its toolset is described above.
      const own = declared.filter(
        ({ tool, toolset }) =>
          toolset.name === name && !tool.command && !(described.has(name) && tool.name === name),
      );
      return own.length === 0 ? [] : [`#### ${name}`, toolTable(own)];
    }),
  ].join('\n\n');
}

function section(name: string, command: Command): string {
  const operands = operandText(command.operands ?? []);
  const usage = ['memory-bank', name, operands, command.flags ? '[options]' : '']
    .filter((part) => part !== '')
    .join(' ');
  const tool = declared.find((one) => one.name === name)?.tool;
  return [
    `### ${name || 'memory-bank without a command'}`,
    `\`${usage}\``,
    sentence(command.about),
    ...(tool ? [`Tool: [\`${tool.name}\`](tools.md#${tool.name}).`] : []),
    ...(command.flags ? [optionTable(command.flags)] : []),
  ].join('\n\n');
}

function optionTable(flags: Flags): string {
  const shown = Object.entries(flags).filter(([name]) => !negates(name, flags));
  return table(
    ['option', 'meaning', 'default'],
    shown.map(([name, flag]) => [
      `\`${optionText(name, flag, flags)}\``,
      flag.about,
      flag.default ?? '',
    ]),
  );
}

function toolTable(commands: readonly DeclaredCommand[]): string {
  return table(
    ['command', 'options', 'defaults'],
    commands.map(({ name, tool, command: { flags = {} } }) => {
      const shown = Object.entries(flags).filter(
        ([flag]) => !['json', 'output'].includes(flag) && !negates(flag, flags),
      );
      const options = shown.map(([flag, value]) => {
        const text = optionText(flag, value, flags);
        return value.required ? `\`${text}\`` : `\`[${text}]\``;
      });
      const defaults = shown.flatMap(([flag, value]) =>
        value.default === undefined ? [] : `\`--${flag}\` ${value.default}`,
      );
      return [
        `[\`${name}\`](tools.md#${tool.name.toLowerCase()})`,
        options.join(' '),
        defaults.join(', '),
      ];
    }),
  );
}

function sentence(text: string): string {
  const end = text.endsWith('.') ? '' : '.';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${end}`;
}
