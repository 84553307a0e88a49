import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { Session } from '../../src/core/memory/session.ts';
import { errorCodes, MemoryError } from '../../src/core/values/error.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { documents } from '../../src/toolsets/documents/toolset.ts';
import { type Call, callsOf } from '../suites/call.ts';
import { documentsSuite } from '../suites/documents.ts';
import { TestContext } from '../support/context.ts';
import { corpus } from '../support/corpus.ts';
import fc from '../support/fc.ts';

documentsSuite('a plain map', async () => callsOf(documents, new TestContext(documents)), 100);

let context: TestContext;
let call: Call;

beforeEach(async () => {
  context = new TestContext(documents);
  call = callsOf(documents, context);
  await call('activate_project');
});

async function store(memory: JsonObject): Promise<string> {
  const { body } = await call('store_memory', memory);
  expect(body).toEqual({ success: true, memory_id: expect.any(String) });
  return String(body.memory_id);
}

const plan = { title: 'API Design', type: 'design_doc', content: '# API\n' };
const unknown = '00000000-0000-4000-8000-000000000000';

test('get_memory answers only the section that is named', async () => {
  const content = '# Cache\n\n## Store\n\nRedis.\n\n## Size\n\nOne gigabyte.\n';
  const memory_id = await store({ ...plan, content });
  const { body } = await call('get_memory', { memory_id, section: 'Cache > Size' });
  expect(body.memory).toMatchObject({ id: memory_id, content: '## Size\n\nOne gigabyte.\n' });
  expect((await call('get_memory', { memory_id, section: 'Cash' })).isError).toBe(true);
});

describe('activation', () => {
  test('answers the id of the project and makes no commit of its own', async () => {
    const { body } = await call('activate_project', { extra: 1 });
    expect(body).toEqual({ success: true, project_id: context.project.id });
    expect(context.store.commits).toEqual([]);
  });

  test('holds for one session', async () => {
    context.session = new Session(() => '01OTHER');
    const refused = await call('list_memories');
    expect(refused).toEqual({
      body: { error: 'project_not_activated' },
      note: expect.stringContaining('activate_project'),
      isError: true,
    });
    await call('activate_project');
    expect((await call('list_memories')).isError).toBe(false);
  });

  test('holds for one project', async () => {
    await context.useProject('/elsewhere');
    expect((await call('list_memories')).body).toEqual({ error: 'project_not_activated' });
  });

  test.each(['store_memory', 'get_memory', 'list_memories', 'update_memory', 'delete_memory'])(
    'comes before every other error of %s',
    async (tool) => {
      context.session = new Session(() => '01OTHER');
      for (const args of [{}, null, 'x', { type: 'poem' }, { memory_id: 5 }]) {
        expect((await call(tool, args)).body).toEqual({ error: 'project_not_activated' });
      }
      expect(context.store.files.size).toBe(0);
    },
  );

  test('is what is missing even where the bank cannot be read', async () => {
    context.session = new Session(() => '01OTHER');
    context.project.info = async () => {
      throw new MemoryError('damaged', 'config.yaml is broken.');
    };
    expect((await call('get_memory')).body).toEqual({ error: 'project_not_activated' });
  });

  test.each([
    ['cannot_create', 'cannot_create_project_dir'],
    ['no_project', 'cannot_create_project_dir'],
    ['damaged', 'storage_error'],
    ['storage', 'storage_error'],
  ] as const)('tells %s as %s', async (code, error) => {
    context.session = new Session(() => '01OTHER');
    context.project.initialize = async () => {
      throw new MemoryError(code, 'No.');
    };
    expect(await call('activate_project')).toEqual({ body: { error }, note: 'No.', isError: true });
    expect((await call('list_memories')).body).toEqual({ error: 'project_not_activated' });
  });
});

describe('bad input', () => {
  const id = { memory_id: unknown };
  test.each([
    ['store_memory', { type: 'rules', content: '' }, 'missing_required_field'],
    ['store_memory', { ...plan, title: null }, 'missing_required_field'],
    ['store_memory', { ...plan, title: '' }, 'missing_required_field'],
    ['store_memory', { ...plan, title: ' \t\n\u00a0' }, 'missing_required_field'],
    ['store_memory', { ...plan, content: null }, 'missing_required_field'],
    ['store_memory', { title: 'T', type: 'rules' }, 'missing_required_field'],
    ['store_memory', { title: 'T', content: '' }, 'missing_required_field'],
    ['store_memory', { title: 'T', type: null, content: '' }, 'missing_required_field'],
    ['store_memory', {}, 'missing_required_field'],
    ['store_memory', { ...plan, type: 'poem' }, 'invalid_memory_type'],
    ['store_memory', { ...plan, type: '' }, 'invalid_memory_type'],
    ['store_memory', { ...plan, type: 'Design_Doc' }, 'invalid_memory_type'],
    ['store_memory', { ...plan, type: '__proto__' }, 'invalid_memory_type'],
    ['store_memory', { ...plan, type: 5 }, 'invalid_memory_type'],
    ['store_memory', { ...plan, type: ['rules'] }, 'invalid_memory_type'],
    ['store_memory', { ...plan, title: 5 }, 'invalid_json'],
    ['store_memory', { ...plan, content: { a: 1 } }, 'invalid_json'],
    ['store_memory', [], 'invalid_json'],
    ['store_memory', null, 'invalid_json'],
    ['store_memory', '{"title":"T"}', 'invalid_json'],
    // Of several the first in the order of precedence, whatever stands first in the call.
    ['store_memory', { type: 'poem', title: 'T' }, 'missing_required_field'],
    ['store_memory', { type: 'poem', title: 5, content: null }, 'missing_required_field'],
    ['store_memory', { type: 'poem', title: 5, content: '' }, 'invalid_json'],
    ['get_memory', {}, 'missing_required_field'],
    ['get_memory', { memory_id: null }, 'missing_required_field'],
    ['get_memory', { memory_id: 5 }, 'invalid_json'],
    ['get_memory', { memory_id: '' }, 'memory_not_found'],
    ['get_memory', { memory_id: '../../config' }, 'memory_not_found'],
    ['get_memory', { memory_id: '__proto__' }, 'memory_not_found'],
    ['get_memory', id, 'memory_not_found'],
    ['get_memory', 7, 'invalid_json'],
    ['list_memories', { type: 'poem' }, 'invalid_memory_type'],
    ['list_memories', { type: 5 }, 'invalid_memory_type'],
    ['list_memories', [], 'invalid_json'],
    ['update_memory', { content: 'x' }, 'missing_required_field'],
    ['update_memory', id, 'missing_required_field'],
    ['update_memory', { ...id, content: null }, 'missing_required_field'],
    ['update_memory', { ...id, content: 5 }, 'invalid_json'],
    ['update_memory', { ...id, content: 5, type: 'poem' }, 'invalid_json'],
    ['update_memory', { ...id, content: 'x', type: 'poem' }, 'invalid_memory_type'],
    ['update_memory', { ...id, content: 'x', type: null }, 'invalid_memory_type'],
    ['update_memory', { ...id, content: 'x', type: 'rules' }, 'memory_not_found'],
    ['delete_memory', {}, 'missing_required_field'],
    ['delete_memory', { memory_id: [] }, 'invalid_json'],
    ['delete_memory', id, 'memory_not_found'],
  ])('%s %j is %s', async (tool, args, error) => {
    const answer = await call(tool, args);
    expect(answer).toEqual({ body: { error }, note: expect.stringMatching(/\w/), isError: true });
    expect(context.store.files.size).toBe(0);
    expect(context.store.commits).toEqual([]);
  });

  test('every error has a code of the seed', () => {
    const [tool] = documents.tools;
    if (tool === undefined) throw new Error('no tool');
    const codes = new Set(
      errorCodes.map((code) => documents.failure(tool, new MemoryError(code, '')).body.error),
    );
    expect([...codes].sort()).toEqual([
      'cannot_create_project_dir',
      'invalid_json',
      'memory_not_found',
      'project_not_activated',
      'storage_error',
    ]);
  });
});

describe('memories', () => {
  test('are one readable file each, and one commit each change', async () => {
    const id = await store(plan);
    const path = `documents/design_doc/api-design-${id.slice(0, 8)}.md`;
    expect([...context.store.files.keys()]).toEqual([path]);
    const text = context.store.files.get(path);
    expect(text).toMatch(
      /^---\nid: .*\ntitle: API Design\ntype: design_doc\ncreated_at: .*\n---\n/,
    );
    expect(text?.endsWith('# API\n')).toBe(true);

    await call('update_memory', { memory_id: id, content: 'new' });
    await call('delete_memory', { memory_id: id });
    expect(context.store.commits).toEqual([
      { subject: 'store design_doc "API Design"', paths: [path] },
      { subject: 'update design_doc "API Design"', paths: [path] },
      { subject: 'delete design_doc "API Design"', paths: [path] },
    ]);
    expect(context.store.files.size).toBe(0);
  });

  test('equal content is no update', async () => {
    const memory_id = await store(plan);
    const before = (await call('get_memory', { memory_id })).body;
    const update = { memory_id, content: plan.content };
    expect((await call('update_memory', update)).body).toEqual({ success: true });
    expect((await call('get_memory', { memory_id })).body).toEqual(before);
    expect(context.store.commits).toHaveLength(1);
  });

  test('an update leaves title, type, id and creation as they are, whatever it is given', async () => {
    const memory_id = await store(plan);
    const { memory } = (await call('get_memory', { memory_id })).body;
    const rest = { title: 'Other', type: 'rules', id: unknown, created_at: 'never' };
    await call('update_memory', { ...rest, memory_id, content: 'new' });
    expect((await call('get_memory', { memory_id })).body.memory).toEqual({
      ...Object(memory),
      content: 'new',
      updated_at: expect.any(String),
    });
  });

  test('two of the same title and type are two, even when their ids begin alike', async () => {
    const ids = ['11111111-0000-4000-8000-000000000001', '11111111-0000-4000-8000-000000000002'];
    for (const id of ids) {
      context.uuid = () => id;
      await store({ ...plan, content: id });
    }
    for (const memory_id of ids) {
      const { body } = await call('get_memory', { memory_id });
      expect(body.memory).toMatchObject({ id: memory_id, content: memory_id });
    }
    expect(context.store.files.size).toBe(2);
  });

  test('are listed in the order of creation, and null lists all of them', async () => {
    const titles = ['zebra', 'Apple', 'mango'];
    for (const title of titles) await store({ ...plan, title });
    const { memories } = (await call('list_memories', { type: null })).body;
    expect(memories).toEqual(
      titles.map((title) => ({ id: expect.any(String), title, type: 'design_doc' })),
    );
    expect((await call('list_memories', { type: 'rules' })).body).toEqual({
      success: true,
      memories: [],
    });
  });

  test('titles come back as they are, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        async (title, content) => {
          fc.pre(/\S/.test(title));
          const memory_id = await store({ title, type: 'analysis', content });
          const { memory } = (await call('get_memory', { memory_id })).body;
          expect(memory).toMatchObject({ title, content });
          context.store.files.clear();
        },
      ),
    );
  });

  test('a damaged one fails alone, by name, and stays as it is', async () => {
    const memory_id = await store(plan);
    const other = await store({ ...plan, title: 'Other' });
    const path = `documents/design_doc/api-design-${memory_id.slice(0, 8)}.md`;
    const broken = '---\nid: [\n---\n';
    context.store.files.set(path, broken);
    for (const tool of ['get_memory', 'update_memory', 'delete_memory']) {
      const { body, note } = await call(tool, { memory_id, content: 'new' });
      expect(body).toEqual({ error: 'storage_error' });
      expect(note).toContain(path);
    }
    expect(context.store.files.get(path)).toBe(broken);
    expect((await call('list_memories')).body).toEqual({
      success: true,
      memories: [{ id: other, title: 'Other', type: 'design_doc' }],
      damaged: [{ path, message: expect.stringContaining(path) }],
    });
    expect((await call('get_memory', { memory_id: unknown })).body).toEqual({
      error: 'memory_not_found',
    });
  });
});

describe.skipIf(corpus === undefined)('real data', () => {
  const root = corpus ?? '';

  test('memories of another server of this seed come back as they were', async () => {
    const path = join(root, '_reference-outputs/seed002-hemanthpai/.infinity/memories.json');
    const given: { title: string; type: string; content: string | null }[] = JSON.parse(
      readFileSync(path, 'utf8'),
    ).memories;
    expect(given.length).toBeGreaterThan(0);
    // That server wrote an empty content as null.
    for (const { title, type, content: text } of given) {
      const content = text ?? '';
      const memory_id = await store({ title, type, content });
      const { memory } = (await call('get_memory', { memory_id })).body;
      expect(memory).toMatchObject({ title, type, content });
    }
  });

  test('every markdown file can be the content of a memory', async () => {
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.md'),
    );
    for (const path of paths) {
      const content = readFileSync(join(root, path), 'utf8');
      const memory_id = await store({ title: path, type: 'analysis', content });
      const { memory } = (await call('get_memory', { memory_id })).body;
      expect(memory).toMatchObject({ title: path, content });
      context.store.files.clear();
    }
  });
});
