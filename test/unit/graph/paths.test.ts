import { expect, test } from 'vitest';
import { type Answer, Planner } from './planner.ts';

test('create_paths normalises, and answers with every field', async () => {
  const plan = new Planner();
  const path = {
    path: './src/auth/',
    type: 'directory',
    description: 'Sign-in',
    use_when: ['login bug'],
  };
  const { paths } = await plan.do('create_paths', {
    paths: [path, { path: '/src//./a/../a.ts', type: 'file' }, { path: 'a\\b', type: 'file' }],
  });
  expect(paths).toEqual([
    { ...path, path: 'src/auth', id: paths[0].id, ...times(paths[0]) },
    expect.objectContaining({ path: 'src/a.ts', description: null, use_when: [] }),
    expect.objectContaining({ path: 'a\\b' }),
  ]);
});

test('a colon is no drive letter behind more than a letter, or further in', async () => {
  const plan = new Planner();
  const paths = ['db:seed/x', 'src/a:b'];
  await plan.paths(...paths);
  expect((await plan.do('list_paths')).paths.map(({ path }: Answer) => path)).toEqual(paths);
});

test('a path is unique whatever its type and spelling', async () => {
  const plan = new Planner();
  await plan.paths('src/auth');
  const paths = [{ path: './src/x/../auth/', type: 'directory' }];
  expect(await plan.fail('create_paths', { paths })).toEqual({
    type: 'constraint_violation',
    message: "paths[0].path: Path 'src/auth' already exists",
  });
});

test('the file of a path and the folder of another one never collide', async () => {
  const plan = new Planner();
  const paths = ['a', 'a.yaml', 'a.yaml/b', 'A', 'a/b', 'con/x', 'ü/é'];
  await plan.paths(...paths);
  const { paths: listed } = await plan.do('list_paths');
  expect(listed.map(({ path }: Answer) => path)).toEqual([...paths].sort());
  const files = [...plan.files.keys()].map((path) => path.toLowerCase());
  const folders = files.map((path) => path.slice(0, path.lastIndexOf('/')));
  expect(new Set(files).size).toBe(paths.length);
  expect(files.filter((path) => folders.includes(path))).toEqual([]);
});

test('get_path takes an id or a path in any spelling; the id wins', async () => {
  const plan = new Planner();
  const [id] = await plan.paths('src/a.ts', 'src/b.ts');
  const found = { path: expect.objectContaining({ id, path: 'src/a.ts' }) };
  expect(await plan.do('get_path', { id })).toEqual(found);
  expect(await plan.do('get_path', { path: './src//a.ts' })).toEqual(found);
  expect(await plan.do('get_path', { id, path: 'src/b.ts' })).toEqual(found);
  expect(await plan.fail('get_path', { path: 'src/c.ts' })).toEqual({
    type: 'not_found',
    message: "Path 'src/c.ts' not found",
  });
  expect(await plan.fail('get_path', { id: 'AAAAAAAAAAAA' })).toEqual({
    type: 'not_found',
    message: "Path with id 'AAAAAAAAAAAA' not found",
  });
  expect(await plan.fail('get_path')).toEqual({
    type: 'validation_error',
    message: 'id or path is required',
  });
});

test('list_paths filters by feature and type, by path', async () => {
  const plan = new Planner();
  await plan.features('auth');
  const [b, , a] = await plan.paths('b', 'c', 'a');
  const { paths } = await plan.do('create_paths', { paths: [{ path: 'd', type: 'directory' }] });
  await plan.do('link_paths_to_feature', {
    feature_slug: 'auth',
    path_ids: [b, a, paths[0].id],
  });
  const list = async (args: object) => {
    const found = await plan.do('list_paths', args);
    return found.paths.map(({ path }: Answer) => path).join('');
  };
  expect(await list({})).toBe('abcd');
  expect(await list({ feature_slug: 'auth' })).toBe('abd');
  expect(await list({ type: 'file' })).toBe('abc');
  expect(await list({ feature_slug: 'auth', type: 'directory' })).toBe('d');
  expect(await plan.fail('list_paths', { feature_slug: 'nope' })).toEqual({
    type: 'not_found',
    message: "Feature 'nope' not found",
  });
});

test('update_path changes description and conditions, never the type', async () => {
  const plan = new Planner();
  const [id] = await plan.paths('src/a.ts');
  const { path } = await plan.do('update_path', { id, use_when: ['x', 'y'], type: 'directory' });
  expect(path).toMatchObject({ use_when: ['x', 'y'], type: 'file', description: null });
  expect((await plan.do('update_path', { id, use_when: [] })).path.use_when).toEqual([]);
  const commits = plan.subjects.length;
  const { path: same } = await plan.do('update_path', { id, use_when: [], type: 'directory' });
  expect(await plan.do('get_path', { id })).toEqual({ path: same });
  expect(plan.subjects).toHaveLength(commits);
  const unknown = { id: 'AAAAAAAAAAAA', description: '' };
  expect(await plan.fail('update_path', unknown)).toMatchObject({ type: 'not_found' });
});

test('delete_path drops the links of features', async () => {
  const plan = new Planner();
  await plan.features('auth', 'ui');
  const [a, b] = await plan.paths('a', 'b');
  for (const feature_slug of ['auth', 'ui']) {
    await plan.do('link_paths_to_feature', { feature_slug, path_ids: [a, b] });
  }
  expect(await plan.do('delete_path', { id: a })).toEqual({ deleted: true });
  expect(plan.subjects.at(-1)).toBe('delete path "a" with 2 links');
  expect((await plan.do('list_paths', { feature_slug: 'ui' })).paths).toMatchObject([
    { path: 'b' },
  ]);
  expect(await plan.fail('delete_path', { id: a })).toMatchObject({ type: 'not_found' });
});

test('links are made once, counted as asked for, and leave updated_at', async () => {
  const plan = new Planner();
  const [auth] = await plan.features('auth');
  const [a, b] = await plan.paths('a', 'b');
  const link = (path_ids: unknown[]) =>
    plan.do('link_paths_to_feature', { feature_slug: 'auth', path_ids });
  expect(await link([b, b])).toEqual({ linked: 2 });
  expect(plan.subjects.at(-1)).toBe('link feature "auth" to path "b"');
  expect(await link([a, b])).toEqual({ linked: 2 });
  expect(plan.subjects.at(-1)).toBe('link feature "auth" to 2 paths');
  const commits = plan.subjects.length;
  expect(await link([b, a])).toEqual({ linked: 2 });
  expect(plan.subjects).toHaveLength(commits);
  expect(await plan.do('get_feature', { slug: 'auth' })).toEqual({ feature: auth });
  expect(plan.files.get('graph/features/auth.yaml')).toContain('paths:\n  - a\n  - b\n');
});

test('one unknown id and no link is made', async () => {
  const plan = new Planner();
  await plan.features('auth');
  const [a] = await plan.paths('a');
  const link = { feature_slug: 'auth', path_ids: [a, 'AAAAAAAAAAAA'] };
  expect(await plan.fail('link_paths_to_feature', link)).toEqual({
    type: 'not_found',
    message: "Path with id 'AAAAAAAAAAAA' not found",
  });
  const elsewhere = { feature_slug: 'nope', path_ids: [a] };
  expect(await plan.fail('link_paths_to_feature', elsewhere)).toMatchObject({ type: 'not_found' });
});

test('unlink_path_from_feature removes a link that is there', async () => {
  const plan = new Planner();
  await plan.features('auth');
  const [a] = await plan.paths('a');
  const link = { feature_slug: 'auth', path_id: a };
  await plan.do('link_paths_to_feature', { feature_slug: 'auth', path_ids: [a] });
  expect(await plan.do('unlink_path_from_feature', link)).toEqual({ unlinked: true });
  expect(plan.subjects.at(-1)).toBe('unlink feature "auth" from path "a"');
  expect(plan.files.get('graph/features/auth.yaml')).not.toContain('paths');
  expect(await plan.fail('unlink_path_from_feature', link)).toEqual({
    type: 'not_found',
    message: "Link between feature 'auth' and path 'a' not found",
  });
});

function times({ created_at, updated_at }: Answer): object {
  expect(updated_at).toBe(created_at);
  return { created_at, updated_at };
}
