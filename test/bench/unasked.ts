import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { corpus } from '../support/corpus.ts';
import { gitEnv, type Repo } from '../support/repo.ts';
import { longRecords } from './long-records.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { program } from './server.ts';
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

/** The text that a new session is given for a prompt. */
function textFor(repo: Repo, prompt: string): string {
  // Otherwise a record that an earlier prompt has got would be left out.
  rmSync(repo.path('.git/memory-bank/hooks'), { recursive: true, force: true });
  const input = JSON.stringify({
    session_id: 'bench',
    hook_event_name: 'UserPromptSubmit',
    cwd: repo.root,
    prompt,
  });
  const { stdout, stderr } = spawnSync(process.execPath, [program, 'hook', 'prompt'], {
    cwd: repo.root,
    env: gitEnv,
    input,
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return stdout === '' ? '' : JSON.parse(stdout).hookSpecificOutput.additionalContext;
}

/** Asks the prompts of a file, and returns a table with a row for each memory. */
function ask(file: string): string {
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
    const tally = new UnaskedTally();
    for (const one of prompts) {
      if (one.bank !== undefined && one.bank !== bank) continue;
      const text = textFor(repo, one.prompt);
      const failure = tally.add(one, text);
      all.add(one, text);
      if (failure) console.error(`  ${failure}: ${one.prompt}`);
    }
    rows.push([bank.replace('+', '/'), ...tally.cells()]);
    repo.remove();
  }
  return table(UnaskedTally.head, [...rows, ['all', ...all.cells()]]);
}

report('unasked', 'What arrives unasked', [
  `The lines that the hook of a prompt adds, each time in a new session. Prompts about nothing (“make the button blue”) are put to every memory. Of the others, some only share words with the records of their memory, and one record answers the rest. The answers were decided before the program was asked. A line is right if it is about one of the records or sections that answer, or shows the answer. The last memory has ${records} long records that the bench makes itself.`,
  ask('unasked-prompts.jsonl'),
  'The weights of the evidence were chosen with the prompts above. These were written afterwards, most of them in languages and about memories that were not used before:',
  ask('unasked-unseen.jsonl'),
]);
