import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { findViolations } from '../support/axe.ts';
import { deep, isFull } from '../support/depth.ts';
import { projectApp } from '../support/project-app.ts';
import { Window } from '../support/window.ts';

const opened = isFull ? await Window.open() : undefined;

describe.skipIf(!opened)('a stale record', () => {
  const own = (): Window => {
    if (!opened) throw new Error('There is no browser.');
    return opened;
  };
  const repo = () => own().server.repo;
  const decide = (title: string, place: string) =>
    own().memory.call('log_decision', {
      title,
      context: 'It came up.',
      decision: `Do as \`${place}\` does.`,
    });
  const notice = (page: Page, name: string | RegExp) =>
    page.getByRole('region', { name: new RegExp(`^Code has changed: ${name}`) });
  const subject = () => repo().git('log', '-1', '--format=%s').trim();
  const commit = (name: string, text: string, message: string) => {
    writeFileSync(repo().path(name), text);
    repo().git('add', name);
    repo().git('commit', '-qm', message);
  };

  beforeAll(async () => {
    commit('lock.ts', 'take();\nwait();\nfree();\n', 'Add the lock');
    commit('old.ts', 'first();\nsecond();\n', 'Add old code');
    await decide('Wait for the lock', 'lock.ts:1-3');
    await decide('Use the old code', 'old.ts:1-2');
    await decide('Poll', 'poll.ts');
    for (const key of ['one', 'two', 'three', 'four']) {
      await own().memory.write(key, `The lock is in \`lock.ts:2\`, says ${key}.`);
    }
    commit('lock.ts', 'take();\nawait free();\nfree();\n', 'Await the lock');
    repo().git('rm', '-q', 'old.ts');
    repo().git('commit', '-qm', 'Remove old code');
  });
  afterAll(() => own().close());

  deep('shows in a log, below its entry, the code then and now with the commit between', () =>
    own().visit('/view/record/decisionLog.md', async (page) => {
      const entry = notice(page, 'Wait for the lock');
      await entry.getByText('Await the lock', { exact: true }).waitFor();
      await entry.getByRole('row', { name: 'wait(); 2 await free();' }).waitFor();
      const before = await page.getByRole('heading', { name: /^Wait for the lock/ }).boundingBox();
      const after = await page.getByRole('heading', { name: /^Use the old code/ }).boundingBox();
      const place = await entry.boundingBox();
      const [above, here, below] = [before, place, after].map((box) => box?.y ?? 0);
      expect([above, here, below]).toEqual(
        [above, here, below].toSorted((a, b) => (a ?? 0) - (b ?? 0)),
      );
      await notice(page, 'Use the old code').getByText('second();').waitFor();
      expect(await notice(page, 'Poll').count()).toBe(0);
      await entry.getByRole('button', { name: 'Unified' }).click();
      await entry.getByText('-wait();').waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await findViolations(page)).toEqual([]);
    }),
  );

  deep('ends by a verification of one entry, also in the other window', () =>
    own().visit('/view/record/decisionLog.md', async (other) => {
      await notice(other, 'Wait for the lock').waitFor();
      await own().visit('/view/record/decisionLog.md', async (page) => {
        const entry = notice(page, 'Wait for the lock');
        await entry.getByRole('button', { name: 'Still true' }).click();
        await page.getByText(/#Wait for the lock.* is verified/).waitFor();
        await entry.waitFor({ state: 'detached' });
        await notice(page, 'Use the old code').waitFor();
      });
      await notice(other, 'Wait for the lock').waitFor({ state: 'detached' });
      const message = repo().git('log', '-2', '--format=%s%n%b');
      expect(message).toContain('memory: verify decisionLog.md#Wait for the lock');
      expect(message).toMatch(/^Memory-Tool: verify_memory$/m);
      expect(message).toMatch(/^Memory-Agent: memory-bank-view\//m);
    }),
  );

  deep('ends by an edit that begins at the entry', () =>
    own().visit('/view/record/decisionLog.md', async (page) => {
      await notice(page, 'Use the old code').getByRole('link', { name: 'Edit' }).click();
      const field = page.getByLabel('Text', { exact: true });
      await field.waitFor();
      const selected = () => page.evaluate(() => String(Reflect.get(globalThis, 'getSelection')()));
      await expect.poll(selected).toMatch(/^## Use the old code/);
      await field.fill((await field.inputValue()).replace('`old.ts:1-2`', 'the new code'));
      await page.getByRole('button', { name: 'Save as a commit' }).click();
      await page.getByRole('heading', { name: /^Use the old code/ }).waitFor();
      await expect.poll(() => notice(page, 'Use the old code').count()).toBe(0);
    }),
  );

  deep(
    'ends by a record that supersedes it, with those that this one superseded before',
    async () => {
      const page = await own().page('/view/');
      const supersede = async (old: string) => {
        await page.goto(`${own().server.url}/view/record/knowledge/patterns/${old}.md`);
        const record = notice(page, `knowledge/patterns/${old}`);
        await record.getByRole('button', { name: 'Superseded by' }).click();
        const field = record.getByLabel('The record or decision that replaces it');
        await field.fill('nowhere.md');
        await record.getByRole('button', { name: 'Supersede as a new commit' }).click();
        await record.getByRole('alert').getByText('nowhere.md').waitFor();
        await field.fill('two');
        await record
          .locator('option[value="knowledge/patterns/two.md"]')
          .waitFor({ state: 'attached' });
        expect(await findViolations(page)).toEqual([]);
        await field.fill('knowledge/patterns/two.md');
        await record.getByRole('button', { name: 'Supersede as a new commit' }).click();
        await page.getByText('is superseded by knowledge/patterns/two.md').waitFor();
      };
      await supersede('one');
      await supersede('three');
      const text = repo().read('.memory-bank/knowledge/patterns/two.md');
      expect(text).toMatch(/supersedes:.*one\.md.*three\.md/s);
      expect(repo().read('.memory-bank/knowledge/patterns/one.md')).toContain('superseded_by');
      await page.close();
    },
  );

  deep('is not verified if it, or its code, has changed since the person looked', async () => {
    const page = await own().page('/view/record/knowledge/patterns/four.md');
    const record = notice(page, 'knowledge/patterns/four');
    await record.waitFor();
    // As if the event of the change came late.
    await page.route('**/memory/evidence*', () => undefined);
    writeFileSync(repo().path('lock.ts'), 'take();\nsomething();\nfree();\n');
    const before = subject();
    await record.getByRole('button', { name: 'Still true' }).click();
    await record.getByRole('alert').getByText('or its code has changed meanwhile').waitFor();
    expect(subject()).toBe(before);
    repo().git('checkout', '-q', 'lock.ts');
    await page.close();
  });

  deep('says so where no server may write, and where the server is gone', async () => {
    const page = await own().page('/view/record/knowledge/patterns/two.md');
    const record = notice(page, 'knowledge/patterns/two');
    await record.waitFor();
    await own().context.setOffline(true);
    await record.getByRole('button', { name: 'Still true' }).click();
    await record.getByRole('alert').getByText('The server does not answer').waitFor();
    await own().context.setOffline(false);
    const config = repo().read('.memory-bank/config.yaml');
    repo().write(
      '.memory-bank/config.yaml',
      config.replace(/^format: \d+/m, 'format: 99\nrequires: 9.1.0'),
    );
    await record.getByRole('button', { name: 'Still true' }).click();
    await record.getByRole('alert').getByText('9.1.0').waitFor();
    repo().write('.memory-bank/config.yaml', config);
    await page.close();
  });

  deep('shows its entry also where each entry is a file, and verifies that alone', async () => {
    const app = projectApp(repo().root);
    await app.run(app.connect(), 'layout', {}, ({ project }) => project.changeLayout('entries'));
    await app.close();
    await decide('Take the lock', 'lock.ts:1');
    await decide('Free the lock', 'lock.ts:3');
    commit('lock.ts', 'acquire();\nawait free();\nrelease();\n', 'Rename the calls');
    await own().visit('/view/record/decisionLog.md', async (page) => {
      await notice(page, 'Free the lock').getByText('release();').first().waitFor();
      const entry = notice(page, 'Take the lock');
      await entry.getByRole('button', { name: 'Still true' }).click();
      await entry.waitFor({ state: 'detached' });
      expect(await notice(page, 'Free the lock').count()).toBe(1);
    });
    expect(repo().git('log', '-2', '--format=%s')).toContain('verify decisionLog.md#Take the lock');
  });
});
