import { expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { runs } from '../../support/depth.ts';
import fc from '../../support/fc.ts';
import { type Opened, open } from '../../support/open.ts';
import { Repo } from '../../support/repo.ts';
import { sequence } from './steps.ts';
import { follow, type World } from './world.ts';

/** The toolset on a git repository; native git checks out the branches. */
class RepositoryWorld implements World {
  readonly repo = Repo.create();
  readonly #context = new TestContext(graph);
  #opened: Opened | undefined;

  async call(tool: string, args: object) {
    const opened = await this.#open();
    const { store } = opened.call;
    Object.defineProperty(this.#context, 'store', { value: store, configurable: true });
    const commits = opened.commits.length;
    const reply = await callTool(graph, this.#context, tool, args);
    expect(opened.commits.length - commits).toBeLessThanOrEqual(reply.isError ? 0 : 1);
    return reply;
  }
  async restart() {
    await this.#opened?.workspace.close();
    this.#opened = undefined;
  }
  async checkout(branch: string) {
    this.repo.checkout(branch);
  }
  async #open(): Promise<Opened> {
    this.#opened ??= await open(this.repo.root, graph.records);
    return this.#opened;
  }
}

test('a repository answers like the model, with restart and git checkout among the steps', async () => {
  await fc.assert(
    fc.asyncProperty(sequence, async (steps) => {
      const world = new RepositoryWorld();
      try {
        await follow(world, steps);
        await world.restart();
        expect(world.repo.status()).toEqual([]);
        expect(world.repo.fsck()).toBe('');
      } finally {
        await world.restart();
        world.repo.remove();
      }
    }),
    { numRuns: runs(4) },
  );
});
