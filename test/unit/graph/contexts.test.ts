import { expect, test } from 'vitest';
import { path } from '../../../src/toolsets/graph/records.ts';
import { type Answer, Planner } from './planner.ts';

async function shop(): Promise<Planner> {
  const plan = new Planner();
  await plan.do('create_features', {
    features: [
      { slug: 'auth', name: 'Auth', description: 'Who you are' },
      { slug: 'ui', name: 'UI' },
      { slug: 'api', name: 'API' },
    ],
  });
  const { paths } = await plan.do('create_paths', {
    paths: [
      { path: 'src/login.ts', type: 'file', description: 'Sign-in form', use_when: ['login bug'] },
      { path: 'src/auth', type: 'directory', use_when: ['new token', 'Session\nexpiry'] },
      { path: 'src/ui.ts', type: 'file', description: 'Layout of the login page' },
    ],
  });
  const link = (feature_slug: string, ...indexes: number[]) => {
    const path_ids = indexes.map((index) => paths[index].id);
    return plan.do('link_paths_to_feature', { feature_slug, path_ids });
  };
  await link('auth', 0, 1);
  await link('ui', 2, 0);
  await plan.do('create_requirements', {
    feature_slug: 'auth',
    requirements: [{ text: 'Sign in', notes: ['by mail'] }, { text: 'Sign out' }],
  });
  return plan;
}

async function found(plan: Planner, args: object): Promise<string[]> {
  const { paths } = await plan.do('find_relevant_paths', args);
  return paths.map(({ path }: Answer) => path);
}

test('get_feature_context has the feature, its paths and its requirements', async () => {
  const plan = await shop();
  const { feature, paths, requirements } = await plan.do('get_feature_context', { slug: 'auth' });
  expect(feature).toEqual((await plan.do('get_feature', { slug: 'auth' })).feature);
  expect(paths).toEqual((await plan.do('list_paths', { feature_slug: 'auth' })).paths);
  expect(paths[0].use_when).toEqual(['new token', 'Session\nexpiry']);
  const listed = await plan.do('list_requirements', { feature_slug: 'auth' });
  expect(requirements).toEqual(listed.requirements);
  expect(await plan.fail('get_feature_context', { slug: 'nope' })).toEqual({
    type: 'not_found',
    message: "Feature 'nope' not found",
  });
});

test('get_objective_context leaves out what a link leads to no more', async () => {
  const plan = await shop();
  await plan.objective('ship', 'One');
  const feature_slugs = ['ui', 'auth'];
  await plan.do('link_objective_to_features', { objective_slug: 'ship', feature_slugs });
  plan.files.delete('graph/features/ui.yaml');
  const context = await plan.do('get_objective_context', { slug: 'ship' });
  expect(Object.keys(context)).toEqual(['objective', 'tasks', 'features', 'tickets']);
  expect(context).toMatchObject({
    objective: { slug: 'ship' },
    tasks: [{ text: 'One', objective_id: context.objective.id }],
    features: [{ slug: 'auth' }],
    tickets: [],
  });
  expect(await plan.fail('get_objective_context', { slug: 'nope' })).toEqual({
    type: 'not_found',
    message: "Objective 'nope' not found",
  });
});

test('find_relevant_paths has the whole query, in any case, in a description or condition; by path', async () => {
  const plan = await shop();
  expect(await found(plan, { query: 'LOGIN' })).toEqual(['src/login.ts', 'src/ui.ts']);
  expect(await found(plan, { query: 'login bug' })).toEqual(['src/login.ts']);
  expect(await found(plan, { query: 'expiry' })).toEqual(['src/auth']);
  expect(await found(plan, { query: 'src' })).toEqual([]);
  expect(await found(plan, { query: '-' })).toEqual(['src/login.ts']);
});

test('find_relevant_paths filters by features and type', async () => {
  const plan = await shop();
  expect(await found(plan, { query: 'login', feature_slugs: ['auth'] })).toEqual(['src/login.ts']);
  expect(await found(plan, { query: 'login', feature_slugs: ['auth', 'ui'] })).toHaveLength(2);
  expect(await found(plan, { query: 'login', feature_slugs: [] })).toHaveLength(2);
  expect(await found(plan, { query: 'login', feature_slugs: ['api'] })).toEqual([]);
  expect(await found(plan, { query: 'o', type: 'directory' })).toEqual(['src/auth']);
  const unknown = { query: 'login', feature_slugs: ['ui', 'nope'] };
  expect(await plan.fail('find_relevant_paths', unknown)).toEqual({
    type: 'not_found',
    message: "Feature 'nope' not found",
  });
});

test('paths that match only words of the query follow, most words first, not by their own text', async () => {
  const plan = await shop();
  const { records } = await plan.context.store.list(path);
  const hit = (key: string, ...matches: string[]) => {
    const record = records.find((candidate) => candidate.key === key);
    if (!record) throw new Error(key);
    const fields = path.search(record.value);
    return { ...record, type: path, fields, score: 0.5, matches, snippet: '' };
  };
  plan.context.store.search = async ({ fields }) => {
    expect(fields).toEqual(['body', 'notes']);
    const hits = [hit('src/ui.ts', 'login'), hit('src/login.ts', 'Login')];
    return { hits, total: hits.length, damaged: [] };
  };
  expect(await found(plan, { query: 'login layout' })).toEqual(['src/login.ts', 'src/ui.ts']);
  expect(await found(plan, { query: 'login bug' })).toEqual(['src/login.ts', 'src/ui.ts']);
  expect(await found(plan, { query: 'login layout', feature_slugs: ['auth'] })).toEqual([
    'src/login.ts',
  ]);
});

test('build_context tells an objective and its features, then the features asked for', async () => {
  const plan = await shop();
  await plan.do('create_objective', {
    slug: 'ship',
    name: 'Ship',
    description: 'Out with it',
    status: 'in_progress',
    plan_file_path: 'docs/plan.md',
  });
  await plan.do('create_tasks', {
    objective_slug: 'ship',
    tasks: [
      { text: 'One\ntwo lines' },
      { text: 'Two', status: 'in_progress' },
      { text: 'Three', status: 'completed' },
    ],
  });
  await plan.do('create_tickets', { tickets: [{ key: 'B-2' }, { key: 'A-1', title: 'First' }] });
  await plan.do('link_objective_to_tickets', {
    objective_slug: 'ship',
    ticket_keys: ['B-2', 'A-1'],
  });
  await plan.do('link_objective_to_features', { objective_slug: 'ship', feature_slugs: ['ui'] });
  const { context } = await plan.do('build_context', {
    objective_slug: 'ship',
    feature_slugs: ['auth', 'nope', 'ui', 'api'],
  });
  expect(context).toBe(`# Objective: Ship
**Slug:** ship
**Status:** in_progress
**Description:** Out with it
**Plan:** docs/plan.md

## Tasks
- [ ] One
  two lines
- [~] Two
- [x] Three

## Tickets
- A-1: First
- B-2

## Feature: UI
**Slug:** ui

### Paths
- \`src/login.ts\` - Sign-in form
  - Use when: login bug
- \`src/ui.ts\` - Layout of the login page

## Feature: Auth
**Slug:** auth
**Description:** Who you are

### Requirements
- Sign in
  - by mail
- Sign out

### Paths
- \`src/auth/\`
  - Use when: new token; Session
    expiry
- \`src/login.ts\` - Sign-in form
  - Use when: login bug

## Feature: API
**Slug:** api`);
});

test('build_context of nothing is empty, of an unknown objective an error', async () => {
  const plan = await shop();
  expect(await plan.do('build_context')).toEqual({ context: '' });
  expect(await plan.do('build_context', { feature_slugs: [] })).toEqual({ context: '' });
  expect(await plan.do('build_context', { feature_slugs: ['nope'] })).toEqual({ context: '' });
  expect(await plan.fail('build_context', { objective_slug: 'nope' })).toEqual({
    type: 'not_found',
    message: "Objective 'nope' not found",
  });
});

test('build_context keeps to its budget and names the calls for the rest', async () => {
  const plan = await shop();
  await plan.objective(
    'ship',
    ...Array.from({ length: 50 }, (_, i) => `Step ${i} ${'x'.repeat(80)}`),
  );
  await plan.do('link_objective_to_features', { objective_slug: 'ship', feature_slugs: ['auth'] });
  const { context } = await plan.do('build_context', { objective_slug: 'ship', budget: 2_000 });
  expect(context.length).toBeLessThanOrEqual(2_000);
  expect(context).toMatch(/Step 0 x+\n/);
  expect(context).toMatch(/^- … \d+ more: `list_tasks \{"objective_slug":"ship"\}`$/m);
  expect(context).toContain('  - Use when: login bug');
  const { context: whole } = await plan.do('build_context', { objective_slug: 'ship' });
  expect(whole).toContain('Step 49');
});
