import { expect, test } from 'vitest';
import { Planner } from './planner.ts';

test('tickets are known by any key, case matters, and are listed by it', async () => {
  const plan = new Planner();
  const keys = ['jira-1', 'JIRA-1', 'GH#42', 'a/b', '../up', 'con', '__proto__', 'юни-код', ' '];
  await plan.do('create_tickets', { tickets: keys.map((key) => ({ key, title: `T ${key}` })) });
  const { tickets } = await plan.do('list_tickets');
  expect(tickets.map(({ key }: { key: string }) => key)).toEqual([...keys].sort());
  for (const key of keys) {
    expect(await plan.do('get_ticket', { key })).toMatchObject({
      ticket: { key, title: `T ${key}`, description: null },
    });
  }
  const files = [...plan.files.keys()];
  expect(files.every((path) => /^graph\/tickets\/[^/]+\.yaml$/.test(path))).toBe(true);
  expect(new Set(files.map((path) => path.toLowerCase())).size).toBe(keys.length);
});

test('a key that is taken is refused', async () => {
  const plan = new Planner();
  await plan.do('create_tickets', { tickets: [{ key: 'A-1' }] });
  expect(await plan.fail('create_tickets', { tickets: [{ key: 'A-1' }] })).toEqual({
    type: 'constraint_violation',
    message: "tickets[0].key: Ticket 'A-1' already exists",
  });
});

test('update_ticket changes what is given', async () => {
  const plan = new Planner();
  await plan.do('create_tickets', { tickets: [{ key: 'A-1', title: 'Old' }] });
  const update = { key: 'A-1', title: '', description: 'Why' };
  expect(await plan.do('update_ticket', update)).toMatchObject({ ticket: update });
  expect(await plan.do('get_ticket', { key: 'A-1' })).toMatchObject({ ticket: update });
  expect(await plan.fail('update_ticket', { key: 'B-1', title: '' })).toEqual({
    type: 'not_found',
    message: "Ticket 'B-1' not found",
  });
});

test('delete_ticket drops the links of objectives', async () => {
  const plan = new Planner();
  await plan.do('create_tickets', { tickets: [{ key: 'A-1' }, { key: 'A-2' }] });
  await plan.objective('ship');
  const links = { objective_slug: 'ship', ticket_keys: ['A-1', 'A-2'] };
  await plan.do('link_objective_to_tickets', links);
  expect(await plan.do('delete_ticket', { key: 'A-1' })).toEqual({ deleted: true });
  expect(plan.context.store.commits.at(-1)).toMatchObject({
    subject: 'delete ticket "A-1" with 1 link',
    reason: '- link from objective "ship"',
  });
  const { tickets } = await plan.do('get_objective_context', { slug: 'ship' });
  expect(tickets).toMatchObject([{ key: 'A-2' }]);
});
