import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

test('a search finds the plan that an objective names, as it is now, and no other file', async () => {
  const repo = Repo.create();
  const app = projectApp(repo.root);
  try {
    const session = app.connect();
    const call = async (tool: string, args: object) =>
      Object((await app.call(session, tool, args))?.body);
    mkdirSync(repo.path('docs'));
    const write = (text: string) => writeFileSync(repo.path('docs/plan.md'), text);
    write('# Plan\n\n## Phase one\n\nBook kumquats twice.\n');
    writeFileSync(repo.path('.env'), 'KUMQUATS=1\n');
    const plans = ['./docs/plan.md', '.env', '../outside.md', 'docs/none.md', '.git/config'];
    for (const [i, plan_file_path] of plans.entries()) {
      await call('create_objective', { slug: `goal-${i}`, name: `Goal ${i}`, plan_file_path });
    }
    const query = { query: 'kumquats' };
    expect((await call('search_memory', query)).plans).toEqual([
      expect.objectContaining({
        file: './docs/plan.md',
        path: 'graph/objectives/goal-0.yaml',
        section: 'Plan > Phase one',
        snippet: 'Book kumquats twice.',
      }),
    ]);
    for (const other of [{ offset: 1 }, { toolset: 'knowledge' }]) {
      expect(await call('search_memory', { ...query, ...other })).not.toHaveProperty('plans');
    }
    write('# Plan\n\nBook loquats once.\n');
    expect(await call('search_memory', query)).not.toHaveProperty('plans');
    expect((await call('search_memory', { query: 'loquats' })).plans).toHaveLength(1);
  } finally {
    await app.close();
    repo.remove();
  }
});
