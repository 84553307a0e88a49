import { expect, test } from 'vitest';
import { type Answer, Planner } from './planner.ts';

/** The tasks of the objective as `text@order`. */
async function orders(plan: Planner, args: object = {}): Promise<string> {
  const { tasks } = await plan.do('list_tasks', { objective_slug: 'ship', ...args });
  return tasks.map(({ text, order }: Answer) => `${text}@${order}`).join(' ');
}

test('create_tasks adds to the end; a gap that a deletion leaves stays', async () => {
  const plan = new Planner();
  const { objective } = await plan.do('create_objective', { slug: 'ship', name: 'Ship' });
  const { tasks } = await plan.do('create_tasks', {
    objective_slug: 'ship',
    tasks: [{ text: 'a' }, { text: 'b', status: 'completed' }, { text: 'c' }],
  });
  expect(tasks[0]).toEqual({
    id: expect.stringMatching(/^[\w-]{12}$/),
    objective_id: objective.id,
    text: 'a',
    status: 'pending',
    order: 0,
    created_at: expect.any(String),
    updated_at: tasks[0].created_at,
  });
  expect(plan.context.store.commits.at(-1)).toMatchObject({
    subject: 'create 3 tasks of objective "ship"',
    reason: '- a\n- b\n- c',
  });
  expect(await plan.do('delete_task', { id: tasks[1].id })).toEqual({ deleted: true });
  await plan.do('create_tasks', { objective_slug: 'ship', tasks: [{ text: 'd' }] });
  expect(await orders(plan)).toBe('a@0 c@2 d@3');
  expect(await orders(plan, { status: 'completed' })).toBe('');
});

test('one task is got, changed and removed by its id', async () => {
  const plan = new Planner();
  const [id] = await plan.objective('ship', 'Write it');
  const { task } = await plan.do('get_task', { id });
  const done = { id, status: 'completed' };
  const updated = await plan.do('update_task', done);
  expect(updated).toEqual({ task: { ...task, ...done, updated_at: updated.task.updated_at } });
  expect(plan.subjects.at(-1)).toBe('update status of task "Write it"');
  await plan.do('update_task', done);
  await plan.do('update_task', { id });
  expect(plan.subjects).toHaveLength(3);
  await plan.do('delete_task', { id });
  const gone = { type: 'not_found', message: `Task '${id}' not found` };
  for (const tool of ['get_task', 'update_task', 'delete_task']) {
    expect(await plan.fail(tool, { id })).toEqual(gone);
  }
});

test('reorder_tasks puts the listed first, and numbers all of them from 0', async () => {
  const plan = new Planner();
  const [a, b, c, d] = await plan.objective('ship', 'a', 'b', 'c', 'd');
  await plan.do('delete_task', { id: b });
  const before = await plan.do('get_task', { id: a });
  const { tasks } = await plan.do('reorder_tasks', { objective_slug: 'ship', task_ids: [d] });
  expect(tasks.map(({ text, order }: Answer) => `${text}@${order}`)).toEqual(['d@0', 'a@1', 'c@2']);
  expect(await orders(plan)).toBe('d@0 a@1 c@2');
  const { task } = await plan.do('get_task', { id: a });
  expect(task.updated_at > before.task.updated_at).toBe(true);
  expect(plan.context.store.commits.at(-1)?.paths).toHaveLength(2);

  const commits = plan.subjects.length;
  await plan.do('reorder_tasks', { objective_slug: 'ship', task_ids: [d, a, c] });
  expect(plan.subjects).toHaveLength(commits);
});

test('reorder_tasks refuses a list with an id twice or of another objective', async () => {
  const plan = new Planner();
  const [a, b] = await plan.objective('ship', 'a', 'b');
  const [other] = await plan.objective('ship/later', 'x');
  const reorder = (...task_ids: unknown[]) =>
    plan.fail('reorder_tasks', { objective_slug: 'ship', task_ids });
  expect(await reorder(b, a, b)).toEqual({
    type: 'validation_error',
    message: `task_ids[2]: task '${b}' is in this list twice`,
  });
  for (const id of [other, 'AAAAAAAAAAAA']) {
    expect(await reorder(b, id)).toEqual({
      type: 'validation_error',
      message: `task_ids[1]: there is no task '${id}' in objective 'ship'`,
    });
  }
});

test('an objective that does not exist has no tasks', async () => {
  const plan = new Planner();
  const objective_slug = 'nope';
  const gone = { type: 'not_found', message: "Objective 'nope' not found" };
  expect(await plan.fail('list_tasks', { objective_slug })).toEqual(gone);
  expect(await plan.fail('create_tasks', { objective_slug, tasks: [{ text: 'x' }] })).toEqual(gone);
  const task_ids = ['AAAAAAAAAAAA'];
  expect(await plan.fail('reorder_tasks', { objective_slug, task_ids })).toEqual(gone);
});

test('tasks that two branches added with the same order are listed by age, and come apart with the next one', async () => {
  const plan = new Planner();
  await plan.objective('ship', 'a', 'b', 'c', 'd');
  for (const [path, text] of plan.files) {
    if (path.startsWith('graph/tasks/')) plan.files.set(path, text.replace('order: 2', 'order: 1'));
  }
  expect(await orders(plan)).toBe('a@0 b@1 c@1 d@3');
  await plan.do('create_tasks', { objective_slug: 'ship', tasks: [{ text: 'e' }] });
  expect(await orders(plan)).toBe('a@0 b@1 c@2 d@3 e@4');
});

test('a task whose objective another branch deleted is still readable', async () => {
  const plan = new Planner();
  const [id] = await plan.objective('ship', 'a');
  plan.files.delete('graph/objectives/ship.yaml');
  expect(await plan.do('get_task', { id })).toMatchObject({ task: { id, objective_id: null } });
  expect(await plan.do('delete_task', { id })).toEqual({ deleted: true });
});
