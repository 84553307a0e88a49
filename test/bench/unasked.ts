import { readFileSync } from 'node:fs';
import { maxAtPrompt, promptQuery } from '../../src/toolsets/brief/prompt-match.ts';
import { briefSource } from '../../src/toolsets/index.ts';
import { commandMoments } from './command-moments.ts';
import { fileMoments } from './file-moments.ts';
import { hookOf, memoryOf, records } from './hooked-memory.ts';
import { report, table } from './report.ts';
import { type UnaskedPrompt, UnaskedTally } from './unasked-tally.ts';

/**
 * Measures what a hook adds to prompts: how often something where no record is about the prompt, and how
 * often the right record where one is.
 *
 * `--repositories <folder>` has a clone of each public repository as `<owner>+<name>`.
 */

/** The least certainties that are compared; the program asks for 1. */
const certainties = [0.6, 0.8, 1, 1.2, 1.5];

/** The lines that a prompt would get if hits of another certainty were shown. */
async function linesFor(hook: ReturnType<typeof hookOf>, prompt: string, sure: number) {
  const query = promptQuery(prompt);
  if (query === '') return '';
  return hook.run(async (context) => {
    const lines = [...(await briefSource(context).about(query, sure))];
    return lines
      .slice(0, maxAtPrompt)
      .map(({ text }) => `- ${text}`)
      .join('\n');
  });
}

/** Asks the prompts of a file; returns a table with a row for each memory, and one for other certainties. */
async function ask(file: string): Promise<readonly [byMemory: string, byCertainty: string]> {
  const prompts = readFileSync(`test/fixtures/search/${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line): UnaskedPrompt => JSON.parse(line));
  const rows: string[][] = [];
  const all = new UnaskedTally();
  const curve = new Map(certainties.map((sure) => [sure, new UnaskedTally()]));
  for (const bank of new Set(prompts.flatMap(({ bank }) => bank ?? []))) {
    const repo = memoryOf(bank);
    if (!repo) continue;
    console.error(`unasked: ${bank}`);
    const hook = hookOf(repo);
    await hook.learn();
    const tally = new UnaskedTally();
    for (const one of prompts) {
      if (one.bank !== undefined && one.bank !== bank) continue;
      const text = await hook.answer('prompt', 'UserPromptSubmit', { prompt: one.prompt });
      const failure = tally.add(one, text);
      all.add(one, text);
      if (failure) console.error(`  ${failure}: ${one.prompt}`);
      for (const [sure, bound] of curve) bound.add(one, await linesFor(hook, one.prompt, sure));
    }
    rows.push([bank.replace('+', '/').replace(/@.*/, ''), ...tally.cells()]);
    await hook.close();
    repo.remove();
  }
  const [, ...head] = UnaskedTally.head;
  return [
    table(UnaskedTally.head, [...rows, ['all', ...all.cells()]]),
    table(
      ['least certainty', ...head],
      [...curve].map(([sure, tally]) => [String(sure), ...tally.cells()]),
    ),
  ];
}

const [byMemory, byCertainty] = await ask('unasked-prompts.jsonl');
const [unseen] = await ask('unasked-unseen.jsonl');

const [decisions] = await ask('unasked-decisions.jsonl');
const [unspaced] = await ask('unasked-unspaced.jsonl');

const [moments, byLimit] = await fileMoments('file-moments.jsonl');
const [otherMoments] = await fileMoments('file-moments-unseen.jsonl');
const commands = await commandMoments();

report('unasked', 'What arrives unasked', [
  `The lines that the hook of a prompt adds, each time in a new session. Prompts about nothing (“make the button blue”) are put to every memory. Of the others, some only share words with the records of their memory, and one record answers the rest. The answers were decided before the program was asked. A line is right if it is about one of the records or sections that answer, or shows the answer. The last memory has ${records} long records that the bench makes itself.`,
  byMemory,
  'With another least certainty (the program asks for 1), more or fewer prompts get lines:',
  byCertainty,
  'The weights of the evidence were chosen with the prompts above. These were written afterwards, most of them in languages and about memories that were not used before:',
  unseen,
  'Prompts about the decision records of four public repositories that nothing was tuned with, next to the documents of their projects. No weight was chosen with them. Before longer records counted for less, a change that was chosen with the first prompts, it was 4 of 40, 26 of 40, and 29 of 43 lines:',
  decisions,
  'Prompts in Chinese, Japanese and Korean, written before the weights of their letters were chosen; those of Hiragana were chosen after a first look at them, and so was characters as the unit of the length of a record:',
  unspaced,
  'The lines that the hook of an action adds before a file is read, each time in a new session. 60 files of four projects: their memories say something about 42 of them, and the other 18 occur in lists only, or not at all. The records that should be shown were decided before the program was asked, and a line is right if it is about one of them.',
  moments,
  'With another limit of the files that a passage names (the program has 4), more or fewer files get lines:',
  byLimit,
  'These 30 files, of five other projects, were chosen afterwards, and nothing was changed for them but three answers: records that are about the file and had been overlooked.',
  otherMoments,
  'Commands before they run, in a memory of ten corrections, preferences and patterns; half of the commands are about none. They were written before the program was asked; on the first run 11 of the 15 others got nothing, so that programs that only show or look for their operands are about nothing now.',
  commands,
]);
