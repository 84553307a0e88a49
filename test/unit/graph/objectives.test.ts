import { expect, test } from 'vitest';
import { deep } from '../../support/depth.ts';
import { type Answer, Planner } from './planner.ts';

test('create_objective answers with every field, and its slug is its own namespace', async () => {
  const plan = new Planner();
  await plan.features('ship');
  const { objective } = await plan.do('create_objective', { slug: 'ship', name: 'Ship' });
  expect(objective).toEqual({
    id: expect.stringMatching(/^[\w-]{12}$/),
    slug: 'ship',
    name: 'Ship',
    description: null,
    status: 'pending',
    plan_file_path: null,
    created_at: expect.any(String),
    updated_at: objective.created_at,
  });
  expect(await plan.do('get_objective', { slug: 'ship' })).toEqual({ objective });
  const full = {
    slug: 'ship/later',
    name: 'Later',
    description: '',
    status: 'in_progress',
    plan_file_path: 'docs/plan.md',
  };
  expect(await plan.do('create_objective', full)).toMatchObject({ objective: full });
  expect(await plan.fail('create_objective', full)).toEqual({
    type: 'constraint_violation',
    message: "slug: Objective 'ship/later' already exists",
  });
});

test('list_objectives has the newest first, and filters by status', async () => {
  const plan = new Planner();
  for (const slug of ['b', 'c', 'a']) await plan.objective(slug);
  await plan.do('update_objective', { slug: 'c', status: 'completed' });
  const list = async (args: object) => {
    const { objectives } = await plan.do('list_objectives', args);
    return objectives.map(({ slug }: Answer) => slug).join('');
  };
  expect(await list({})).toBe('acb');
  expect(await list({ status: 'pending' })).toBe('ab');
  expect(await list({ status: 'in_progress' })).toBe('');
});

test('update_objective may complete it with open tasks, and changes no other record', async () => {
  const plan = new Planner();
  await plan.objective('ship', 'Do it');
  const changes = { status: 'completed', name: 'Shipped', plan_file_path: 'p', description: 'd' };
  expect(await plan.do('update_objective', { slug: 'ship', ...changes })).toMatchObject({
    objective: changes,
  });
  expect(plan.context.notes).toEqual([
    expect.stringMatching(/^The objective is completed, but .* open: "Do it" \([\w-]{12}\)\.$/),
  ]);
  expect(plan.context.store.commits.at(-1)?.paths).toEqual(['graph/objectives/ship.yaml']);
  const { tasks } = await plan.do('list_tasks', { objective_slug: 'ship' });
  expect(tasks).toMatchObject([{ status: 'pending' }]);
  const gone = { type: 'not_found', message: "Objective 'nope' not found" };
  expect(await plan.fail('update_objective', { slug: 'nope' })).toEqual(gone);
  expect(await plan.fail('get_objective', { slug: 'nope' })).toEqual(gone);
});

test('delete_objective takes its tasks and links along, and nothing below or beside it', async () => {
  const plan = new Planner();
  await plan.features('auth');
  await plan.do('create_tickets', { tickets: [{ key: 'A-1' }] });
  const [done] = await plan.objective('ship', 'One', 'Two');
  const [kept] = await plan.objective('ship/later', 'Three');
  await plan.do('link_objective_to_features', { objective_slug: 'ship', feature_slugs: ['auth'] });
  await plan.do('link_objective_to_tickets', { objective_slug: 'ship', ticket_keys: ['A-1'] });
  expect(await plan.do('delete_objective', { slug: 'ship' })).toEqual({ deleted: true });
  expect(plan.context.store.commits.at(-1)).toMatchObject({
    subject: 'delete objective "ship" with 2 tasks and 2 links',
    reason: [
      '- task "One"',
      '- task "Two"',
      '- link to feature "auth"',
      '- link to ticket "A-1"',
    ].join('\n'),
  });
  expect(await plan.fail('get_task', { id: done })).toMatchObject({ type: 'not_found' });
  expect(await plan.do('get_task', { id: kept })).toMatchObject({ task: { text: 'Three' } });
  await plan.do('get_feature', { slug: 'auth' });
  await plan.do('get_ticket', { key: 'A-1' });
});

deep('a message lists no more than a person reads', async () => {
  const plan = new Planner();
  await plan.objective('ship', ...Array.from({ length: 150 }, (_, i) => `${i} ${'x'.repeat(300)}`));
  await plan.do('delete_objective', { slug: 'ship' });
  const { subject, reason } = plan.context.store.commits.at(-1) ?? {};
  expect(subject).toBe('delete objective "ship" with 150 tasks');
  const lines = reason?.split('\n') ?? [];
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toBe('- … 50 more');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(210);
});

test.each([
  ['feature', 'features', 'feature_slugs', ['auth', 'ui']],
  ['ticket', 'tickets', 'ticket_keys', ['A-1', 'B-2']],
])(
  'an objective is linked to each %s once, or to none of them',
  async (noun, plural, key, known) => {
    const plan = new Planner();
    await plan.features('auth', 'ui');
    await plan.do('create_tickets', { tickets: [{ key: 'B-2' }, { key: 'A-1' }] });
    await plan.objective('ship');
    const before = await plan.do('get_objective', { slug: 'ship' });
    const tool = `link_objective_to_${plural}`;
    const [first = '', second = ''] = known;
    const link = (...targets: string[]) => ({ objective_slug: 'ship', [key]: targets });

    expect(await plan.fail(tool, link(first, 'nope'))).toEqual({
      type: 'not_found',
      message: `${noun === 'feature' ? 'Feature' : 'Ticket'} 'nope' not found`,
    });
    expect(await plan.do(tool, link(second, first, second))).toEqual({ linked: 3 });
    const commits = plan.subjects.length;
    expect(await plan.do(tool, link(first))).toEqual({ linked: 1 });
    expect(plan.subjects).toHaveLength(commits);
    expect(await plan.do('get_objective', { slug: 'ship' })).toEqual(before);
    const context = await plan.do('get_objective_context', { slug: 'ship' });
    expect(context[plural].map((value: Answer) => value.slug ?? value.key)).toEqual(known);

    const one = { objective_slug: 'ship', [key.slice(0, -1)]: first };
    expect(await plan.do(`unlink_objective_from_${noun}`, one)).toEqual({ unlinked: true });
    expect(await plan.fail(`unlink_objective_from_${noun}`, one)).toEqual({
      type: 'not_found',
      message: `Link between objective 'ship' and ${noun} '${first}' not found`,
    });
    const elsewhere = { ...one, objective_slug: 'nope' };
    expect(await plan.fail(`unlink_objective_from_${noun}`, elsewhere)).toEqual({
      type: 'not_found',
      message: "Objective 'nope' not found",
    });
  },
);
