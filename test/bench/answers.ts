import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, type JsonValue } from '../../src/core/values/json.ts';
import { corpus } from '../support/corpus.ts';
import { projectApp } from '../support/project-app.ts';
import type { Repo } from '../support/repo.ts';
import { type AnswerQuestion, AnswerTally, answerHead } from './answer-tally.ts';
import { decidedQuestions, decidedSources, logAll } from './decided-log.ts';
import { project } from './project.ts';
import { report, table } from './report.ts';

/** Number of hits that count. */
const most = 5;

type Call = (tool: string, args: JsonObject) => Promise<JsonObject>;

/** Runs work on the memory of a project, as a client calls it. */
async function inMemory(repo: Repo, work: (call: Call) => Promise<void>): Promise<void> {
  const app = projectApp(repo.root);
  const session = app.connect();
  session.agent = 'bench/1.0';
  try {
    await work(async (tool, args) => {
      const answer = await app.call(session, tool, args);
      if (!answer || answer.error) throw new Error(`${tool}: ${JSON.stringify(answer?.body)}`);
      return answer.body;
    });
  } finally {
    await app.close();
    repo.remove();
  }
}

/** Counts answers by kind of question; the failures go to the log. */
class Tallies {
  readonly #kinds = new Map<string, AnswerTally>();
  readonly #all = new AnswerTally();

  async ask(call: Call, questions: readonly AnswerQuestion[], memory: string): Promise<void> {
    for (const one of questions) {
      const { results } = await call('search_memory', { query: one.question, limit: most });
      const found: readonly JsonValue[] = Array.isArray(results) ? results : [];
      const hits = found.flatMap((hit) => (isObject(hit) ? [hit] : []));
      const kind = this.#kinds.get(one.kind) ?? new AnswerTally();
      this.#kinds.set(one.kind, kind);
      kind.add(one, hits);
      const failure = this.#all.add(one, hits);
      if (failure) console.error(`  ${failure}: ${one.question} (${one.kind}, ${memory})`);
    }
  }

  table(): string {
    const rows = [...this.#kinds].map(([kind, tally]) => [kind, ...tally.cells()]);
    return table(answerHead, [...rows, ['all', ...this.#all.cells()]]);
  }
}

/** Questions about the banks and decision logs of public repositories; undefined without them. */
async function publicBanks(folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const questions = readFileSync('test/fixtures/search/answer-questions.jsonl', 'utf8')
    .trim()
    .split('\n')
    .map((line): AnswerQuestion & { readonly bank: string } => JSON.parse(line));
  const tallies = new Tallies();
  const banks = [...new Set(questions.map(({ bank }) => bank))];
  for (const bank of banks.filter((name) => existsSync(join(folder, name)))) {
    console.error(`answers: ${bank}`);
    const repo = project();
    const from = join(folder, bank);
    const names = readdirSync(from, { encoding: 'utf8', recursive: true });
    for (const path of names.filter((name) => name.endsWith('.md'))) {
      repo.write(`.memory-bank/${path}`, readFileSync(join(from, path), 'utf8'));
    }
    const own = questions.filter((one) => one.bank === bank);
    await inMemory(repo, (call) => tallies.ask(call, own, bank));
  }
  return ['### Banks and decision logs of public repositories', tallies.table()].join('\n\n');
}

/** Questions about a log of decisions that the bench makes itself. */
async function ownLog(): Promise<string> {
  const tallies = new Tallies();
  const repo = project();
  for (const [path, text] of decidedSources) repo.write(path, text);
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add the code');
  await inMemory(repo, async (call) => {
    await logAll(call);
    await tallies.ask(call, decidedQuestions, 'own log');
  });
  const about =
    'Decisions that `log_decision` wrote, with context, alternatives, evidence and supersedes. `current` asks about one that another replaces.';
  return ['### A log of decisions of our own', tallies.table(), about].join('\n\n');
}

const at = process.argv.indexOf('--corpus');
const banks = await publicBanks(at < 0 ? corpus : process.argv[at + 1]);
report('answers', 'Answers in hits', [
  'Questions that a person asks, put to `search_memory`. The answers were decided and frozen before the program was asked. A hit is right if it is one of the records or sections that answer the question. An answer is visible if one of its texts is in what the hit says: its title, its text, and its labels.',
  ...(banks === undefined ? [] : [banks]),
  await ownLog(),
]);
