import { expect, it } from 'vitest';
import { parseInput } from '../../src/core/values/input.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { chooseTools, shareWithin, toolTasks } from '../support/tool-choice.ts';
import { profileTools } from '../support/tool-list.ts';

const tools = toolsets.flatMap((toolset) => toolset.tools);
const listed = tools.filter((tool) => tool.listed !== false);
const tasks = toolTasks();

it.each([
  ['the profile of agents', profileTools({ usesGraph: true, hasRemote: true }), 60],
  ['all toolsets', listed, tasks.length],
])('the words of a task lead to the right tool of %s', (_, offered, count) => {
  const choices = chooseTools(tasks, offered);
  expect(choices).toHaveLength(count);
  const wrong = choices.filter(({ before }) => before > 2).map(({ task }) => task);
  expect(shareWithin(choices, 3), wrong.join('\n')).toBeGreaterThanOrEqual(90);
  expect(shareWithin(choices, 1)).toBeGreaterThanOrEqual(70);
});

it('each task has arguments that its tools take', () => {
  for (const { calls } of tasks) {
    for (const call of calls) {
      const tool = tools.find(({ name }) => name === call.tool);
      expect(tool && parseInput(tool.input, call.arguments), call.tool).toBeDefined();
      const known = Object.keys(tool?.input.shape ?? {});
      expect(known).toEqual(expect.arrayContaining(Object.keys(call.arguments)));
    }
  }
});
