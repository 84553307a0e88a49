import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

describe.skipIf(!opened)('the window', () => {
  /** The window; the group is skipped where there is none. */
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const project = () => own().server.repo.root.replace(/.*[\\/]/, '');

  beforeAll(async () => {
    const { memory } = own();
    await memory.call('initialize_memory_bank', { path: memory.repo.root });
    await memory.write('cart', '- [ ] Empty it\n- [x] Fill it\n');
  });
  afterAll(() => own().close());

  test('knows the last change of every record, also of a past state', async () => {
    const { server, memory } = own();
    memory.repo.write('.memory-bank/by-hand.md', '# By hand\n');
    for (const query of ['', '?at=HEAD']) {
      const { records } = (await server.ask('GET', `/memory/records${query}`)).body;
      for (const { path, updated, isEdited } of records) {
        const isNew = path === 'by-hand.md';
        const known = [typeof updated, isEdited];
        expect([path, ...known]).toEqual([
          path,
          ...(isNew ? ['undefined', true] : ['string', undefined]),
        ]);
      }
    }
  });

  deep('tells its tabs apart by their titles', async () => {
    const titles = [
      ['/view/', 'Home'],
      ['/view/timeline', 'Timeline'],
      ['/view/search?q=cart', 'cart · Search'],
      ['/view/branches/main', 'main · Branches'],
      ['/view/records?type=bank-file', 'bank-file · Records'],
      ['/view/record/decisionLog.md', 'Decision Log'],
      ['/view/record/decisionLog.md?show=history', 'Decision Log · History'],
      ['/view/record/decisionLog.md?at=main', 'Decision Log · as of main'],
    ] as const;
    const page = await own().page('/view/');
    for (const [path, title] of titles) {
      await page.goto(own().server.url + path);
      await expect.poll(() => page.title()).toBe(`${title} · ${project()}`);
    }
    await page.close();
  });

  deep('shows the whole menu, the search and the field of the state on a phone', async () => {
    const page = await own().page('/view/tasks');
    await page.setViewportSize({ width: 390, height: 800 });
    const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    const header = page.getByRole('banner');
    const controls = [
      ...(await menu.all()),
      header.getByRole('searchbox', { name: 'Search the memory' }),
      header.getByText('State', { exact: true }),
    ];
    expect(controls).toHaveLength(10);
    for (const control of controls) {
      const { x = -1, width = 0 } = (await control.boundingBox()) ?? {};
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + width).toBeLessThanOrEqual(390);
    }
    await page.close();
  });

  deep('draws the items of a task list as boxes', () =>
    own().visit('/view/record/knowledge/patterns/cart.md', async (page) => {
      const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
      await item('Empty it').getByRole('img', { name: 'open' }).waitFor();
      await item('Fill it').getByRole('img', { name: 'done' }).waitFor();
    }),
  );

  deep('compares branches a hundred records at a time, with one request for them', async () => {
    const { memory } = own();
    const { repo } = memory;
    repo.git('switch', '-q', '-c', 'wide');
    for (let i = 0; i < 120; i++) repo.write(`.memory-bank/wide/note-${i}.md`, `# Note ${i}\n`);
    repo.git('add', '-A');
    repo.git('commit', '-q', '-m', 'Add notes');
    repo.git('switch', '-q', 'main');
    await own().visit('/view/branches/wide', async (page) => {
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/memory/compare')) asked.push(request.url());
      });
      await page.reload();
      await page.getByRole('heading', { name: 'What wide teaches' }).waitFor();
      await expect.poll(() => page.locator('.change').count()).toBe(100);
      await page.getByRole('button', { name: 'Accept' }).first().waitFor();
      // A change of the memory can repeat it; the name of the current branch is not awaited.
      expect(new Set(asked).size).toBe(1);
      await page.getByRole('button', { name: /^Show \d+ more of \d+ records$/ }).click();
      await expect.poll(() => page.locator('.change').count()).toBeGreaterThanOrEqual(120);
    });
  });
});
