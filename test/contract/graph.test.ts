import { expect, test } from 'vitest';
import { calls, sequence } from '../property/graph/steps.ts';
import { follow, type World } from '../property/graph/world.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { main, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** The built program over stdio, serving a repository; native git checks out the branches. */
class StdioWorld implements World {
  readonly repo = Repo.create();
  #client = this.#start();
  #calls = 0;

  async call(tool: string, args: object) {
    this.#calls += 1;
    const { result } = await this.#client.call(this.#calls, tool, args).answer(this.#calls);
    const [data, note] = result.content;
    const body = JSON.parse(data.text);
    const isError = result.isError ?? false;
    const whole = note ? { ...body, 'memory-bank/note': note.text } : body;
    expect(result.structuredContent).toEqual(isError ? undefined : whole);
    return { body, isError };
  }
  async restart() {
    await this.stop();
    this.#client = this.#start();
  }
  async checkout(branch: string) {
    this.repo.checkout(branch);
  }
  async stop() {
    await this.#client.end();
  }
  #start(): RawClient {
    return new RawClient([main], { cwd: this.repo.root }).initialize();
  }
}

test('the tools of the graph are listed, each with the schema of its arguments', async () => {
  const repo = Repo.create();
  const client = new RawClient([main, '--toolsets', 'graph'], { cwd: repo.root }).initialize();
  const { result } = await client.request(1, 'tools/list').answer(1);
  await client.end();
  repo.remove();
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
    ...Object.keys(calls),
    // The toolset of teams comes with it.
    ...['claim_task', 'release_task', 'sync_memory'],
  ]);
});

deep(
  'the program answers like the model, with restart and git checkout among the steps',
  async () => {
    await fc.assert(
      fc.asyncProperty(sequence, async (steps) => {
        const world = new StdioWorld();
        try {
          await follow(world, steps);
          await world.stop();
          expect(world.repo.status()).toEqual([]);
          expect(world.repo.fsck()).toBe('');
        } finally {
          await world.stop();
          world.repo.remove();
        }
      }),
      { numRuns: runs(3) },
    );
  },
);
