import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxAnswer } from '../../src/core/answers/answer-limit.ts';
import { deep } from '../support/depth.ts';
import { main, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let client: RawClient;
let id = 0;

async function call(tool: string, args: object = {}) {
  id += 1;
  const { result } = await client.call(id, tool, args).answer(id);
  return { body: result.structuredContent, content: result.content };
}

/** Calls with growing offsets until nothing is left out, and returns all items. */
async function all(tool: string, list: string, args: object = {}) {
  const found: unknown[] = [];
  for (;;) {
    const { body, content } = await call(tool, { ...args, offset: found.length });
    expect(content[0].text.length).toBeLessThanOrEqual(maxAnswer + 50);
    const value = body.data ?? body;
    found.push(...value[list]);
    if (value.left_out === undefined) return found;
    expect(content[1].text).toContain(`call again with offset ${found.length}.`);
  }
}

const text = (i: number) => `${i} `.padEnd(900, 'x');
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

beforeAll(async () => {
  repo = new Repo().begin();
  client = new RawClient([main], { cwd: repo.root }).initialize();
  await call('create_objective', { slug: 'o', name: 'O' });
  const tasks = range(90).map((i) => ({ text: text(i) }));
  await call('create_tasks', { objective_slug: 'o', tasks });
  for (const i of range(9)) {
    const value = `${i} `.padEnd(9_000, 'word ');
    await call('memory_write', { category: 'patterns', key: `k${i}`, value });
  }
});

afterAll(async () => {
  await client.end();
  repo.remove();
});

test('a list that a client would refuse comes in pieces', async () => {
  const tasks = await all('list_tasks', 'tasks', { objective_slug: 'o' });
  expect(tasks).toEqual(range(90).map((order) => expect.objectContaining({ order })));
  const entries = await all('memory_read', 'entries');
  expect(entries).toEqual(range(9).map((i) => expect.objectContaining({ key: `k${i}` })));
});

test('a context names the call that returns the rest', async () => {
  const { body, content } = await call('get_objective_context', { slug: 'o' });
  const { tasks, left_out } = body.data;
  expect(left_out).toEqual({ tasks: 90 - tasks.length });
  expect(content[1].text).toContain(
    `call list_tasks with this objective_slug and offset ${tasks.length}.`,
  );
});

deep('a person at a terminal gets all of it', () => {
  const args = [main, 'list-tasks', '--objective-slug', 'o', '--output', 'json'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: repo.root, encoding: 'utf8' });
  expect(JSON.parse(stdout).data.tasks).toHaveLength(90);
});

const readers: readonly (readonly [tool: string, args: object, key: string])[] = [
  ['read_memory_bank_file', { filename: 'systemPatterns.md' }, 'content'],
  ['System_Patterns', {}, 'content'],
  ['memory_read', { category: 'patterns', key: 'long' }, 'value'],
];

/** Finds the text at a key, wherever the toolset has it in its answer. */
function textAt(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (name === key && typeof item === 'string') return item;
    const found = textAt(item, key);
    if (found !== undefined) return found;
  }
  return undefined;
}

deep.each(readers)(
  '%s cuts a long text, and returns the rest by its section',
  async (tool, args, key) => {
    const whole = range(4_000)
      .map((i) => `Line ${i} of "a long" text: é🙂\n`)
      .join('');
    repo.write('.memory-bank/systemPatterns.md', whole);
    await call('memory_write', { category: 'patterns', key: 'long', value: whole });
    let read = '';
    let section: string | undefined;
    do {
      const { body, content } = await call(tool, { ...args, ...(section && { section }) });
      expect(content[0].text.length).toBeLessThanOrEqual(maxAnswer + 50);
      const text = textAt(body, key) ?? '';
      const [line = '', next] = /\[memory-bank: .*with section "(.*)"\.\]$/.exec(text) ?? [];
      if (line !== '') {
        const content = `# Mine\n\n${text}`;
        const refused = await call('write_memory_bank_file', { filename: 'other.md', content });
        expect(refused.content[0].text).toContain('answer that was cut');
      }
      read += text.slice(0, text.length - line.length);
      section = next;
    } while (section !== undefined);
    expect(read).toBe(whole);
  },
);
