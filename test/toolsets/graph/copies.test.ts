import { afterEach, expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { open } from '../../support/open.ts';
import { Repo } from '../../support/repo.ts';
import type { Answer } from '../../unit/graph/planner.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

test.each(['auth 2', 'auth (1)', 'Copy of auth'])(
  'the feature that git has counts, not its copy "%s.yaml"',
  async (name) => {
    const repo = Repo.create();
    cleanUp.push(() => repo.remove());
    const opened = await open(repo.root, graph.records);
    cleanUp.push(() => opened.workspace.close());
    const call = async (tool: string, args: object): Promise<Answer> => {
      const context = new TestContext(graph);
      Object.defineProperty(context, 'store', { value: opened.call.store });
      return (await callTool(graph, context, tool, args)).body.data;
    };
    await call('create_features', { features: [{ slug: 'auth', name: 'Auth' }] });
    const path = repo.git('ls-files', '*/auth.yaml').trim();
    const copy = path.replace('auth.yaml', `${name}.yaml`);
    repo.write(copy, repo.read(path).replace('Auth', 'Of long ago'));
    const seen = async () => {
      const { features, damaged } = await call('list_features', {});
      const { feature } = await call('get_feature', { slug: 'auth' });
      return { listed: features.map(({ name }: Answer) => name), damaged, feature };
    };
    const expected = (current: string) => ({
      listed: [current],
      damaged: [
        expect.objectContaining({ message: expect.stringContaining('by its name it is a copy') }),
      ],
      feature: expect.objectContaining({ name: current }),
    });
    expect(await seen()).toEqual(expected('Auth'));
    await call('update_feature', { slug: 'auth', name: 'Sign in' });
    expect(await seen()).toEqual(expected('Sign in'));
    expect(repo.read(path)).toContain('Sign in');
    expect(repo.read(copy)).toContain('Of long ago');
  },
);
