import { expect } from 'vitest';
import { isObject, type JsonObject } from '../../../src/core/values/json.ts';
import { GraphModel, type Table } from './model.ts';
import type { Step } from './steps.ts';

/** The system under test for a random sequence; it begins empty, on `main`. */
export interface World {
  call(tool: string, args: JsonObject): Promise<{ body: JsonObject; isError: boolean }>;
  /** Restarts the process, if there is one, on the same files. */
  restart(): Promise<void>;
  /** Checks out a branch; a new one begins at the current state. */
  checkout(branch: string): Promise<void>;
}

/** The calls that read all records. */
const everything = ['list_features', 'list_paths', 'list_objectives', 'list_tickets'];

/** Runs the steps in a world and in the model, and compares each answer. */
export async function follow(world: World, steps: readonly Step[]): Promise<void> {
  const branches = new Map([['main', new GraphModel()]]);
  let branch = 'main';
  let model = branches.get(branch) ?? new GraphModel();

  const compare = async (tool: string, args: JsonObject, bad = false) => {
    const { body, isError } = await world.call(tool, args);
    const expected = bad ? { error: 'validation_error' } : model.call(tool, args, body.data);
    const label = `${tool} ${JSON.stringify(args)}`;
    if ('data' in expected) {
      expect(body, label).toEqual({ success: true, data: expected.data });
    } else {
      expect(body, label).toMatchObject({ success: false, error: { type: expected.error } });
    }
    expect(isError).toBe(!('data' in expected));
  };

  for (const step of steps) {
    if (step.kind === 'restart') await world.restart();
    else if (step.kind === 'checkout') {
      await world.checkout(step.branch);
      branches.set(branch, model);
      branch = step.branch;
      model = branches.get(branch) ?? model.clone();
    } else {
      await compare(step.tool, resolve(model, step.args), step.bad);
    }
  }
  for (const tool of everything) await compare(tool, {});
  for (const { slug } of model.rows.features) await compare('get_feature_context', { slug });
  for (const { slug } of model.rows.objectives) await compare('get_objective_context', { slug });
  checkIdentity(model);
}

/** Ids have the seed's form and are unique; times are ISO 8601 in UTC. */
function checkIdentity({ rows }: GraphModel): void {
  const all = Object.values(rows)
    .flat()
    .filter(({ id }) => id !== undefined);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  for (const { id, created_at, updated_at } of all) {
    expect(id).toMatch(/^[\w-]{12}$/);
    expect(new Date(created_at).toISOString()).toBe(created_at);
    expect(new Date(updated_at).toISOString()).toBe(updated_at);
  }
}

/** Replaces references in arguments by ids; some references are invalid. */
function resolve(model: GraphModel, value: object): JsonObject {
  const replace = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(replace);
    if (!isObject(inner)) return inner;
    const { table, column, nth } = inner;
    if (typeof column === 'string' && typeof nth === 'number') {
      const rows = model.rows[table as Table];
      const row = nth === 0 ? undefined : rows[nth % rows.length];
      return row?.[column] ?? (column === 'id' ? 'AAAAAAAAAAAA' : 'none');
    }
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, replace(item)]));
  };
  return replace(value) as JsonObject;
}
