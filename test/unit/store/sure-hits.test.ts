import { expect, test } from 'vitest';
import { SearchIndex } from '../../../src/store/search/index.ts';

const filler = `The list of files is written again after a change, and a test reads the page of each user. An error of
  the server is shown with its number. The button starts a new run of the script in the folder. `;

/** An index of long records, three of which are about one thing each. */
function memory(): SearchIndex {
  const index = new SearchIndex();
  const add = (title: string, body: string) =>
    index.upsert({ id: `${title}.md`, fields: { title, body: `${body} ${filler.repeat(6)}` } });
  add('commit-messages', 'An imperative subject of at most 60 characters.');
  add('job-queue', 'Background jobs run on pg-boss; every handler is idempotent.');
  add('carrier-retries', 'Treat an empty body of the carrier as a 503, with backoff.');
  for (let i = 0; i < 20; i++) add(`note-${i}`, `Number ${i}.`);
  return index;
}

const found = (query: string) =>
  memory()
    .search(query, { sure: 1 })
    .hits.map(({ id }) => id);

test.each([
  ['write the commit message of this change', 'commit-messages.md'],
  ['add Redis for the background jobs', 'job-queue.md'],
  ['is a handler of the job queue idempotent?', 'job-queue.md'],
  ['the carrier answers with an empty body, retry with backoff', 'carrier-retries.md'],
  ['commit-messages', 'commit-messages.md'],
])('a prompt finds the record that it is about: %s', (prompt, id) => {
  expect(found(prompt)).toEqual([id]);
});

test.each([
  'make the button blue',
  'run the tests again please',
  'list the files of the folder and read each page',
  'the server shows an error, start a new run of the script',
  'a handler for the door of the car',
  'retry',
  'thanks, that works',
])('a long record that shares words with a prompt is not found: %s', (prompt) => {
  expect(found(prompt)).toEqual([]);
});

test('entries of a log are found by themselves, with their own titles', () => {
  const index = new SearchIndex();
  const body = `# Decision Log\n\n## Use pg-boss for background jobs\n- **Date:** 2026-01-02\n- **Decision:** Jobs run on pg-boss.\n- **Alternatives Considered:** Redis\n\n## Format of prices\n- **Date:** 2026-01-03\n- **Decision:** Amounts are integers in cents.\n`;
  const fields = { title: 'Decision Log', body, markdown: true };
  index.upsert({ id: 'decisionLog.md', fields });
  const { hits } = index.search('take Redis for the background jobs', { sure: 1 });
  expect(hits).toMatchObject([
    { title: 'Use pg-boss for background jobs', snippet: 'Jobs run on pg-boss.' },
  ]);
});

test('a hit goes on after its beginning, and does not leave it for a single word', () => {
  const index = memory();
  const later = 'See the store of the number library, which keeps every mail.';
  const body = `Never use floating point numbers for prices. Amounts are integers in cents. ${filler.repeat(3)}${later}`;
  index.upsert({ id: 'prices.md', fields: { title: 'prices', body } });
  const [hit] = index.search('store the prices as floating point numbers', { sure: 1 }).hits;
  expect(hit?.snippet).toContain('prices. Amounts are integers in cents.');
});

test('the beginning of a decision goes on up to the passage with the words of a prompt', () => {
  const index = memory();
  const why = 'Reasons are many, and each of them was weighed with care by the whole team. '.repeat(
    12,
  );
  const body = `# Templates\n\n## Decision\n\nReduce the templating code. The library is Handlebars. ${why}\n\n- Fields of generated content are extracted.\n\n## Consequences\n\nNone.\n`;
  index.upsert({ id: 'templates.md', fields: { title: 'Templates', body, markdown: true } });
  const [hit] = index.search('extract the fields of generated content from templates', {
    sure: 1,
  }).hits;
  expect(hit?.snippet).toMatch(
    /^Reduce the templating code\. The library is Handlebars\..* … .*extracted/,
  );
});

test('a question for a reason finds the section that gives it', () => {
  const index = memory();
  const body =
    '# Move to Bun\n\n## Overview\n\nHow the server was moved from Node.js to the Bun runtime.\n\n## Motivation\n\nThe move to Bun has these reasons:\n\n- faster startup\n';
  index.upsert({ id: 'bun.md', fields: { title: 'Move to Bun', body, markdown: true } });
  const [hit] = index.search('why did we move from Node.js to Bun?', { sure: 1 }).hits;
  expect(hit?.snippet).toContain('faster startup');
});

test('a long record is less sure than a short one with the same words', () => {
  const certaintyOf = (repeats: number) => {
    const index = memory();
    const body = `The invoices of a supplier are matched by their number. ${filler.repeat(repeats)}`;
    index.upsert({ id: 'invoices.md', fields: { title: 'accounting', body } });
    const isFound = (sure: number) => {
      const { hits } = index.search('match the invoices of the supplier', { sure });
      return hits.some(({ id }) => id === 'invoices.md');
    };
    return [0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6].filter(isFound).length;
  };
  expect(certaintyOf(400)).toBeLessThan(certaintyOf(1));
});
