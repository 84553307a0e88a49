import { expect, test } from 'vitest';
import { z } from 'zod';
import { isObject } from '../../../src/core/values/json.ts';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { Planner } from './planner.ts';

const id = 'AAAAAAAAAAAA';
const slug = 'auth';
const texts = ['x'];

/** Arguments for every tool, with every argument that it takes. */
const complete: Record<string, object> = {
  create_features: { features: [{ slug, name: 'x', description: 'x' }] },
  get_feature: { slug },
  list_features: { parent_slug: slug, offset: 0 },
  update_feature: { slug, name: 'x', description: 'x' },
  delete_feature: { slug },
  create_paths: { paths: [{ path: 'x', type: 'file', description: 'x', use_when: texts }] },
  get_path: { id, path: 'x' },
  list_paths: { feature_slug: slug, type: 'file', offset: 0 },
  update_path: { id, description: 'x', use_when: texts },
  delete_path: { id },
  link_paths_to_feature: { feature_slug: slug, path_ids: [id] },
  unlink_path_from_feature: { feature_slug: slug, path_id: id },
  create_requirements: { feature_slug: slug, requirements: [{ text: 'x', notes: texts }] },
  get_requirement: { id },
  list_requirements: { feature_slug: slug, offset: 0 },
  update_requirement: { id, text: 'x', notes: texts },
  delete_requirement: { id },
  create_objective: {
    slug,
    name: 'x',
    description: 'x',
    status: 'pending',
    plan_file_path: 'x',
  },
  get_objective: { slug },
  list_objectives: { status: 'pending', offset: 0 },
  update_objective: { slug, name: 'x', description: 'x', status: 'pending', plan_file_path: 'x' },
  delete_objective: { slug },
  link_objective_to_features: { objective_slug: slug, feature_slugs: [slug] },
  unlink_objective_from_feature: { objective_slug: slug, feature_slug: slug },
  link_objective_to_tickets: { objective_slug: slug, ticket_keys: ['A-1'] },
  unlink_objective_from_ticket: { objective_slug: slug, ticket_key: 'A-1' },
  create_tasks: { objective_slug: slug, tasks: [{ text: 'x', status: 'pending' }] },
  get_task: { id },
  list_tasks: { objective_slug: slug, status: 'pending', offset: 0 },
  update_task: { id, text: 'x', status: 'pending' },
  delete_task: { id },
  reorder_tasks: { objective_slug: slug, task_ids: [id] },
  claim_task: { id, minutes: 5 },
  release_task: { id, force: true },
  create_tickets: { tickets: [{ key: 'A-1', title: 'x', description: 'x' }] },
  get_ticket: { key: 'A-1' },
  list_tickets: { offset: 0 },
  update_ticket: { key: 'A-1', title: 'x', description: 'x' },
  delete_ticket: { key: 'A-1' },
  get_feature_context: { slug },
  get_objective_context: { slug },
  find_relevant_paths: { query: 'x', feature_slugs: [slug], type: 'file' },
  build_context: { objective_slug: slug, feature_slugs: [slug], budget: 1_000 },
};

interface Spoilt {
  readonly args: unknown;
  /** Where the message has to say that something is wrong. */
  readonly at: string;
}

/** Every way in which one of the arguments can break its schema. */
function* spoil(schema: unknown, good: unknown, at = ''): Generator<Spoilt> {
  if (!isObject(schema)) throw new Error(`no schema at ${at}`);
  const { type, pattern, minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  const bad: unknown[] = at === '' ? [] : [null, type === 'object' ? 'text' : { a: 'map' }];
  if (type === 'string') bad.push(7);
  if (pattern === '\\S') bad.push('', ' \t\n');
  else if (pattern !== undefined || schema.enum !== undefined) {
    bad.push('Bad_Slug', 'a/', '', 'a--b');
  }
  if (minLength === 1) bad.push('');
  if (typeof maxLength === 'number') bad.push('x'.repeat(maxLength + 1));
  if (minItems === 1) bad.push([]);
  if (typeof maxItems === 'number' && Array.isArray(good)) {
    bad.push(Array.from({ length: maxItems + 1 }, () => good[0]));
  }
  if (typeof minimum === 'number' && typeof maximum === 'number') {
    bad.push(minimum - 1, maximum + 1, minimum + 0.5, '7');
  }
  for (const args of bad) yield { args, at };

  if (Array.isArray(good)) {
    for (const { args, at: where } of spoil(schema.items, good[0], `${at}[0]`)) {
      yield { args: [args], at: where };
    }
  } else if (isObject(good)) {
    const required: unknown = schema.required;
    for (const [key, value] of Object.entries(good)) {
      const where = at === '' ? key : `${at}.${key}`;
      if (Array.isArray(required) && required.includes(key)) {
        yield { args: { ...good, [key]: undefined }, at: where };
      }
      const inner = isObject(schema.properties) ? schema.properties[key] : undefined;
      for (const spoilt of spoil(inner, value, where)) {
        yield { args: { ...good, [key]: spoilt.args }, at: spoilt.at };
      }
    }
  }
}

test.each(graph.tools.map((tool) => ({ tool, name: tool.name })))(
  '$name refuses every bad argument by name',
  async ({ tool, name }) => {
    const plan = new Planner();
    await plan.features(slug);
    const schema = z.toJSONSchema(tool.input, { io: 'input' });
    expect(Object.keys(complete[name] ?? {})).toEqual(Object.keys(schema.properties ?? {}));
    for (const { args, at } of spoil(schema, complete[name])) {
      const { type, message } = await plan.fail(name, JSON.parse(JSON.stringify(args)));
      const label = `${name} ${JSON.stringify(args)?.slice(0, 200)}`;
      expect({ type, where: message.split(': ')[0] }, label).toEqual({
        type: 'validation_error',
        where: at,
      });
    }
  },
);

test('arguments that are no object are refused, keys that no tool knows are ignored', async () => {
  const plan = new Planner();
  for (const args of [null, [], 'auth', 7]) {
    expect(await plan.fail('list_features', args)).toMatchObject({ type: 'validation_error' });
  }
  expect(await plan.do('list_features', { limit: 10 })).toEqual({ features: [] });
});

test('the messages say which element and why', async () => {
  const plan = new Planner();
  const features = [
    { slug: 'good', name: 'x' },
    { slug: 'Bad_Slug', name: '' },
  ];
  expect(await plan.fail('create_features', { features })).toEqual({
    type: 'validation_error',
    message:
      'features[1].slug: must be lower-case words joined by hyphens, levels by slashes: auth/oauth; ' +
      'features[1].name: must not be empty',
  });
  expect(await plan.fail('create_tasks', { objective_slug: slug, tasks: [] })).toEqual({
    type: 'validation_error',
    message: 'tasks: must not be empty',
  });
  expect(await plan.fail('create_tasks', { objective_slug: slug, tasks: ['a'] })).toEqual({
    type: 'validation_error',
    message:
      'tasks[0]: expected object, received string. ' +
      'The form of tasks is [{text: string, status?: "pending"|"in_progress"|"completed"}, …].',
  });
  expect(await plan.fail('get_task', { id: 'short' })).toEqual({
    type: 'validation_error',
    message: 'id: must be an id of 12 letters, digits, "_" or "-"',
  });
  expect(await plan.fail('list_objectives', { status: 'done' })).toEqual({
    type: 'validation_error',
    message: 'status: must be one of "pending", "in_progress", "completed"',
  });
  expect(await plan.fail('update_feature', { slug, name: null })).toEqual({
    type: 'validation_error',
    message: 'name: must not be null',
  });
});

test.each([
  ['../up', 'must be inside the project; ".." leads out of it'],
  ['a/../../b', 'must be inside the project; ".." leads out of it'],
  ['/../etc', 'must be inside the project; ".." leads out of it'],
  ['./', 'must name a file or directory of the project'],
  ['', 'must name a file or directory of the project'],
  ['a/..', 'must name a file or directory of the project'],
  ['C:\\x', 'must be relative to the project, without a drive letter'],
  ['C:x', 'must be relative to the project, without a drive letter'],
  ['./c:x/y', 'must be relative to the project, without a drive letter'],
  ['/c:/x', 'must be relative to the project, without a drive letter'],
  ['a\0b', 'must not contain a NUL character'],
])('the path %j is refused', async (path, message) => {
  const plan = new Planner();
  const refused = { type: 'validation_error', message: `paths[0].path: ${message}` };
  expect(await plan.fail('create_paths', { paths: [{ path, type: 'file' }] })).toEqual(refused);
  expect(await plan.fail('get_path', { path })).toMatchObject({ type: 'validation_error' });
});
