import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { json, text } from '../../suites/knowledge.ts';
import fc from '../../support/fc.ts';
import { deep, open } from './open.ts';

let { context, call, write, keys } = open();

beforeEach(() => {
  ({ context, call, write, keys } = open());
});

describe('writing', () => {
  test('an entry is one readable file', async () => {
    await write('api-pattern', { value: '# REST', reason: 'seen', metadata: { count: 1 } });
    expect([...context.store.files.keys()]).toEqual(['knowledge/patterns/api-pattern.md']);
    const text = context.store.files.get('knowledge/patterns/api-pattern.md');
    expect(text).toMatch(
      /^---\ncategory: patterns\nkey: api-pattern\nreason: seen\nmetadata:\n {2}count: 1\ncreated_at: /,
    );
    expect(text?.endsWith('\n---\n# REST\n')).toBe(true);
  });

  test.each(['a', '', 'a\n', 'a\n\n', '\n', 'a\r\nb\r\n', 'a\r'])(
    'the file ends in one newline and the value stays %j',
    async (value) => {
      await write('k', { value: 'before' });
      expect((await write('k', { value })).value).toBe(value);
      expect((await call('memory_read')).body.entries).toMatchObject([{ value }]);
      expect(context.store.files.get('knowledge/patterns/k.md')).toMatch(/[^\r\n]\n$/);
    },
  );

  test('each change is one commit that carries the reason', async () => {
    await write('k', { reason: 'because' });
    await write('k', { value: 'w' });
    await call('memory_delete', { category: 'patterns', key: 'k', confirm: true });
    const paths = ['knowledge/patterns/k.md'];
    expect(context.store.commits).toEqual([
      { subject: 'remember "k" in patterns', reason: 'because', paths },
      { subject: 'update "k" in patterns', paths },
      { subject: 'forget "k" in patterns', paths },
    ]);
  });

  test('an update keeps the creation and replaces all the rest', async () => {
    const first = await write('k', { reason: 'r', context: 'c', metadata: { a: 1 } });
    const second = await write('k', { value: 'w', context: 'd' });
    expect(second).toEqual({
      category: 'patterns',
      key: 'k',
      value: 'w',
      context: 'd',
      created_at: first.created_at,
      updated_at: expect.any(String),
    });
    expect(second.updated_at).not.toBe(first.updated_at);
    expect((await call('memory_read')).body.entries).toEqual([second]);
  });

  test('the same text again changes nothing', async () => {
    const first = await write('k', { metadata: { a: [1, null] } });
    expect(await write('k', { metadata: { a: [1, null] } })).toEqual(first);
    expect(context.store.commits).toHaveLength(1);
  });

  test.each(['user-preferences', 'project-learnings', 'corrections', 'patterns', 'protocol-state'])(
    '%s needs no confirmation',
    async (category) => {
      await write('k', { category });
      expect(context.store.commits).toHaveLength(1);
    },
  );

  test.each([undefined, false, null, 'true', 1])(
    'a decision with confirm %j is refused, and so is an update of it',
    async (confirm) => {
      const decision = { category: 'decisions', key: 'k', value: 'v' };
      const refusal = {
        body: {
          success: false,
          error: 'confirmation_required',
          requires_confirmation: true,
          message: expect.stringContaining('confirm: true'),
        },
        isError: true,
      };
      expect(await call('memory_write', { ...decision, confirm })).toEqual(refusal);
      expect(context.store.files.size).toBe(0);
      await write('k', { category: 'decisions', value: 'v', confirm: true });
      expect(await call('memory_write', { ...decision, value: 'w', confirm })).toEqual(refusal);
      expect(context.store.commits).toHaveLength(1);
    },
  );

  test('metadata keeps every key and value', async () => {
    const metadata = JSON.parse(
      '{"__proto__":{"x":null},"constructor":1,"":[],"a":[1.5,-0.1,1e30,{"b":null,"__proto__":true}],"é":"\\u2028","no":"no","1":2}',
    );
    await write('k', { metadata });
    const { entries } = (await call('memory_read', { key: 'k' })).body;
    expect(entries).toMatchObject([
      { metadata: expect.toSatisfy((found) => isDeepStrictEqual(found, metadata)) },
    ]);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  test('metadata may be as deep as the limit says', async () => {
    const metadata = deep(31);
    await write('k', { metadata });
    expect((await call('memory_read')).body.entries).toMatchObject([{ metadata }]);
  });

  test('any key, value and metadata come back', async () => {
    const key = fc.string({ unit: 'binary', minLength: 1 });
    const entry = fc.record({ key, value: text, reason: text, context: text, metadata: json });
    await fc.assert(
      fc.asyncProperty(entry, async (given) => {
        context.store.files.clear();
        await write('', given);
        const place = { category: 'patterns', key: given.key };
        const { entries } = (await call('memory_read', place)).body;
        const times = { created_at: expect.any(String), updated_at: expect.any(String) };
        expect(entries).toEqual([{ ...given, category: 'patterns', ...times }]);
        expect(await keys()).toEqual([given.key]);
      }),
    );
  });

  test('keys that differ by case, by a slash or by length only are different keys', async () => {
    const long = 'x'.repeat(4000);
    const all = [
      'JIRA-1',
      'jira-1',
      'a/b',
      'a-b',
      'a',
      'con',
      '../a',
      '__proto__',
      ' ',
      long,
      `${long}y`,
    ];
    for (const key of all) await write(key);
    expect(await keys()).toEqual(all);
    for (const key of all) {
      const { entries } = (await call('memory_read', { category: 'patterns', key })).body;
      expect(entries).toMatchObject([{ key, value: `v ${key}` }]);
    }
  });
});

describe('deleting', () => {
  test.each([undefined, false, null, 'true', 1])('is refused with confirm %j', async (confirm) => {
    await write('k');
    const { body } = await call('memory_delete', { category: 'patterns', key: 'k', confirm });
    expect(body).toMatchObject({ error: 'confirmation_required', requires_confirmation: true });
    expect(await keys()).toEqual(['k']);
  });

  test('takes the one entry away, and fails for one that is not there', async () => {
    await write('k');
    await write('k', { category: 'corrections' });
    const deletion = { category: 'patterns', key: 'k', confirm: true };
    expect((await call('memory_delete', deletion)).body).toEqual({
      success: true,
      deleted: { category: 'patterns', key: 'k' },
    });
    expect(await keys('corrections')).toEqual(['k']);
    expect(await call('memory_delete', deletion)).toMatchObject({
      body: { success: false, error: 'not_found' },
      isError: true,
    });
    const unconfirmed = { category: 'patterns', key: 'k' };
    expect((await call('memory_delete', unconfirmed)).body).toMatchObject({ error: 'not_found' });
  });
});
