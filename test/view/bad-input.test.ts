import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { deep, isFull } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

/** The name of a branch with what an address, a query or an attribute must not take as its own. */
const odd = `it's-"a"-&-#branch-%41`;
const hourMs = 3_600_000;

/** A line to a server that can be cut and joined again at the same address. */
class Line {
  readonly #server;
  readonly #open = new Set<Socket>();
  #port = 0;

  constructor(target: number) {
    this.#server = createServer((near) => {
      const far = connect(target, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#open.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => this.#open.delete(one));
        one.pipe(other);
      }
    });
  }

  async join(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(this.#port, '127.0.0.1', done));
    const address = this.#server.address();
    this.#port = typeof address === 'object' && address ? address.port : 0;
    return `http://127.0.0.1:${this.#port}`;
  }

  async cut(): Promise<void> {
    const closed = new Promise((done) => this.#server.close(done));
    for (const one of this.#open) one.destroy();
    await closed;
  }
}

describe.skipIf(!opened)('the window', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  beforeAll(async () => {
    await own().memory.write('first', 'The first text.');
  });
  afterAll(() => own().close());

  deep('shows records and a commit with titles of 1 MB, each cut where it is a title', async () => {
    const title = `Long ${'word '.repeat(100_000)}${'x'.repeat(500_000)}`;
    repo().write('.memory-bank/long.md', `# ${title}\n\nThe text below it.\n`);
    repo().git('add', '.memory-bank');
    repo().gitWith({ input: `${title}\n` }, 'commit', '-q', '-F', '-');
    const page = await own().page('/view/');
    const cut = page.getByText(/Long word .*…/);
    for (const path of ['', 'timeline', 'records?type=bank-file', 'search?q=text+below']) {
      await page.goto(`${own().server.url}/view/${path}`);
      await cut.first().waitFor();
      expect((await page.content()).length).toBeLessThan(100_000);
    }
    await page.goto(`${own().server.url}/view/record/long.md`);
    await page.getByText('The text below it.').waitFor();
    expect((await page.title()).length).toBeLessThan(300);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280);
    await page.close();
  });

  deep('compares and shows a branch whose name has quotes', async () => {
    repo().git('checkout', '-q', '-b', odd);
    await own().memory.write('odd', 'Of the odd branch.');
    repo().checkout('main');
    await own().visit('/view/branches', async (page) => {
      await page.getByRole('link', { name: odd, exact: true }).click();
      await page.locator('.change', { hasText: 'patterns/odd.md' }).waitFor();
      expect(await page.title()).toContain(odd);
      await page.reload();
      await page.locator('.change', { hasText: 'patterns/odd.md' }).waitFor();
      await page.getByLabel(/^State/).fill(odd);
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      await page.getByText(`You see the memory as of ${odd}`).waitFor();
    });
  });

  deep.each([-1, 1])(
    'tells the age of a change with a clock that is off by %i hour',
    async (hours) => {
      await own().memory.write('aged', `Written for ${hours}.`);
      await own().visit('/view/', async (page) => {
        await page.clock.setFixedTime(Date.now() + hours * hourMs);
        await page.goto(`${own().server.url}/view/record/knowledge/patterns/aged.md`);
        await page.getByText(`Written for ${hours}.`).waitFor();
        const age = page.getByText(/^knowledge\/patterns\/aged\.md/).getByRole('time');
        await expect.poll(() => age.innerText()).toMatch(/^(?:now|\d+ (?:second|minute)s? ago)$/);
        await page.goto(`${own().server.url}/view/search?q=written&days=1`);
        await page.getByRole('link', { name: /^aged/ }).waitFor();
      });
    },
  );

  deep('keeps a review where no server may write', async () => {
    const config = repo().read('.memory-bank/config.yaml');
    repo().write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo().git('commit', '-qam', 'Require reviews');
    const agent = await openMemory({ root: repo().root, agent: 'fast-coder/2.0' });
    await agent.call('memory_write', { category: 'patterns', key: 'proposed', value: 'It waits.' });
    await agent.close();
    const page = await own().page('/view/');
    const needs = page.getByRole('region', { name: 'Needs a person' });
    await needs.getByRole('link', { name: /^fast-coder/ }).click();
    const record = page.getByRole('region', { name: 'knowledge/patterns/proposed.md' });
    await record.waitFor();
    const later = config.replace(/^format: \d+/m, 'format: 99\nrequires: 9.1.0');
    const head = repo().git('rev-parse', 'HEAD');
    repo().write('.memory-bank/config.yaml', later);
    await record.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('alert').getByText('9.1.0').waitFor();
    expect(repo().git('rev-parse', 'HEAD')).toBe(head);
    repo().git('checkout', '-q', '.memory-bank/config.yaml');
    await record.getByRole('button', { name: 'Accept' }).click();
    await page.getByText('It has nothing new.').waitFor();
    await page.close();
    repo().write('.memory-bank/config.yaml', config);
    repo().git('commit', '-qam', 'Require no reviews');
  });

  deep('goes on where the server has been away, with what is typed', async () => {
    const line = new Line(Number(new URL(own().server.url).port));
    const origin = await line.join();
    const page = await own().context.newPage();
    const path = '/view/record/knowledge/patterns/first.md?show=edit';
    // The session of the browser is for this host; its secret is kept for each port.
    const first = await own().page('/view/');
    const secret = await first.evaluate(`localStorage.getItem('memory-bank-session')`);
    await first.close();
    await page.addInitScript(`localStorage.setItem('memory-bank-session', '${secret}')`);
    await page.goto(`${origin}${path}`);
    const field = page.getByLabel(/^value/);
    await field.fill('My text.');
    const other = await own().context.newPage();
    await other.goto(`${origin}/view/`);
    await other.getByRole('region', { name: 'Recent changes' }).waitFor();
    await line.cut();
    await page.getByRole('button', { name: 'Save as a commit' }).click();
    await page.getByRole('alert').getByText('The server does not answer').waitFor();
    await other.getByRole('link', { name: 'Tasks' }).click();
    await other.getByText('The server does not answer').first().waitFor();
    const agent = await openMemory({ root: repo().root, agent: 'fast-coder/2.0' });
    await agent.call('memory_write', { category: 'patterns', key: 'away', value: 'Meanwhile.' });
    await agent.close();
    await line.join();
    await other.getByRole('heading', { name: 'in progress' }).waitFor();
    expect(await field.inputValue()).toBe('My text.');
    await page.getByRole('button', { name: 'Save as a commit' }).click();
    await page.locator('.edit').waitFor({ state: 'detached' });
    expect(repo().read('.memory-bank/knowledge/patterns/first.md')).toContain('My text.');
    await page.close();
    await other.close();
    await line.cut();
  });
});
