import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { categories } from '../../src/toolsets/knowledge/entry.ts';
import fc from '../support/fc.ts';
import { agreesWithModel, type Call, command } from './call.ts';

const key = fc.oneof(
  fc.constantFrom(
    'a',
    'A',
    'a/b',
    '../x',
    'con',
    'JIRA-1',
    'jira-1',
    '__proto__',
    ' ',
    '.',
    'é',
    '🔑',
  ),
  fc.string({ minLength: 1, unit: 'binary' }),
);
const category = fc.constantFrom(...categories);
export const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '',
    '---\n',
    '---\nkey: x\n---\n',
    '\r\nline\rline\n',
    '\ufeffbom',
    'no',
    '1e3',
    '- x',
  ),
);
/** As it would come over the wire: plain objects, and no -0. */
export const json = fc
  .dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)));
interface Place {
  readonly category: string;
  readonly key: string;
}

interface Entry extends Place {
  readonly value: string;
  readonly reason?: string;
  readonly context?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The memory as a plain map: what the tools answer has to follow from it. */
class Model {
  readonly #entries = new Map<string, Entry>();

  of(wanted: readonly string[], key?: string): Entry[] {
    return wanted.flatMap((name) =>
      [...this.#entries.values()].filter(
        (entry) => entry.category === name && (key === undefined || entry.key === key),
      ),
    );
  }
  get({ category, key }: Place): Entry | undefined {
    return this.#entries.get(`${category}/${key}`);
  }
  set(entry: Entry): void {
    this.#entries.set(`${entry.category}/${entry.key}`, entry);
  }
  delete({ category, key }: Place): void {
    this.#entries.delete(`${category}/${key}`);
  }
  /** Beyond the newest `kept` of each category but the last, which is never pruned. */
  beyond(kept: number): Entry[] {
    return categories.slice(0, -1).flatMap((name) => {
      const own = this.of([name]);
      const newest = own.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, kept);
      return own.filter((entry) => !newest.includes(entry));
    });
  }
}

/** What an answer calls an entry. */
function entryOf(value: unknown): Entry {
  return value as Entry;
}

const refusal = {
  success: false,
  error: 'confirmation_required',
  requires_confirmation: true,
  message: expect.any(String),
};

function chosen(category: string | undefined): readonly string[] {
  return category === undefined ? categories : [category];
}

const place = fc.record({ category, key });

const commands = [
  command(
    'memory_write',
    fc.record(
      {
        category,
        key,
        value: text,
        reason: text,
        context: text,
        metadata: json,
        confirm: fc.boolean(),
      },
      { requiredKeys: ['category', 'key', 'value'] },
    ),
    (model: Model, { confirm, ...given }, body) => {
      if (given.category === 'decisions' && confirm !== true) {
        return expect(body).toEqual(refusal);
      }
      const old = model.get(given);
      expect(body.action).toBe(old === undefined ? 'created' : 'updated');
      const { created_at, updated_at, ...written } = entryOf(body.entry);
      expect(written).toEqual(given);
      if (old !== undefined) expect(created_at).toBe(old.created_at);
      model.set({ ...written, created_at, updated_at });
    },
  ),
  command(
    'memory_read',
    fc.record({ category, key }, { requiredKeys: [] }),
    (model: Model, args, body) => {
      const entries = model.of(chosen(args.category), args.key);
      expect(body).toEqual({ success: true, entries });
    },
  ),
  command(
    'memory_list',
    fc.record({ category, include_timestamps: fc.boolean() }, { requiredKeys: [] }),
    (model: Model, args, body) => {
      const summary = chosen(args.category).map((name) => {
        const own = model.of([name]);
        const times = own.map(({ key, created_at, updated_at }) => [
          key,
          { created_at, updated_at },
        ]);
        const keys = own.map(({ key }) => key);
        const timestamps = args.include_timestamps && { timestamps: Object.fromEntries(times) };
        return [name, { count: keys.length, keys, ...timestamps }];
      });
      expect(body).toEqual({ success: true, categories: Object.fromEntries(summary) });
    },
  ),
  command(
    'memory_delete',
    fc.tuple(place, fc.boolean()).map(([where, confirm]) => ({ ...where, confirm })),
    (model: Model, { confirm, ...where }, body) => {
      if (model.get(where) === undefined) return expect(body).toMatchObject({ error: 'not_found' });
      if (!confirm) return expect(body).toEqual(refusal);
      expect(body).toEqual({ success: true, deleted: where });
      model.delete(where);
    },
  ),
  command(
    'memory_prune',
    fc.record(
      { max_entries: fc.nat(3), dry_run: fc.boolean(), confirm: fc.boolean() },
      { requiredKeys: ['max_entries'] },
    ),
    (model: Model, { max_entries, dry_run, confirm }, body) => {
      if (dry_run === false && confirm !== true) return expect(body).toEqual(refusal);
      const gone = model.beyond(max_entries);
      const items = gone.map(({ category, key }) => ({ category, key, age_days: 0 }));
      const done = dry_run === false ? { deleted: items } : { would_delete: items };
      expect(body).toEqual({
        success: true,
        dry_run: dry_run ?? true,
        ...done,
        total: items.length,
      });
      if (dry_run === false) for (const entry of gone) model.delete(entry);
    },
  ),
  command(
    'memory_search',
    fc.record({ query: key, fuzzy: fc.constant(false), limit: fc.constant(1000) }),
    (model: Model, { query }, body) => {
      if (query.trim() === '') return expect(body).toMatchObject({ error: 'invalid_input' });
      const results = Array.isArray(body.results) ? body.results.map(entryOf) : [];
      for (const found of results) expect(model.get(found)?.value).toBe(found.value);
      // A needle of ASCII only: how other letters fold is the engine's own matter.
      if (!/^[\x21-\x7e]+$/.test(query)) return;
      const holding = model
        .of(categories)
        .filter(({ key, value, reason = '', context = '' }) =>
          [key, value, reason, context].some((part) =>
            part.toLowerCase().includes(query.toLowerCase()),
          ),
        );
      for (const entry of holding) {
        expect(results.map(({ category, key }) => `${category}/${key}`)).toContain(
          `${entry.category}/${entry.key}`,
        );
      }
    },
  ),
];

/**
 * What holds for the knowledge toolset wherever it runs.
 *
 * @param open begins a session with a new, empty memory.
 */
export function knowledgeSuite(name: string, open: () => Promise<Call>, runs: number): void {
  describe(`knowledge on ${name}`, () => {
    test('the examples of the seed', async () => {
      const call = await open();
      const learning = {
        category: 'project-learnings',
        key: 'api-pattern',
        value: 'This project uses REST with JSON:API spec',
        reason: 'Discovered while implementing user endpoint',
      };
      const decision = {
        category: 'decisions',
        key: 'database-choice',
        value: 'PostgreSQL with Prisma ORM',
        reason: 'Better type safety and migration support',
      };
      const times = { created_at: expect.any(String), updated_at: expect.any(String) };
      expect((await call('memory_read')).body).toEqual({ success: true, entries: [] });
      expect((await call('memory_write', learning)).body).toEqual({
        success: true,
        action: 'created',
        entry: { ...learning, ...times },
      });
      expect((await call('memory_write', decision)).body).toEqual(refusal);
      expect((await call('memory_write', { ...decision, confirm: true })).body).toEqual({
        success: true,
        action: 'created',
        entry: { ...decision, ...times },
      });
      expect((await call('memory_read')).body).toEqual({
        success: true,
        entries: [
          { ...learning, ...times },
          { ...decision, ...times },
        ],
      });
      const place = { category: 'decisions', key: 'database-choice' };
      expect((await call('memory_read', place)).body).toEqual({
        success: true,
        entries: [{ ...decision, ...times }],
      });
      expect((await call('memory_search', { query: 'PostgreSQL', fuzzy: false })).body).toEqual({
        success: true,
        results: [
          {
            category: 'decisions',
            key: 'database-choice',
            value: 'PostgreSQL with Prisma ORM',
            score: expect.any(Number),
            matches: ['PostgreSQL'],
          },
        ],
      });
      expect(
        (await call('memory_search', { query: 'PostgreSQL', categories: ['patterns'] })).body,
      ).toEqual({ success: true, results: [] });
      expect((await call('memory_list', { category: 'decisions' })).body).toEqual({
        success: true,
        categories: { decisions: { count: 1, keys: ['database-choice'] } },
      });
      expect((await call('memory_delete', place)).body).toEqual(refusal);
      const deletion = { ...place, confirm: true };
      expect((await call('memory_delete', deletion)).body).toEqual({
        success: true,
        deleted: place,
      });
      expect((await call('memory_delete', deletion)).body).toMatchObject({
        success: false,
        error: 'not_found',
      });
      expect((await call('memory_prune', { max_entries: 0 })).body).toEqual({
        success: true,
        dry_run: true,
        would_delete: [{ category: 'project-learnings', key: 'api-pattern', age_days: 0 }],
        total: 1,
      });
    });

    test('random calls agree with a plain map', async () => {
      const setup = async () => ({ model: new Model(), real: await open() });
      await agreesWithModel<Model>(commands, runs, setup, async (model, call) => {
        const { body } = await call('memory_read', { limit: 1000 });
        expect(body.entries).toEqual(model.of(categories));
      });
    });
  });
}
