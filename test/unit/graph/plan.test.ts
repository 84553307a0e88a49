import { expect, test } from 'vitest';
import { type Answer, Planner } from './planner.ts';

test('planning this project leaves files that read like a plan', async () => {
  const plan = new Planner();
  let ids = 0;
  plan.context.shortId = () => `id${String(ids++).padStart(10, '0')}`;

  await plan.do('create_features', {
    features: [
      { slug: 'store', name: 'Store', description: 'Records on files, and one commit a change' },
      { slug: 'store/search', name: 'Search', description: 'Words in any order, ranked' },
      { slug: 'toolsets/graph', name: 'Graph toolset' },
    ],
  });
  const { paths } = await plan.do('create_paths', {
    paths: [
      {
        path: 'src/store/',
        type: 'directory',
        description: 'View, transaction, history, merge and sync',
        use_when: ['a record is not found', 'two branches have to be merged'],
      },
      {
        path: 'src/store/search/index.ts',
        type: 'file',
        description: 'The inverted index: what is known of each word',
        use_when: ['a search misses a record', 'the ranking is wrong: "why is X first?"'],
      },
      { path: 'src/toolsets/graph', type: 'directory', description: 'The 41 tools of seed 000' },
    ],
  });
  const [store, search, graph] = paths.map(({ id }: Answer) => id);
  for (const [feature_slug, path_ids] of [
    ['store', [store]],
    ['store/search', [search, store]],
    ['toolsets/graph', [graph]],
  ]) {
    await plan.do('link_paths_to_feature', { feature_slug, path_ids });
  }
  await plan.do('create_requirements', {
    feature_slug: 'store/search',
    requirements: [
      {
        text: 'One typo in a word still finds the record',
        notes: ['Only words that the index does not know are repaired'],
      },
    ],
  });
  await plan.do('create_objective', {
    slug: 'first-release',
    name: 'First release',
    description: 'Everything an agent needs to plan its work.\nReviewed in the pull request.',
    status: 'in_progress',
    plan_file_path: 'docs/plan.md',
  });
  const { tasks } = await plan.do('create_tasks', {
    objective_slug: 'first-release',
    tasks: [
      { text: 'Write the codec of records', status: 'completed' },
      { text: 'Build the graph toolset', status: 'in_progress' },
      { text: 'Measure: any list under 100 ms' },
    ],
  });
  await plan.do('create_tickets', { tickets: [{ key: 'MB-3', title: 'The graph toolset' }] });
  await plan.do('link_objective_to_features', {
    objective_slug: 'first-release',
    feature_slugs: ['toolsets/graph', 'store/search', 'store'],
  });
  await plan.do('link_objective_to_tickets', {
    objective_slug: 'first-release',
    ticket_keys: ['MB-3'],
  });
  await plan.do('reorder_tasks', {
    objective_slug: 'first-release',
    task_ids: [tasks[0].id, tasks[2].id],
  });

  expect([...plan.files.keys()].sort()).toMatchInlineSnapshot(`
    [
      "graph/features/store.yaml",
      "graph/features/store/search.yaml",
      "graph/features/toolsets/graph.yaml",
      "graph/objectives/first-release.yaml",
      "graph/paths/src/store.yaml",
      "graph/paths/src/store/search/index.ts.yaml",
      "graph/paths/src/toolsets/graph.yaml",
      "graph/requirements/store/search/one-typo-in-a-word-still-finds-the-record.yaml",
      "graph/tasks/first-release/build-the-graph-toolset.yaml",
      "graph/tasks/first-release/measure-any-list-under-100-ms.yaml",
      "graph/tasks/first-release/write-the-codec-of-records.yaml",
      "graph/tickets/mb-3.yaml",
    ]
  `);
  const file = (path: string) => plan.files.get(`graph/${path}`);
  expect(file('features/store/search.yaml')).toMatchInlineSnapshot(`
    "slug: store/search
    name: Search
    description: Words in any order, ranked
    paths:
      - src/store
      - src/store/search/index.ts
    id: id0000000001
    created_at: "2026-01-01T00:00:00.002Z"
    updated_at: "2026-01-01T00:00:00.002Z"
    "
  `);
  expect(file('paths/src/store/search/index.ts.yaml')).toMatchInlineSnapshot(`
    "path: src/store/search/index.ts
    type: file
    description: "The inverted index: what is known of each word"
    use_when:
      - a search misses a record
      - "the ranking is wrong: \\"why is X first?\\""
    id: id0000000004
    created_at: "2026-01-01T00:00:00.005Z"
    updated_at: "2026-01-01T00:00:00.005Z"
    "
  `);
  expect(file('objectives/first-release.yaml')).toMatchInlineSnapshot(`
    "slug: first-release
    name: First release
    status: in_progress
    description: |-
      Everything an agent needs to plan its work.
      Reviewed in the pull request.
    plan_file_path: docs/plan.md
    features:
      - store
      - store/search
      - toolsets/graph
    tickets:
      - MB-3
    id: id0000000007
    created_at: "2026-01-01T00:00:00.008Z"
    updated_at: "2026-01-01T00:00:00.008Z"
    "
  `);
  expect(plan.context.store.commits.map(({ subject }) => subject)).toMatchInlineSnapshot(`
    [
      "create 3 features",
      "create 3 paths",
      "link feature "store" to path "src/store"",
      "link feature "store/search" to 2 paths",
      "link feature "toolsets/graph" to path "src/toolsets/graph"",
      "create requirement "One typo in a word still finds the record" of feature "store/search"",
      "create objective "first-release"",
      "create 3 tasks of objective "first-release"",
      "create ticket "MB-3"",
      "link objective "first-release" to 3 features",
      "link objective "first-release" to ticket "MB-3"",
      "reorder tasks of objective "first-release"",
    ]
  `);
  const files = [...plan.files].filter(([path]) => /requirements|tasks|tickets/.test(path));
  expect(Object.fromEntries(files)).toMatchInlineSnapshot(`
    {
      "graph/requirements/store/search/one-typo-in-a-word-still-finds-the-record.yaml": "text: One typo in a word still finds the record
    notes:
      - Only words that the index does not know are repaired
    feature: store/search
    id: id0000000006
    created_at: "2026-01-01T00:00:00.007Z"
    updated_at: "2026-01-01T00:00:00.007Z"
    ",
      "graph/tasks/first-release/build-the-graph-toolset.yaml": "text: Build the graph toolset
    status: in_progress
    order: 2
    objective: first-release
    id: id0000000009
    created_at: "2026-01-01T00:00:00.010Z"
    updated_at: "2026-01-01T00:00:00.014Z"
    ",
      "graph/tasks/first-release/measure-any-list-under-100-ms.yaml": "text: "Measure: any list under 100 ms"
    status: pending
    order: 1
    objective: first-release
    id: id0000000010
    created_at: "2026-01-01T00:00:00.011Z"
    updated_at: "2026-01-01T00:00:00.013Z"
    ",
      "graph/tasks/first-release/write-the-codec-of-records.yaml": "text: Write the codec of records
    status: completed
    order: 0
    objective: first-release
    id: id0000000008
    created_at: "2026-01-01T00:00:00.009Z"
    updated_at: "2026-01-01T00:00:00.009Z"
    ",
      "graph/tickets/mb-3.yaml": "key: MB-3
    title: The graph toolset
    id: id0000000011
    created_at: "2026-01-01T00:00:00.012Z"
    updated_at: "2026-01-01T00:00:00.012Z"
    ",
    }
  `);
});
