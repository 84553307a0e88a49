import { expect, test } from 'vitest';
import { type Answer, Planner } from './planner.ts';

test('requirements carry the id of their feature and keep the order of their creation', async () => {
  const plan = new Planner();
  const [auth] = await plan.features('auth', 'auth/oauth');
  await plan.do('create_requirements', {
    feature_slug: 'auth/oauth',
    requirements: [{ text: 'Of the part' }],
  });
  const texts = ['Z first', 'A second', 'M third'];
  const { requirements } = await plan.do('create_requirements', {
    feature_slug: 'auth',
    requirements: texts.map((text) => ({ text, notes: ['N1', 'N2'] })),
  });
  expect(plan.subjects.at(-1)).toBe('create 3 requirements of feature "auth"');
  expect(requirements[0]).toEqual({
    id: expect.stringMatching(/^[\w-]{12}$/),
    feature_id: auth.id,
    text: 'Z first',
    notes: ['N1', 'N2'],
    created_at: expect.any(String),
    updated_at: requirements[0].created_at,
  });
  const listed = await plan.do('list_requirements', { feature_slug: 'auth' });
  expect(listed).toEqual({ requirements });
  expect(listed.requirements.map(({ text }: Answer) => text)).toEqual(texts);
});

test('one requirement is got, changed and removed by its id', async () => {
  const plan = new Planner();
  const [auth] = await plan.features('auth');
  const { requirements } = await plan.do('create_requirements', {
    feature_slug: 'auth',
    requirements: [{ text: 'Sign in' }],
  });
  expect(plan.subjects.at(-1)).toBe('create requirement "Sign in" of feature "auth"');
  const [{ id }] = requirements;
  expect(await plan.do('get_requirement', { id })).toEqual({ requirement: requirements[0] });
  const [file] = [...plan.files.keys()].filter((path) => path.startsWith('graph/requirements/'));
  const changes = { text: 'Sign out', notes: ['later'] };
  expect(await plan.do('update_requirement', { id, ...changes })).toMatchObject({
    requirement: { ...changes, feature_id: auth.id },
  });
  expect(plan.subjects.at(-1)).toBe('update text, notes of requirement "Sign out"');
  expect(plan.files.get(file ?? '')).toContain('text: Sign out');
  expect(await plan.do('delete_requirement', { id })).toEqual({ deleted: true });
  const gone = { type: 'not_found', message: `Requirement '${id}' not found` };
  expect(await plan.fail('get_requirement', { id })).toEqual(gone);
  expect(await plan.fail('update_requirement', { id })).toEqual(gone);
  expect(await plan.fail('delete_requirement', { id })).toEqual(gone);
});

test('a feature that does not exist has no requirements', async () => {
  const plan = new Planner();
  const gone = { type: 'not_found', message: "Feature 'nope' not found" };
  expect(await plan.fail('list_requirements', { feature_slug: 'nope' })).toEqual(gone);
  const requirements = [{ text: 'Sign in' }];
  const create = { feature_slug: 'nope', requirements };
  expect(await plan.fail('create_requirements', create)).toEqual(gone);
});

test('one that is too large as a whole is named, and none is written', async () => {
  const plan = new Planner();
  await plan.features('auth');
  const notes = Array.from({ length: 100 }, () => 'é'.repeat(10_000));
  const requirements = [{ text: 'Sign in' }, { text: 'Sign out', notes }];
  const message = 'requirements[1]: The record has more than 1048576 bytes of YAML.';
  const refused = { type: 'validation_error', message: expect.stringContaining(message) };
  expect(await plan.fail('create_requirements', { feature_slug: 'auth', requirements })).toEqual(
    refused,
  );
});
