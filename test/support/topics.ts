import { seeded } from './seeded.ts';

const topics = [
  'login session cookie password logout account',
  'lexer grammar parser syntax operator literal',
  'deploy rollback release container cluster region',
  'invoice refund payment currency ledger tax',
].map((words) => words.split(' '));

/** Texts about four topics; words of one topic are often in one text. */
export function topicTexts(count: number, seed = 1): string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, at) => {
    const words = topics[at % topics.length] ?? [];
    return Array.from({ length: 8 }, () => words[Math.floor(words.length * random())]).join(' ');
  });
}
