import { expect, test } from 'vitest';
import { type Answer, Planner } from './planner.ts';

const broken = 'graph/features/ui.yaml';

async function damaged(): Promise<Planner> {
  const plan = new Planner();
  await plan.features('auth', 'ui');
  const path_ids = await plan.paths('a');
  await plan.do('link_paths_to_feature', { feature_slug: 'auth', path_ids });
  await plan.do('create_requirements', { feature_slug: 'ui', requirements: [{ text: 'x' }] });
  await plan.objective('ship', 'One');
  await plan.do('link_objective_to_features', {
    objective_slug: 'ship',
    feature_slugs: ['auth', 'ui'],
  });
  plan.files.set(broken, '<<<<<<< ours\nslug: ui\n');
  return plan;
}

test('one bad file leaves the others readable, and is named', async () => {
  const plan = await damaged();
  const bad = [{ path: broken, message: expect.stringContaining(broken) }];
  expect(await plan.do('list_features')).toMatchObject({
    features: [{ slug: 'auth' }],
    damaged: bad,
  });
  expect(await plan.do('get_objective_context', { slug: 'ship' })).toMatchObject({
    features: [{ slug: 'auth' }],
    damaged: bad,
  });
  expect(await plan.do('build_context', { feature_slugs: ['ui', 'auth'] })).toMatchObject({
    context: expect.stringMatching(/^## Feature: AUTH/),
    damaged: bad,
  });
  expect(await plan.do('list_paths')).not.toHaveProperty('damaged');
  await plan.do('update_feature', { slug: 'auth', name: 'Still there' });
  const [requirement] = [...plan.files.values()].filter((text) => text.includes('feature: ui'));
  const id = /^id: "?([\w-]{12})/m.exec(requirement ?? '')?.[1];
  expect(await plan.do('get_requirement', { id })).toMatchObject({
    requirement: { text: 'x', feature_id: null },
  });
});

test('what needs the bad file is refused by its name', async () => {
  const plan = await damaged();
  const { paths } = await plan.do('list_paths');
  const calls: [string, object][] = [
    ['get_feature', { slug: 'ui' }],
    ['update_feature', { slug: 'ui', name: 'x' }],
    ['delete_feature', { slug: 'ui' }],
    ['create_features', { features: [{ slug: 'ui', name: 'x' }] }],
    ['list_requirements', { feature_slug: 'ui' }],
    ['delete_path', { id: paths[0].id }],
  ];
  for (const [tool, args] of calls) {
    expect(await plan.fail(tool, args)).toEqual({
      type: 'db_error',
      message: expect.stringContaining(broken),
    });
  }
});

test.each([
  ['graph/paths/a.yaml', ['list_paths', {}], ['get_feature_context', { slug: 'auth' }]],
  ['graph/paths/a.yaml', ['find_relevant_paths', { query: 'x' }]],
  ['graph/objectives/later.yaml', ['list_objectives', {}]],
  ['graph/tickets/T.yaml', ['list_tickets', {}]],
  ['graph/tasks/ship/t.yaml', ['list_tasks', { objective_slug: 'ship' }]],
  ['graph/requirements/auth/r.yaml', ['list_requirements', { feature_slug: 'auth' }]],
] as [string, ...[string, object][]][])(
  'a bad %s is named where it is missing',
  async (path, ...calls) => {
    const plan = await damaged();
    plan.files.set(path, 'slug: [');
    for (const [tool, args] of calls) {
      expect(await plan.do(tool, args), tool).toMatchObject({ damaged: [{ path }] });
    }
  },
);

test('a cascade does not pass over a bad file', async () => {
  const plan = await damaged();
  for (const path of plan.files.keys()) {
    if (path.startsWith('graph/tasks/')) plan.files.set(path, 'text: [');
  }
  const refused = { type: 'db_error', message: expect.stringContaining('graph/tasks/ship/') };
  expect(await plan.fail('delete_objective', { slug: 'ship' })).toEqual(refused);
});

test('the order of tasks is not changed around a bad file', async () => {
  const plan = new Planner();
  const task_ids = await plan.objective('ship', 'a', 'b', 'c');
  const objective_slug = 'ship';
  const [path = '', good = ''] =
    [...plan.files].find(([, text]) => text.startsWith('text: b')) ?? [];
  plan.files.set(path, 'text: [');
  const refused = { type: 'db_error', message: expect.stringContaining(path) };
  expect(await plan.fail('create_tasks', { objective_slug, tasks: [{ text: 'd' }] })).toEqual(
    refused,
  );
  for (const ids of [task_ids.slice(2), task_ids.toReversed()]) {
    expect(await plan.fail('reorder_tasks', { objective_slug, task_ids: ids })).toEqual(refused);
  }
  plan.files.set(path, good);
  await plan.do('reorder_tasks', { objective_slug, task_ids: task_ids.slice(2) });
  const { tasks } = await plan.do('list_tasks', { objective_slug });
  const orders = tasks.map(({ text, order }: Answer) => `${text}@${order}`);
  expect(orders).toEqual(['c@0', 'a@1', 'b@2']);
});

test('an objective is completed also if one of its tasks cannot be read', async () => {
  const plan = await damaged();
  const [task = ''] = [...plan.files.keys()].filter((path) => path.startsWith('graph/tasks/'));
  plan.files.set(task, 'not: [a task');
  const args = { slug: 'ship', status: 'completed' };
  expect(await plan.do('update_objective', args)).toMatchObject({ objective: args });
  expect(plan.context.notes).toEqual([
    expect.stringMatching(/^The change is committed, but.*task/),
  ]);
});
