import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Tool } from '../../src/core/declarations/tool.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { rarity, weigh } from '../../src/store/search/terms/bm25.ts';
import { analyse } from '../../src/store/search/text/analyser.ts';

/** A task in the words of a user, and the calls that do it; several only where they do the same. */
export interface ToolTask {
  readonly task: string;
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonObject }[];
}

/** The place of the right tool of a task in the list of tools, ordered by their words. */
export interface Choice {
  readonly task: string;
  /** The right tools. */
  readonly right: readonly string[];
  /** Number of other tools that fit the words of the task as well or better. */
  readonly before: number;
  /** The other tools in front of the right one, or next to it, best first. */
  readonly others: readonly string[];
}

/** The tasks, written and frozen before the descriptions of the tools. */
export function toolTasks(): ToolTask[] {
  const file = resolve('test/fixtures/tools/tasks.jsonl');
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/**
 * Chooses tools for tasks by the words of their names and descriptions alone, with BM25.
 *
 * A task whose right tools are not offered is left out.
 */
export function chooseTools(tasks: readonly ToolTask[], offered: readonly Tool[]): Choice[] {
  const documents = offered.map(({ name, description }) => ({
    name,
    words: wordsOf(`${name.replaceAll('_', ' ')}. ${description}`),
  }));
  const average = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length;
  const holders = (word: string) => documents.filter(({ words }) => words.includes(word)).length;
  return tasks.flatMap(({ task, calls }) => {
    const right = calls.map(({ tool }) => tool).filter((tool) => isOffered(tool, offered));
    if (right.length === 0) return [];
    const query = [...new Set(wordsOf(task))].map((word) => [word, holders(word)] as const);
    const scores = documents.map(({ name, words }) => {
      const parts = query.map(([word, count]) => {
        const frequency = words.filter((one) => one === word).length;
        if (frequency === 0) return 0;
        return rarity(count, documents.length) * weigh(frequency, words.length, average);
      });
      return { name, score: parts.reduce((sum, part) => sum + part, 0) };
    });
    const best = Math.max(...scores.map(({ name, score }) => (right.includes(name) ? score : 0)));
    const others = scores
      .filter(({ name, score }) => !right.includes(name) && score >= best)
      .sort((a, b) => b.score - a.score)
      .map(({ name }) => name);
    return { task, right, before: others.length, others };
  });
}

/** The share of choices whose right tool is among the first ones, in percent. */
export function shareWithin(choices: readonly Choice[], first: number): number {
  const found = choices.filter(({ before }) => before < first).length;
  return (100 * found) / choices.length;
}

function isOffered(name: string, offered: readonly Tool[]): boolean {
  return offered.some((tool) => tool.name === name);
}

function wordsOf(text: string): string[] {
  const words: string[] = [];
  analyse(text, ({ kind, term }) => {
    if (kind !== 'whole') words.push(term);
  });
  return words;
}
