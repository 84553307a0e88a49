import { expect, test } from 'vitest';
import { graph } from '../../../src/toolsets/graph/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { runs } from '../../support/depth.ts';
import fc from '../../support/fc.ts';
import { calls, sequence } from './steps.ts';
import { follow, type World } from './world.ts';

/** The toolset on a store in memory, where a branch is a copy of the files. */
class MemoryWorld implements World {
  #context = new TestContext(graph);
  readonly #branches = new Map<string, Map<string, string>>();
  #branch = 'main';

  call(tool: string, args: object) {
    return callTool(graph, this.#context, tool, args);
  }
  async restart() {
    const { store, time } = this.#context;
    this.#context = new TestContext(graph);
    this.#context.store.files = store.files;
    this.#context.time = time;
  }
  async checkout(branch: string) {
    const { store } = this.#context;
    this.#branches.set(this.#branch, store.files);
    this.#branch = branch;
    store.files = new Map(this.#branches.get(branch) ?? store.files);
  }
}

test('the random sequences use all tools of the seed', () => {
  expect(Object.keys(calls)).toEqual(graph.tools.map(({ name }) => name));
});

test('any sequence of calls answers like a simple model of the seed', async () => {
  await fc.assert(
    fc.asyncProperty(sequence, (steps) => follow(new MemoryWorld(), steps)),
    { numRuns: runs(100) },
  );
});
