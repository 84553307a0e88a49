import { findTool } from '../../app/session/toolset-selection.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Store, Transaction } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Catalogue } from './operation.ts';

/**
 * Calls a tool of agents for a person who has seen a state.
 *
 * @param check throws if a transaction no longer has that state; then nothing is changed.
 */
export async function callTool(
  context: Context,
  { toolsets }: Catalogue,
  name: string,
  args: JsonObject,
  check: (transaction: Transaction) => Promise<void> = async () => {},
): Promise<JsonObject> {
  const found = findTool(toolsets, name);
  if (!found) throw new MemoryError('unsupported', `This server does not have the tool ${name}.`);
  const change: Store['change'] = (why, work) =>
    context.store.change(why, async (transaction) => {
      await check(transaction);
      return work(transaction);
    });
  const store = replacing(context.store, { change });
  return found.tool.call(replacing(context, { store }), args);
}

/** An object that has some members of another one; a copy would lose its private state. */
function replacing<T extends object>(target: T, members: Partial<T>): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(members, key)) return Reflect.get(members, key);
      const own: unknown = Reflect.get(target, key, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}
