import { expect } from 'vitest';
import type { JsonObject } from '../../../src/core/values/json.ts';
import { knowledge } from '../../../src/toolsets/knowledge/toolset.ts';
import { callsOf } from '../../suites/call.ts';
import { TestContext } from '../../support/context.ts';

/** A new, empty memory, and the shortest ways to fill it and to look into it. */
export function open() {
  const context = new TestContext(knowledge);
  const call = callsOf(knowledge, context);
  return {
    context,
    call,
    /** Writes an entry, of category patterns unless told otherwise, and gives it as it was answered. */
    async write(key: string, rest: JsonObject = {}): Promise<JsonObject> {
      const entry = { category: 'patterns', key, value: `v ${key}`, ...rest };
      const { body } = await call('memory_write', entry);
      expect(body.success).toBe(true);
      return Object(body.entry);
    },
    /** The keys of a category as they are listed. */
    async keys(category = 'patterns'): Promise<unknown> {
      const { categories } = (await call('memory_list', { category })).body;
      return Object(categories)[category].keys;
    },
  };
}

/** An object with so many more below it, one in the other. */
export function deep(levels: number): JsonObject {
  return levels === 0 ? {} : { a: deep(levels - 1) };
}
