import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namedSections } from '../../src/core/markdown/section-path.ts';
import { type Hit, SearchIndex } from '../../src/store/search/index.ts';
import { memoryFile } from '../../src/toolsets/memory-bank/memory-file.ts';
import { corpus } from '../support/corpus.ts';
import { learned } from './engines.ts';
import { table } from './report.ts';

/** A question about a memory bank, and the sections that answer it. */
interface BankQuestion {
  /** Folder of the bank in the corpus. */
  readonly bank: string;
  readonly question: string;
  /** Texts of which one must be in the text of a hit, or in its reason. */
  readonly answers: readonly string[];
  readonly at: readonly { readonly path: string; readonly section: string }[];
}

/** Number of hits that count. */
const first = 3;

/**
 * Measures whether the first hits show the right section and the answer.
 *
 * @returns undefined without the corpus.
 */
export function bankQuestions(folder: string | undefined = corpus): string | undefined {
  if (folder === undefined) return undefined;
  const questions = readFileSync('test/fixtures/search/bank-questions.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line): BankQuestion => JSON.parse(line));
  const rows: string[][] = [];
  const totals = new Tally();
  const banks = [...new Set(questions.map(({ bank }) => bank))];
  for (const bank of banks.filter((name) => existsSync(join(folder, name)))) {
    const ask = open(join(folder, bank));
    const tally = new Tally();
    for (const one of questions.filter((question) => question.bank === bank)) {
      const hits = ask(one.question);
      const text = (path: string) => readFileSync(join(folder, bank, path), 'utf8');
      const outcome = tally.add(one, hits, text);
      totals.add(one, hits, text);
      if (outcome !== undefined) console.error(`  ${outcome}: ${one.question} (${bank})`);
    }
    rows.push([bank.replace('+', '/'), ...tally.cells()]);
  }
  return [
    `### Questions about memory banks of public repositories: ${totals.count} questions`,
    table(
      ['', 'questions', `right file in the first ${first}`, 'right section', 'answer in a passage'],
      [...rows, ['all', ...totals.cells()]],
    ),
    'A section is right if the hit names it, a section in it, or one of at most 1,500 characters around it, as its own, as another one that matches (`also`) or as a later one on its subject (`later`). An answer is in what a hit shows: its text, and the reason next to it.',
  ].join('\n\n');
}

function open(folder: string): (question: string) => readonly Hit[] {
  const index = new SearchIndex();
  const names = readdirSync(folder, { encoding: 'utf8', recursive: true }).sort();
  for (const path of names.filter((name) => name.endsWith('.md'))) {
    const content = readFileSync(join(folder, path), 'utf8');
    index.upsert({ id: path, fields: memoryFile.search({ path, content }) });
  }
  const meanings = learned(index);
  return (question) => index.search(question, { limit: first, meanings }).hits;
}

/** Counts the questions that were answered. */
class Tally {
  count = 0;
  #files = 0;
  #sections = 0;
  #answers = 0;

  /** @returns the failure in words, or undefined. */
  add(
    { answers, at }: BankQuestion,
    hits: readonly Hit[],
    text: (path: string) => string,
  ): string | undefined {
    const file = hits.some(({ id }) => at.some(({ path }) => path === id));
    const section = hits.some((hit) =>
      at.some(
        (place) =>
          place.path === hit.id &&
          [hit.section, ...(hit.also ?? []), hit.later?.section].some((name) =>
            fits(text(hit.id), name, place.section),
          ),
      ),
    );
    const shown = hits.map(({ snippet, reason }) => `${snippet}\n${reason?.text ?? ''}`);
    const answer = shown.some((one) => answers.some((text) => one.includes(text)));
    this.count += 1;
    this.#files += Number(file);
    this.#sections += Number(section);
    this.#answers += Number(answer);
    if (!section) return file ? 'other section' : 'other file';
    return answer ? undefined : 'answer not shown';
  }

  cells(): string[] {
    const share = (value: number) => `${value} (${((100 * value) / this.count).toFixed(0)} %)`;
    return [String(this.count), ...[this.#files, this.#sections, this.#answers].map(share)];
  }
}

/** A longer section around the right one leaves too much to read. */
const longest = 1500;

/** Whether a section that a hit names is one with a heading, in one, or a short one around it. */
function fits(text: string, name: string | undefined, heading: string): boolean {
  const sections = namedSections(text);
  const named = sections.find(({ path }) => path === name);
  const right = sections.filter((section) => section.heading.trim() === heading);
  if (!named) return false;
  return right.some(({ start, end }) => {
    if (start <= named.start && named.end <= end) return true;
    return named.start <= start && end <= named.end && named.end - named.start <= longest;
  });
}
