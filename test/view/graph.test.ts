import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { walkAround } from '../support/around-page.ts';
import { findViolations } from '../support/axe.ts';
import { deep } from '../support/depth.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

describe.skipIf(!opened)('the graph of the window', () => {
  /** The window; the group is skipped where there is none. */
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const objective = 'graph/objectives/idempotent-payments.yaml';

  beforeAll(async () => {
    const { memory, server } = own();
    await fillRealistic((tool, args) => memory.call(tool, args), server.repo.root);
  });
  afterAll(() => own().close());

  test('has two steps from one record, in both directions', async () => {
    const around = async (path: string) =>
      (await own().server.ask('GET', `/memory/around?path=${path}`)).body;
    const { nodes, edges, total } = await around(objective);
    const titleAt = (at: number) => nodes[at].title;
    const pairs = edges.map(([from, to]: [number, number]) => [titleAt(from), titleAt(to)]);
    expect(titleAt(0)).toBe('Make payments idempotent');
    expect(total).toBe(nodes.length);
    // The objective names a feature; tasks name the objective.
    expect(pairs).toContainEqual(['Make payments idempotent', 'Payment']);
    expect(pairs).toContainEqual([
      'Report a refused card without a retry',
      'Make payments idempotent',
    ]);
    const task = nodes.find(({ type }: { type: string }) => type === 'task');
    const fromTask = await around(task.path);
    expect(fromTask.nodes.map(({ title }: { title: string }) => title)).toEqual(
      expect.arrayContaining([task.title, 'Make payments idempotent', 'Payment']),
    );
    expect((await own().server.ask('GET', '/memory/around?path=none.md')).status).toBe(404);
  });

  deep('answers what a record rests on as a picture and as lists', () =>
    own().visit(`/view/record/${objective}`, async (page) => {
      await walkAround(page);
    }),
  );

  deep(
    'has readable names at 1280 pixels, clusters by folder, and a list as its equal',
    async () => {
      const { memory } = own();
      await memory.call('create_features', {
        features: Array.from({ length: 90 }, (_, i) => ({
          slug: `lone-${i}`,
          name: `Lone ${i}`,
          description: 'It stands alone.',
        })),
      });
      const page = await own().page('/view/graph');
      await page.setViewportSize({ width: 1280, height: 800 });
      const picture = page.getByRole('group', { name: 'Records and their parts' });
      await picture.getByRole('button', { name: /^9\d features/ }).waitFor();
      await page.getByRole('button', { name: 'Open the groups' }).click();
      await page.getByRole('button', { name: 'Close the groups' }).waitFor();
      const heights = await picture
        .locator('text')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height / 2));
      expect(Math.min(...heights)).toBeGreaterThan(11);
      const list = page.getByRole('region', { name: 'List of the graph' });
      await list.getByRole('link', { name: /^Make payments idempotent/ }).waitFor();
      await list.getByText('graph/features', { exact: true }).click();
      await list.getByRole('link', { name: /^Lone 7 feature/ }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.close();
    },
  );
});
