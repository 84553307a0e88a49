import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { endOfPiece } from '../../src/toolsets/history/answer.ts';
import { Stage } from '../hostile/stage.ts';

const path = 'notes.md';
const line = (i: number) => `Line ${i} says 🙂 what is said in a line of a usual length.\n`;
const text = Array.from({ length: 1000 }, (_, i) => line(i)).join('');
/** Size limit of an answer of the history with its list, in bytes. */
const most = 30_000;
let stage: Stage;

beforeAll(async () => {
  stage = new Stage();
  await stage.succeed('write_memory_bank_file', { filename: path, content: text });
  const reason = 'Why it was changed is told at some length, as people do. '.repeat(5);
  for (const value of ['What it was.', reason.repeat(2)]) {
    for (let i = 0; i < 60; i++) {
      const entry = { category: 'patterns', key: `key-${i}`, value, reason };
      await stage.succeed('memory_write', entry);
    }
  }
});

afterAll(() => stage.close());

/** All pages of a tool's answer, each requested as the page before it says. */
async function pages(
  tool: string,
  args: object,
  asked: string,
  told: string,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let next: object = {}; ; ) {
    const page = await stage.succeed(tool, { ...args, ...next });
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(most);
    all.push(page);
    if (page[told] === undefined) return all;
    next = { [asked]: page[told] };
  }
}

test('a long text is divided into pages of whole lines', async () => {
  const read = await pages('read_as_of', { revision: 'HEAD', path }, 'offset', 'next_offset');
  expect(read.length).toBeGreaterThan(2);
  expect(read.map((page) => page.text).join('')).toBe(text);
  for (const { text } of read) expect(text).toMatch(/^Line .*\n$/s);
});

test('a text without lines is not cut inside a character', () => {
  const smiles = 'x🙂'.repeat(10);
  expect(endOfPiece(smiles, 0, 2)).toBe(1);
  expect(endOfPiece(smiles, 0, 3)).toBe(3);
  expect(endOfPiece(smiles, 28, 10)).toBe(smiles.length);
});

test.each([
  ['record_history', { limit: 200 }, 'skip', 'next_skip', 'commits', 121],
  ['diff_memory', { from: 'HEAD~60', limit: 200 }, 'skip', 'next_skip', 'changes', 60],
] as const)('a long list of %s comes in pages', async (tool, args, asked, told, list, count) => {
  const found = await pages(tool, args, asked, told);
  expect(found.length).toBeGreaterThan(1);
  const items = found.flatMap((page) => page[list]).map((item) => JSON.stringify(item));
  expect(new Set(items).size).toBe(count);
});

test('a line that is longer than an answer is cut, and the answer says so', async () => {
  await stage.succeed('write_memory_bank_file', {
    filename: 'one.md',
    content: 'x'.repeat(50_000),
  });
  const { blame } = await stage.succeed('blame_record', { path: 'one.md' });
  expect(JSON.stringify(blame)).toMatch(/x… \(46000 more characters\)/);
});

test('the lines of a long record are divided into pages', async () => {
  const told = await pages('blame_record', { path, lines: 1000 }, 'first_line', 'next_line');
  const blamed = told.flatMap(({ blame }) => (Array.isArray(blame) ? blame : []));
  expect(blamed.map((one) => Object(one).text).join('')).toBe(text);
});
