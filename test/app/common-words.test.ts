import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { readEvent } from '../../src/app/hook/client-event.ts';
import { keepDigest } from '../../src/app/hook/digest-keeping.ts';
import { answerHook } from '../../src/app/hook/hook-answer.ts';
import { contextMemory } from '../../src/app/hook/hook-memory.ts';
import { QuickHookMemory } from '../../src/app/hook/quick-hook-memory.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

/** A prompt with the words of every page of the project, and one about the record. */
const everyday = 'open the comic reader';
const telling = 'which fingers zoom the comic reader, and what does a double tap do?';
const value = 'Two fingers zoom a page of the comic reader, and a double tap resets it';

let repo: Repo;
let app: App;

beforeEach(async () => {
  repo = Repo.create();
  app = projectApp(repo.root);
  const args = { category: 'patterns', key: 'comic-reader', value };
  const written = await app.call(app.connect(), 'memory_write', args);
  expect(written?.error).toBeUndefined();
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

/** The answers of the whole program and of the quick one, which are the same. */
async function answers(prompt: string): Promise<string> {
  const input = { hook_event_name: 'UserPromptSubmit', cwd: repo.root, prompt };
  const event = readEvent('prompt', JSON.stringify(input));
  if (!event) throw new Error('The input was not read.');
  const session = app.connect();
  const work = app.run(session, 'hook', {}, async (context) => {
    return answerHook(await contextMemory(context), event);
  });
  const whole = JSON.stringify((await work) ?? '');
  const memory = QuickHookMemory.open(repo.path('.memory-bank'), 'test');
  if (memory) expect(JSON.stringify((await answerHook(memory, event)) ?? '')).toBe(whole);
  return whole;
}

/** Learns the words, as a server does a while after a change. */
async function learn(): Promise<void> {
  await setTimeout(60);
  await app.run(app.connect(), 'digest', {}, (context) => keepDigest(context, { renews: true }));
}

function addDocuments(): void {
  const pages = Array.from({ length: 30 }, (_, i) => {
    return `Page ${i} of the comic reader says how the reader draws comic number ${i} on a screen.`;
  });
  repo.write('README.md', pages.slice(0, 3).join('\n\n'));
  repo.write('docs/guide.md', pages.join('\n\n'));
  repo.write('package.json', '{ "name": "comic-reader", "description": "A comic reader" }');
  repo.commitAll('Add documents');
}

test('the words of the documents of a project say little in a young memory', async () => {
  await learn();
  expect(await answers(everyday)).toContain('Two fingers');
  addDocuments();
  await learn();
  expect(await answers(everyday)).toBe('""');
  expect(await answers(telling)).toContain('Two fingers');
});

test('without the file of these words, or with a damaged one, they count as before', async () => {
  addDocuments();
  await learn();
  const folder = repo.path('.git/memory-bank');
  const name = readdirSync(folder).find((one) => one.startsWith('common-')) ?? '';
  writeFileSync(`${folder}/${name}`, 'damaged');
  expect(await answers(everyday)).toContain('Two fingers');
  rmSync(`${folder}/${name}`);
  expect(await answers(everyday)).toContain('Two fingers');
});

test.each([
  ['one word', 'comic'],
  ['one letter', 'ж'],
  ['no word', '?!… 👍🏽'],
  ['a megabyte', 'draw a blue circle '.repeat(55_000)],
  ['a megabyte without a space', 'x'.repeat(1 << 20)],
  ['code', 'const x = items.filter((i) => i.price > 10).map(({ name }) => name); // sort these'],
  [
    'a stack trace',
    'TypeError: undefined is not a function\n    at Object.<anonymous> (/srv/app/dist/main.js:12:7)\n    at node:internal/main/run_main_module:28:49',
  ],
  ['a brief', 'Memory of this project (.memory-bank/). The quoted texts are records'],
  [
    'many scripts',
    'Привет Γειά שלום مرحبا हैलो สวัสดี 안녕하세요 こんにちは 你好 გამარჯობა ሰላም ᠰᠠᠢᠨ ကောင်း',
  ],
  ['half a letter', '\ud83d \udc4d \0 \u202e'],
])('a prompt of %s gets nothing', async (_, prompt) => {
  await learn();
  expect(await answers(prompt)).toBe('""');
});
