import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { Window } from '../support/window.ts';

const opened = await Window.open();

/** A browser that refuses to keep anything, such as in a private window. */
const withoutStorage = `
  const refuse = () => { throw new DOMException('refused', 'SecurityError'); };
  Object.defineProperty(globalThis, 'localStorage', { get: refuse });
`;

describe.skipIf(!opened)('a draft', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const path = 'knowledge/patterns/naming.md';
  const record = `/view/record/${path}`;
  const form = `${record}?show=edit`;
  const asText = `${form}&as=text`;
  const value = (page: Page) => page.getByLabel(/^value/);
  const text = (page: Page) => page.getByLabel('Text', { exact: true });
  const offer = (page: Page) => page.getByText('You have a draft of this record');
  const continueIt = (page: Page) => page.getByRole('button', { name: 'Continue the draft' });
  const kept = (page: Page): Promise<string[]> =>
    page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('memory-bank draft'))`);

  beforeAll(async () => {
    await own().memory.write('naming', 'Short names.');
    await own().memory.write('other', 'Another one.');
  });
  afterAll(() => own().close());

  deep(
    'of a form survives a link, Back, a reload and a closed tab, until it is saved',
    async () => {
      const first = await own().page(form);
      await value(first).fill('Long names,\nand no others.');
      await first.getByLabel(/^Why you change it/).fill('Readers asked.');
      await first.getByRole('link', { name: 'Home' }).click();
      await first.getByRole('heading', { name: 'What matters now' }).waitFor();
      await first.goBack();
      await offer(first).waitFor();
      expect(await value(first).inputValue()).toBe('Short names.');
      await continueIt(first).click();
      expect(await value(first).inputValue()).toBe('Long names,\nand no others.');
      await value(first).pressSequentially(' Please.');
      await first.reload();
      await offer(first).waitFor();
      await first.close({ runBeforeUnload: true });
      const page = await own().page(record);
      await page.getByRole('link', { name: 'Continue it' }).click();
      await continueIt(page).click();
      expect(await value(page).inputValue()).toContain('Please.');
      expect(await page.getByText('has changed').count()).toBe(0);
      await page.getByRole('button', { name: 'Save as a commit' }).click();
      await page.getByText('and no others.').waitFor();
      expect(await kept(page)).toEqual([]);
      expect(own().server.repo.git('log', '-1', '--format=%b')).toContain('Readers asked.');
      await page.goto(own().server.url + form);
      await value(page).waitFor();
      expect(await offer(page).count()).toBe(0);
      await page.close();
    },
  );

  deep('of an older value says that it has changed since, and shows both', async () => {
    await own().memory.write('naming', 'Short names.');
    const page = await own().page(form);
    await value(page).fill('My names.');
    await page.goto(own().server.url + asText);
    await page.getByText('You have a draft of its fields').waitFor();
    await text(page).fill(`${await text(page).inputValue()}More.\n`);
    await page.goto(own().server.url + record);
    await own().memory.write('naming', 'Names of agents.');
    await page.goto(own().server.url + form);
    await page.getByText('The value has changed since you began it.').waitFor();
    await page.getByText('You have a draft of its text').waitFor();
    await continueIt(page).click();
    await page.getByRole('row', { name: 'value Names of agents. My names.' }).waitFor();
    await page.goto(own().server.url + asText);
    await page.getByText('The value has changed since you began it.').waitFor();
    await continueIt(page).click();
    await page.getByText('The record was changed while you edited it').waitFor();
    await page.getByLabel('The text of the record now').getByText('Names of agents.').waitFor();
    expect(await text(page).inputValue()).toContain('Short names.');
    // A draft that is discarded is not offered again.
    await page.goto(own().server.url + record);
    for (const left of [1, 0]) {
      await page.getByRole('button', { name: 'Discard the draft' }).first().click();
      await expect.poll(() => page.getByText('You have a draft').count()).toBe(left);
    }
    expect(await kept(page)).toEqual([]);
    await page.close();
  });

  deep('of one tab does not replace that of another one, nor that of another record', async () => {
    await own().memory.write('naming', 'Short names.');
    const [one, two] = [await own().page(form), await own().page(form)];
    await value(one).fill('Of the first tab.');
    await value(two).fill('Of the second tab.');
    await value(one).fill('Of the first tab, later.');
    await one.close();
    await two.close();
    const page = await own().page('/view/record/knowledge/patterns/other.md?show=edit');
    await value(page).waitFor();
    expect(await offer(page).count()).toBe(0);
    await page.goto(own().server.url + form);
    await continueIt(page).click();
    expect(await value(page).inputValue()).toBe('Of the first tab, later.');
    await continueIt(page).click();
    expect(await value(page).inputValue()).toBe('Of the second tab.');
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    // A text that is the record's again is not a draft.
    await value(page).fill('Short names.');
    expect(await kept(page)).toEqual([]);
    await page.close();
  });

  deep('that the browser does not keep survives a link, and a reload asks first', async () => {
    const page = await own().page(form);
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.type());
      void dialog.accept();
    });
    await page.addInitScript(withoutStorage);
    // The session is in the storage; a request of its own brings it.
    const header = await page.evaluate(`localStorage.getItem('memory-bank-session')`);
    await page.setExtraHTTPHeaders({ 'X-Memory-Page': String(header) });
    await page.reload();
    await value(page).fill('Not kept.');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { name: 'What matters now' }).waitFor();
    await page.goBack();
    await continueIt(page).click();
    expect(await value(page).inputValue()).toBe('Not kept.');
    expect(dialogs).toEqual([]);
    await page.reload();
    expect(dialogs).toEqual(['beforeunload']);
    await value(page).waitFor();
    expect(await offer(page).count()).toBe(0);
    await page.reload();
    expect(dialogs).toEqual(['beforeunload']);
    await page.close();
  });

  deep('of a record that is gone is shown, so that it can be copied', async () => {
    await own().memory.write('short-lived', 'For now.');
    const gone = '/view/record/knowledge/patterns/short-lived.md';
    const page = await own().page(`${gone}?show=edit`);
    await value(page).fill('For ever.');
    await own().memory.call('memory_delete', {
      category: 'patterns',
      key: 'short-lived',
      confirm: true,
    });
    await page.goto(own().server.url + gone);
    await page.getByLabel('Draft of value').getByText('For ever.').waitFor();
    await page.close();
  });

  deep('has a field that is as high as its text', async () => {
    const page = await own().page(form);
    const height = async () => (await value(page).boundingBox())?.height ?? 0;
    await value(page).waitFor();
    const before = await height();
    await value(page).fill('line\n'.repeat(20));
    expect(await height()).toBeGreaterThan(before * 1.5);
    await page.close();
  });
});
