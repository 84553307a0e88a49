import { toolsets } from '../../src/toolsets/index.ts';
import { type Choice, chooseTools, shareWithin, toolTasks } from '../support/tool-choice.ts';
import { profileTools } from '../support/tool-list.ts';
import { report, table } from './report.ts';

const tasks = toolTasks();
const all = toolsets.flatMap(({ tools }) => tools.filter(({ listed }) => listed !== false));
const profile = profileTools({ usesGraph: true, hasRemote: true });

/** Shares before the descriptions were written from the tasks, in percent. */
const before = { profile: '35% and 63%', all: '28% and 51%' };

const lists = [
  ['the profile `agent`', profile, before.profile],
  ['all toolsets', all, before.all],
] as const;

const chosen = lists.map(([title, offered]) => [title, chooseTools(tasks, offered)] as const);

function percent(choices: readonly Choice[], first: number): string {
  return `${Math.round(shareWithin(choices, first))}%`;
}

const shares = lists.map(([title, offered, earlier], i) => {
  const choices = chosen[i]?.[1] ?? [];
  const counts = [offered.length, choices.length].map(String);
  return [title, ...counts, percent(choices, 1), percent(choices, 3), earlier];
});

const collisions = chosen.flatMap(([title, choices]) =>
  choices
    .filter(({ before }) => before > 0)
    .map(({ task, right, others }) => [task, title, code(right), code(others.slice(0, 3))]),
);

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

report('tools', 'Choice of a tool', [
  'An agent chooses a tool by its name and description. Each task is a sentence of a user, such as "what did we decide about the payment provider?", with the tool and the arguments that do it; two tools are right only where both do the same. The tools are ordered by BM25 of the words of the task over the words of names and descriptions, without a model; of two tools with equal words, the wrong one counts as first. The tasks and their tools were written before the descriptions, which were then written with these words: the figures show which tools collide, not how a model chooses for tasks that nobody has thought of. One answer was corrected afterwards: a statement that is no longer true is forgotten, because `verify_memory` has no state for it.',
  table(['list', 'tools', 'tasks', 'right first', 'among the first three', 'earlier'], shares),
  'Tasks for which another tool has words that fit as well or better:',
  table(['task', 'list', 'right', 'others, best first'], collisions),
]);
