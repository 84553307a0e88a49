import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEvent } from '../../src/app/hook/client-event.ts';
import { answerHook } from '../../src/app/hook/hook-answer.ts';
import { contextMemory } from '../../src/app/hook/hook-memory.ts';
import { corpus } from '../support/corpus.ts';
import { projectApp } from '../support/project-app.ts';
import type { Repo } from '../support/repo.ts';
import { longRecords } from './long-records.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { type UnaskedPrompt, UnaskedTally } from './unasked-tally.ts';

/**
 * Measures what a hook adds to prompts: how often something where no record is about the prompt, and how
 * often the right record where one is.
 */

const generated = 'generated';
const records = 5_000;

/** Makes the memory of a bank; undefined where the bank is missing. */
function memoryOf(bank: string): Repo | undefined {
  const repo = project();
  if (bank === generated) {
    addFiles(repo, 'packed', longRecords(records));
    return repo;
  }
  const from = corpus === undefined ? undefined : join(corpus, bank);
  if (from === undefined || !existsSync(from)) return undefined;
  const names = readdirSync(from, { encoding: 'utf8', recursive: true });
  const files = names
    .filter((name) => name.endsWith('.md'))
    .map((name): [string, string] => [
      `.memory-bank/${name}`,
      readFileSync(join(from, name), 'utf8'),
    ]);
  addFiles(repo, 'packed', files);
  return repo;
}

/** Returns what gives the text that a new session is given for a prompt. */
function hookOf(repo: Repo) {
  const app = projectApp(repo.root);
  const session = app.connect();
  const textFor = async (prompt: string): Promise<string> => {
    const input = { hook_event_name: 'UserPromptSubmit', cwd: repo.root, prompt };
    const event = readEvent('prompt', JSON.stringify(input));
    if (!event) throw new Error('The input is not a hook event.');
    const answer = await app.run(session, 'hook', {}, async (context) =>
      answerHook(await contextMemory(context), event),
    );
    return JSON.parse(JSON.stringify(answer ?? null))?.hookSpecificOutput.additionalContext ?? '';
  };
  return { textFor, close: () => app.close() };
}

/** Asks the prompts of a file, and returns a table with a row for each memory. */
async function ask(file: string): Promise<string> {
  const prompts = readFileSync(`test/fixtures/search/${file}`, 'utf8')
    .trim()
    .split('\n')
    .map((line): UnaskedPrompt => JSON.parse(line));
  const rows: string[][] = [];
  const all = new UnaskedTally();
  for (const bank of new Set(prompts.flatMap(({ bank }) => bank ?? []))) {
    const repo = memoryOf(bank);
    if (!repo) continue;
    console.error(`unasked: ${bank}`);
    const hook = hookOf(repo);
    const tally = new UnaskedTally();
    for (const one of prompts) {
      if (one.bank !== undefined && one.bank !== bank) continue;
      const text = await hook.textFor(one.prompt);
      const failure = tally.add(one, text);
      all.add(one, text);
      if (failure) console.error(`  ${failure}: ${one.prompt}`);
    }
    rows.push([bank.replace('+', '/'), ...tally.cells()]);
    await hook.close();
    repo.remove();
  }
  return table(UnaskedTally.head, [...rows, ['all', ...all.cells()]]);
}

report('unasked', 'What arrives unasked', [
  `The lines that the hook of a prompt adds, each time in a new session. Prompts about nothing (“make the button blue”) are put to every memory. Of the others, some only share words with the records of their memory, and one record answers the rest. The answers were decided before the program was asked. A line is right if it is about one of the records or sections that answer, or shows the answer. The last memory has ${records} long records that the bench makes itself.`,
  await ask('unasked-prompts.jsonl'),
  'The weights of the evidence were chosen with the prompts above. These were written afterwards, most of them in languages and about memories that were not used before:',
  await ask('unasked-unseen.jsonl'),
]);
