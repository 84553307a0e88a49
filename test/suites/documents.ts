import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { documentType } from '../../src/toolsets/documents/document.ts';
import fc from '../support/fc.ts';
import { agreesWithModel, type Call, command } from './call.ts';

interface Memory {
  id: string;
  title: string;
  type: string;
  content: string;
}

/** The memories in the order in which they were stored. */
interface Model {
  readonly memories: Memory[];
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '---\n',
    '---\nid: x\n---\n',
    '\r\nline\rline\n',
    '\ufeffbom',
    ' ',
    '# T\n\n- a\n',
  ),
);
const type = fc.constantFrom(...documentType.options);
const missing = { error: 'missing_required_field' };
const notFound = { error: 'memory_not_found' };
const success = { success: true };

/** A call with the id of the nth memory, or with an unknown one where there are not as many. */
function onOne<Args extends object>(
  tool: string,
  args: fc.Arbitrary<Args>,
  agree: (model: Model, memory: Memory, args: Args, body: JsonObject) => void,
): fc.Arbitrary<fc.AsyncCommand<Model, Call>> {
  return fc.tuple(fc.nat(5), args).map(([nth, given]) => ({
    check: () => true,
    async run(model, call) {
      const memory = model.memories[nth];
      const memory_id = memory?.id ?? '00000000-0000-4000-8000-000000000000';
      const { body } = await call(tool, { ...given, memory_id });
      if (memory === undefined) expect(body).toEqual(notFound);
      else agree(model, memory, given, body);
    },
    toString: () => `${tool} ${nth} ${JSON.stringify(given)}`,
  }));
}

const commands = [
  command(
    'store_memory',
    fc.record({
      title: fc.oneof(text, fc.constantFrom('Plan', '../x', 'con', 'plan')),
      type,
      content: text,
    }),
    (model: Model, memory, body) => {
      if (memory.title.trim() === '') return expect(body).toEqual(missing);
      expect(body).toEqual({ success: true, memory_id: expect.any(String) });
      model.memories.push({ id: String(body.memory_id), ...memory });
    },
  ),
  command(
    'list_memories',
    fc.record({ type }, { requiredKeys: [] }),
    (model: Model, args, body) => {
      const memories = model.memories
        .filter((memory) => args.type === undefined || memory.type === args.type)
        .map(({ id, title, type }) => ({ id, title, type }));
      expect(body).toEqual({ success: true, memories });
    },
  ),
  onOne('get_memory', fc.constant({}), (_model, memory, _args, body) => {
    expect(body.memory).toMatchObject(memory);
  }),
  onOne('update_memory', fc.record({ content: text }), (_model, memory, { content }, body) => {
    expect(body).toEqual(success);
    memory.content = content;
  }),
  onOne('delete_memory', fc.constant({}), (model, memory, _args, body) => {
    expect(body).toEqual(success);
    model.memories.splice(model.memories.indexOf(memory), 1);
  }),
];

/**
 * What holds for the documents toolset wherever it runs.
 *
 * @param open begins a session with a new, empty memory.
 */
export function documentsSuite(name: string, open: () => Promise<Call>, runs: number): void {
  describe(`documents on ${name}`, () => {
    test('the acceptance cases of the seed', async () => {
      const call = await open();
      expect((await call('list_memories')).body).toEqual({ error: 'project_not_activated' });
      const first = (await call('activate_project')).body;
      expect(first).toEqual({
        success: true,
        project_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect((await call('activate_project')).body).toEqual(first);

      const design = { title: 'API Design', type: 'design_doc', content: '# API\n\nREST.\n' };
      const stored = (await call('store_memory', design)).body;
      expect(stored).toEqual({
        success: true,
        memory_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const { memory_id } = stored;
      expect((await call('store_memory', { ...design, type: 'poem' })).body).toEqual({
        error: 'invalid_memory_type',
      });
      const memory = { id: memory_id, ...design, created_at: expect.stringMatching(/Z$/) };
      expect((await call('get_memory', { memory_id })).body).toEqual({ success: true, memory });
      expect((await call('get_memory', { memory_id: 'nope' })).body).toEqual(notFound);

      const rules = { title: 'Rules', type: 'rules', content: '' };
      const second = (await call('store_memory', rules)).body.memory_id;
      const listed = { id: memory_id, title: 'API Design', type: 'design_doc' };
      expect((await call('list_memories')).body).toEqual({
        success: true,
        memories: [listed, { id: second, title: 'Rules', type: 'rules' }],
      });
      expect((await call('list_memories', { type: 'design_doc' })).body).toEqual({
        success: true,
        memories: [listed],
      });

      const update = { memory_id, content: 'new' };
      expect((await call('update_memory', update)).body).toEqual({ success: true });
      expect((await call('get_memory', { memory_id })).body).toEqual({
        success: true,
        memory: { ...memory, content: 'new', updated_at: expect.stringMatching(/Z$/) },
      });
      expect((await call('delete_memory', { memory_id })).body).toEqual({ success: true });
      for (const [tool, args] of [
        ['get_memory', { memory_id }],
        ['update_memory', update],
        ['delete_memory', { memory_id }],
      ] as const) {
        expect((await call(tool, args)).body).toEqual(notFound);
      }
    });

    test('random calls agree with a plain map', async () => {
      const setup = async () => {
        const real = await open();
        await real('activate_project');
        return { model: { memories: [] }, real };
      };
      await agreesWithModel<Model>(commands, runs, setup, async ({ memories }, call) => {
        for (const memory of memories) {
          const { body } = await call('get_memory', { memory_id: memory.id });
          expect(body.memory).toMatchObject(memory);
        }
      });
    });
  });
}
