import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { maxAnswer } from '../../src/core/answers/answer-limit.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { count } from './figures.ts';
import { entries, entry } from './knowledge.ts';
import { addFiles, project } from './project.ts';
import { report, table } from './report.ts';
import { ServerProcess } from './server.ts';

/** Counts the tokens of the longest answers. The page has those of the list of tools by `npm run generate`. */

const records = 1_000;
const batch = 500;
const decisions = 200;

const repo = project();

const prose = (i: number) =>
  `What number ${i} is about is said in a sentence of a usual length, and in another one.`;

/** Fills a large memory, in which every answer that can be long is long. */
async function fill(server: ServerProcess): Promise<void> {
  for (let first = 0; first < records; first += batch) {
    const numbers = Array.from({ length: batch }, (_, i) => first + i);
    await server.call('create_features', {
      features: numbers.map((i) => ({ slug: `f-${i}`, name: `F ${i}`, description: prose(i) })),
    });
    await server.call('create_requirements', {
      feature_slug: 'f-0',
      requirements: numbers.map((i) => ({ text: prose(i) })),
    });
  }
  await server.call('activate', { bank_type: 'code', bank_id: 'code' });
  await server.call('update', {
    bank_type: 'code',
    bank_id: 'code',
    target_file: 'doc/api.md',
    operation: 'append',
    content: Array.from({ length: records }, (_, i) => `## Call ${i}\n\n${prose(i)}`).join('\n\n'),
  });
  for (let i = 0; i < decisions; i++) {
    await server.call('log_decision', {
      title: `Number ${i}`,
      context: prose(i),
      decision: prose(i),
    });
  }
}

addFiles(repo, 'packed', entries(0, records));
const server = await ServerProcess.start(repo.root, 'relaxed');
await fill(server);

const { category } = entry(0, '');
const whole = `${count(maxAnswer)} characters; the answer says how to get the rest`;
const calls: readonly (readonly [tool: string, args: JsonObject, bound: string])[] = [
  ['search_memory', { query: 'sentence of a usual length' }, '`limit` 20; `total`'],
  ['memory_search', { query: 'four lines of text' }, '`limit` 20; `total`'],
  ['memory_read', { category }, '`limit` 50; `total`'],
  ['memory_list', { category }, whole],
  ['list_features', {}, whole],
  ['get_feature_context', { slug: 'f-0' }, whole],
  ['build_context', { feature_slugs: ['f-0', 'f-1'] }, '`budget`; names the calls for the rest'],
  ['read_memory_bank_file', { filename: 'decisionLog.md' }, whole],
  ['activate', { bank_type: 'code', bank_id: 'code' }, '24,000 bytes of content; `get_whole`'],
  ['record_history', { limit: 200 }, '20,000 bytes; `next_skip`'],
  ['diff_memory', { from: 'HEAD~150', limit: 200 }, '20,000 bytes; `next_skip`'],
  ['read_as_of', { revision: 'HEAD', path: 'decisionLog.md' }, '20,000 characters; `next_offset`'],
  ['blame_record', { path: 'decisionLog.md' }, '20,000 bytes; `next_line`'],
];
const answers: string[][] = [];
for (const [tool, args, bound] of calls) {
  const text = await server.text(tool, args);
  answers.push([`\`${tool}\``, count(Buffer.byteLength(text)), count(countTokens(text)), bound]);
}
await server.end();
repo.remove();

report('tokens', 'The longest answers', [
  `In a memory of ${count(records)} knowledge entries, ${count(records)} features, a feature with ${count(records)} requirements, a bank with a document of ${count(records)} sections and a log of ${count(decisions)} decisions. The tokens are those of \`o200k_base\`.`,
  table(['call', 'bytes', 'tokens', 'limited by'], answers),
]);
