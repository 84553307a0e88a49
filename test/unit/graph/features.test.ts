import { expect, test } from 'vitest';
import { Planner } from './planner.ts';

test('create_features answers with every field and makes one commit for the batch', async () => {
  const plan = new Planner();
  const { features } = await plan.do('create_features', {
    features: [
      { slug: 'auth', name: 'Auth', description: 'Who you are' },
      { slug: 'ui', name: 'UI' },
    ],
  });
  expect(features).toEqual([
    {
      id: expect.stringMatching(/^[\w-]{12}$/),
      slug: 'auth',
      name: 'Auth',
      description: 'Who you are',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: features[0].created_at,
    },
    expect.objectContaining({ slug: 'ui', description: null }),
  ]);
  expect(plan.context.store.commits).toEqual([
    {
      subject: 'create 2 features',
      reason: '- auth\n- ui',
      paths: ['graph/features/auth.yaml', 'graph/features/ui.yaml'],
    },
  ]);
});

test('a slug that is taken, by a feature or within the batch, is named and nothing is created', async () => {
  const plan = new Planner();
  await plan.features('auth');
  const feature = (slug: string) => ({ slug, name: 'X' });
  expect(
    await plan.fail('create_features', { features: [feature('new'), feature('auth')] }),
  ).toEqual({
    type: 'constraint_violation',
    message: "features[1].slug: Feature 'auth' already exists",
  });
  expect(
    await plan.fail('create_features', { features: [feature('a'), feature('b'), feature('a')] }),
  ).toEqual({
    type: 'constraint_violation',
    message: "features[2].slug: Feature 'a' appears twice in this batch",
  });
});

test('get_feature finds by slug and says what is not there', async () => {
  const plan = new Planner();
  const [auth] = await plan.features('auth');
  expect(await plan.do('get_feature', { slug: 'auth' })).toEqual({ feature: auth });
  expect(await plan.fail('get_feature', { slug: 'unknown-slug' })).toEqual({
    type: 'not_found',
    message: "Feature 'unknown-slug' not found",
  });
});

test('list_features sorts by slug, and a parent means all descendants but not itself', async () => {
  const plan = new Planner();
  await plan.features('authz', 'auth/oauth/google', 'auth', 'auth/oauth', 'a-b/c1');
  const list = async (args: object) => {
    const { features } = await plan.do('list_features', args);
    return features.map(({ slug }: { slug: string }) => slug);
  };
  expect(await list({})).toEqual(['a-b/c1', 'auth', 'auth/oauth', 'auth/oauth/google', 'authz']);
  expect(await list({ parent_slug: 'auth' })).toEqual(['auth/oauth', 'auth/oauth/google']);
  expect(await list({ parent_slug: 'nope' })).toEqual([]);
});

test('update_feature changes what is given; the same again is no commit', async () => {
  const plan = new Planner();
  const [auth] = await plan.features('auth');
  const { feature } = await plan.do('update_feature', { slug: 'auth', description: '' });
  expect(feature).toEqual({ ...auth, description: '', updated_at: feature.updated_at });
  expect(feature.updated_at > auth.updated_at).toBe(true);
  expect(plan.subjects.at(-1)).toBe('update description of feature "auth"');

  await plan.do('update_feature', { slug: 'auth', description: '', name: 'AUTH' });
  expect(await plan.do('update_feature', { slug: 'auth' })).toEqual({ feature });
  expect(plan.subjects).toHaveLength(2);
  expect(await plan.fail('update_feature', { slug: 'nope' })).toMatchObject({ type: 'not_found' });
});

test('delete_feature takes requirements and links along, in one commit that names them', async () => {
  const plan = new Planner();
  await plan.features('auth', 'auth/oauth');
  const path_ids = await plan.paths('src/auth.ts');
  await plan.objective('ship');
  await plan.do('link_paths_to_feature', { feature_slug: 'auth', path_ids });
  await plan.do('link_objective_to_features', {
    objective_slug: 'ship',
    feature_slugs: ['auth', 'auth/oauth'],
  });
  for (const feature_slug of ['auth', 'auth/oauth']) {
    const requirements = [{ text: `First\nof ${feature_slug}` }, { text: 'Second' }];
    await plan.do('create_requirements', { feature_slug, requirements });
  }

  expect(await plan.do('delete_feature', { slug: 'auth' })).toEqual({ deleted: true });
  expect(plan.context.store.commits.at(-1)).toMatchObject({
    subject: 'delete feature "auth" with 2 requirements and 2 links',
    reason: [
      '- requirement "First of auth"',
      '- requirement "Second"',
      '- link to path "src/auth.ts"',
      '- link from objective "ship"',
    ].join('\n'),
  });
  expect([...plan.files.keys()].filter((path) => /auth[/.]/.test(path))).toEqual([
    'graph/features/auth/oauth.yaml',
    'graph/paths/src/auth.ts.yaml',
    expect.stringContaining('graph/requirements/auth/oauth/'),
    expect.stringContaining('graph/requirements/auth/oauth/'),
  ]);
  const { features } = await plan.do('get_objective_context', { slug: 'ship' });
  expect(features).toMatchObject([{ slug: 'auth/oauth' }]);
  expect(await plan.fail('delete_feature', { slug: 'auth' })).toMatchObject({ type: 'not_found' });
});
