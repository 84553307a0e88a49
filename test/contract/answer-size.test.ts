import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../../src/app/app.ts';
import { maxAnswer } from '../../src/core/answers/answer-limit.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { deep, isFull } from '../support/depth.ts';
import { ModernClient } from '../support/modern.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { everything, planning } from './every-tool.ts';

const tools = toolsets.flatMap((toolset) => toolset.tools).filter(({ listed }) => listed !== false);
const count = isFull ? 3_000 : 90;
const range = Array.from({ length: count }, (_, i) => i);
const long = 'A long line of text, with "quotes" in it.\n'.repeat(isFull ? 5_500 : 1_600);
const text = (i: number) => `${i} crash recovery `.padEnd(isFull ? 60 : 900, 'word ');

/** Members that a seed promises whole, and why. */
const promised: { readonly [tool: string]: string } = {
  memory_list: 'keys is the complete list of keys',
  memory_prune: 'would_delete and deleted are complete, and total is their length',
};

let repo: Repo;
let app: App;
let client: ModernClient;
let id = 0;

// biome-ignore lint/suspicious/noExplicitAny: answers of all tools
type Body = any;

async function ask(method: string, params: object): Promise<Body> {
  id += 1;
  const { result, error } = await client.ask(id, method, params).answer(id);
  return result ?? { error };
}

/** Calls a tool, and expects each part of its answer to fit. */
async function call(name: string, args: object): Promise<Body> {
  const { content, structuredContent, error } = await ask('tools/call', { name, arguments: args });
  expect(error, name).toBeUndefined();
  const [first] = content;
  if (!promised[name]) {
    for (const part of content) expect(part.text.length, name).toBeLessThanOrEqual(maxAnswer);
    expect(JSON.stringify(structuredContent ?? '').length, name).toBeLessThanOrEqual(maxAnswer);
  }
  return JSON.parse(first.text);
}

beforeAll(async () => {
  repo = Repo.create();
  const { root } = repo;
  const place = { flag: root, env: {}, cwd: root, home: newFolder() };
  app = new App({ homeFolder: newFolder(), durability: 'relaxed', place, log: () => undefined });
  client = new ModernClient(app);
  const given = new Map<string, Body>();
  for (const [tool, args] of planning) {
    given.set(
      tool,
      await call(
        tool,
        args((name) => given.get(name)),
      ),
    );
  }
  await enlarge();
});

/** Fills the memory of the plan with long texts, and with lists that are too long for an answer. */
async function enlarge(): Promise<void> {
  await call('create_features', {
    features: range.map((i) => ({ slug: `git/f${i}`, name: `F ${i}`, description: text(i) })),
  });
  await call('create_paths', {
    paths: range.map((i) => ({
      path: `src/git/p${i}.ts`,
      type: 'file',
      description: text(i),
      use_when: ['a crash left something behind'],
    })),
  });
  const requirements = range.map((i) => ({ text: text(i), notes: [text(i)] }));
  await call('create_requirements', { feature_slug: 'git/recovery', requirements });
  await call('create_requirements', {
    feature_slug: 'git/recovery',
    requirements: [{ text: 'long', notes: range.slice(0, 100).map(text) }],
  });
  await call('create_tasks', {
    objective_slug: 'first-release',
    tasks: range.map((i) => ({ text: text(i) })),
  });
  await call('create_tickets', {
    tickets: range.map((i) => ({ key: `K-${i}`, title: text(i), description: text(i) })),
  });
  const metadata = Object.fromEntries(range.map((i) => [`key ${i} ${text(i)}`, text(i)]));
  const entry = { category: 'patterns', key: 'names', value: long, metadata };
  await call('memory_write', entry);
  for (const i of range) {
    const value = `---\ncategory: patterns\nkey: k${i}\ncreated_at: 2020-01-01T00:00:00.000Z\nupdated_at: 2020-01-01T00:00:00.000Z\n---\n${text(i)}\n`;
    repo.write(`.memory-bank/knowledge/patterns/k${i}.md`, value);
    repo.write(`.memory-bank/pages/page-${i}.md`, `# Page ${i}\n\n${text(i)}\n`);
    repo.write(`.memory-bank/broken/${i}.yaml`, '<<<<<<< a\n');
    repo.write(`.memory-bank/graph/tasks/broken-${i}.yaml`, '<<<<<<< a\n');
  }
  for (const name of ['decisionLog', 'systemPatterns', 'productContext', 'notes']) {
    const sections = range.map((i) => `## Section ${i}\n\n${text(i)}\n`).join('\n');
    repo.write(`.memory-bank/${name}.md`, `# ${name}\n\n${long}\n${sections}`);
  }
}

describe('the answer to a model fits into what a client accepts', () => {
  const called = new Set([...planning, ...everything].map(([tool]) => tool));

  it('has a call of every tool', () => {
    expect(tools.map(({ name }) => name).filter((name) => !called.has(name))).toEqual([]);
    const whole = tools.filter(({ complete }) => complete).map(({ name }) => name);
    expect(whole.sort()).toEqual(Object.keys(promised));
  });

  deep('by every tool that reads a large memory', async () => {
    const given = new Map<string, Body>();
    const reads = new Set(tools.flatMap(({ name, effect }) => (effect === 'read' ? name : [])));
    for (const [tool, args] of everything) {
      if (!isFull && !reads.has(tool)) continue;
      given.set(tool, await call(tool, argsOf(args, given)));
    }
    await call('memory_read', { category: 'patterns' });
    await call('memory_search', { query: 'word', limit: 100 });
    await call('search_memory', { query: 'word', limit: 100 });
  });

  deep('by every tool that refuses long arguments', async () => {
    for (const { name, input } of tools) {
      if (!isFull && Object.keys(input.shape).length === 0) continue;
      const fields = Object.keys(input.shape).filter((field) => field !== 'confirm');
      await call(name, Object.fromEntries(fields.map((field) => [field, `no ${field} ${long}`])));
      await call(name, { [long]: long, ...metadataOf(fields) });
    }
  });

  deep('by every resource and prompt', async () => {
    const { resources } = await ask('resources/list', {});
    const longest = ['progress.md', 'systemPatterns.md', 'productContext.md', 'decisionLog.md'];
    const read = resources.filter(({ uri }: Body) => longest.some((name) => uri.endsWith(name)));
    expect(read.length).toBeGreaterThan(3);
    for (const { uri } of [...read, ...resources.slice(0, 5)]) {
      const { contents } = await ask('resources/read', { uri });
      expect(contents[0].text.length, uri).toBeLessThanOrEqual(maxAnswer);
    }
    const { prompts } = await ask('prompts/list', {});
    expect(prompts.length).toBeGreaterThan(1);
    for (const { name } of prompts) {
      const { messages } = await ask('prompts/get', { name });
      for (const { content } of messages) {
        expect(content.text.length, name).toBeLessThanOrEqual(maxAnswer);
      }
    }
  });
});

/** The arguments of a step; those that need the answer of a step that was left out are empty. */
function argsOf(args: (last: (tool: string) => Body) => object, given: Map<string, Body>): object {
  try {
    return args((name) => given.get(name));
  } catch {
    return {};
  }
}

/** Objects and lists where a tool does not expect them. */
function metadataOf(fields: readonly string[]): object {
  const odd = Object.fromEntries(range.slice(0, 2_000).map((i) => [`field ${i}`, [text(i)]]));
  return Object.fromEntries(fields.slice(0, 1).map((field) => [field, isFull ? odd : [odd]]));
}

afterAll(async () => {
  await client.end();
  repo.remove();
});
