import { afterAll, beforeAll, describe, expect } from 'vitest';
import { deep, sample } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

describe.skipIf(!opened)('an error in the code of the window', () => {
  /** The window; the group is skipped where there is none. */
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };

  beforeAll(async () => {
    await own().memory.write('cart-naming', 'SHOP-101: session tokens, a_b (c) [d] {e} $f ^g |h.');
    await own().memory.write('links', 'A [broken](%FF.md), [own](#%FF) and [out](https://[) link.');
  });
  afterAll(() => own().close());

  deep('is not made by a word that means something to an expression', async () => {
    const words = ['cart-naming', 'a_b', 'SHOP-101', 'session tokens', '(c) [d]', '$f ^g |h'];
    for (const word of sample(words, 2)) {
      await own().visit(`/view/search?q=${encodeURIComponent(word)}`, async (page) => {
        await page.locator('.hits mark').first().waitFor();
      });
    }
  });

  deep('is not made by a link that cannot be decoded', () =>
    own().visit('/view/record/knowledge/patterns/links.md', async (page) => {
      const link = page.getByRole('link', { name: 'broken' });
      expect(await link.getAttribute('href')).toBe('/view/record/knowledge/patterns/%25FF.md');
    }),
  );

  deep('stops one page, says what happened, and lets the person go on', async () => {
    const page = await own().page('/view/tasks');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.route('**/memory/modes', (route) => route.fulfill({ json: { modes: null } }));
    await page.getByRole('link', { name: 'Modes' }).click();
    const alert = page.getByRole('alert');
    await alert.getByRole('heading', { name: 'This page has stopped' }).waitFor();
    await own().context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await alert.getByRole('button', { name: 'Copy what happened' }).click();
    await alert.getByText('Copied.').waitFor();
    const copied = await page.evaluate(() =>
      Reflect.get(globalThis, 'navigator').clipboard.readText(),
    );
    expect(copied).toMatch(/^TypeError: .*\n[\s\S]*\nPage: \/view\/modes\nBrowser: /);
    // Another page is not touched by it.
    await page.getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.goBack();
    await alert.getByRole('heading', { name: 'This page has stopped' }).waitFor();
    await page.unroute('**/memory/modes');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('row', { name: /^architect/ }).waitFor();
    await page.close();
  });

  deep('is shown also where it stops a step, and an answer that is not JSON', async () => {
    const page = await own().page('/view/tasks');
    await page.getByRole('heading', { name: 'Tasks' }).waitFor();
    await page.evaluate(() => void Promise.reject(new Error('A step has failed.')));
    await page.getByText('An error in the program has stopped the last step').waitFor();
    await page.getByText('What happened', { exact: true }).click();
    await page.getByText('A step has failed.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByText('has stopped the last step').waitFor({ state: 'detached' });
    await page.route('**/memory/modes', (route) =>
      route.fulfill({ status: 502, body: '<html>Bad gateway</html>' }),
    );
    await page.getByRole('link', { name: 'Modes' }).click();
    await page.getByText('The answer cannot be read: 502.').waitFor();
    await page.close();
  });
});
