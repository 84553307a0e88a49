import { describe, expect, test } from 'vitest';
import { commandWording } from '../../src/cli/line/error-wording.ts';
import { parametersOf } from '../../src/cli/line/tool-arguments.ts';
import { toolsets } from '../../src/toolsets/index.ts';

const tools = toolsets.flatMap((toolset) => toolset.tools);

describe('an error message on the command line', () => {
  test.each([
    ['record_history tells the paths.', '"memory-bank log" tells the paths.'],
    ['See memory_list.', 'See "memory-bank memory-list".'],
    ['`activate` makes one.', '"memory-bank banks activate" makes one.'],
    ['There is no record "memory_list".', 'There is no record "memory_list".'],
    ['knowledge/memory_list.md: is damaged', 'knowledge/memory_list.md: is damaged'],
    ['no_such_tool and progress', 'no_such_tool and progress'],
  ])('names commands instead of tools: %s', (text, expected) => {
    expect(commandWording(toolsets)(text)).toBe(expected);
  });

  test('names options instead of arguments', () => {
    const tool = tools.find(({ name }) => name === 'memory_prune');
    const parameters = tool ? parametersOf(tool.input) : [];
    const word = commandWording(toolsets, parameters);
    expect(word('Give dry_run: true or confirm: true.')).toBe('Give --dry-run or --confirm.');
    expect(word('Give confirm: false, or `confirm`.')).toBe('Give --no-confirm, or --confirm.');
    expect(word('max_entries[0]: is odd.')).toBe('--max-entries[0]: is odd.');
    expect(word('Set other: true in `other`.')).toBe('Set other: true in `other`.');
  });
});
