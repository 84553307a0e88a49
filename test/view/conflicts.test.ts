import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundlePage } from '../../build.js';
import { viewFace } from '../../src/server/view/view-face.ts';
import { findViolations } from '../support/axe.ts';
import { Misbehaviour, startBrowser } from '../support/browser.ts';
import { deep, isFull } from '../support/depth.ts';
import { type Served as HttpServed, serve } from '../support/http.ts';
import { newFolder } from '../support/process.ts';
import { gitEnv } from '../support/repo.ts';
import { Served } from '../support/served.ts';

const browser = isFull ? await startBrowser() : undefined;
const path = 'knowledge/patterns/tabs.md';

let server: HttpServed;
let memory: Served;

beforeAll(async () => {
  const folder = newFolder();
  await bundlePage(folder);
  server = await serve({ keys: undefined }, {}, {}, viewFace({ folder, version: '0.0.0' }));
  memory = new Served(server.repo);
  const { repo } = server;
  await memory.write('tabs', 'We indent by tabs.');
  repo.git('checkout', '-q', '-b', 'other');
  await memory.write('tabs', '<script>alert(1)</script> We indent by two spaces.');
  repo.git('checkout', '-q', 'main');
  await memory.write('tabs', 'We indent by four spaces.');
  spawnSync('git', ['merge', '-q', 'other'], { cwd: repo.root, env: gitEnv });
});

afterAll(async () => {
  await browser?.close();
  await memory.close();
  await server.close();
});

test('the operations list both versions of a conflict, and refuse a record without one', async () => {
  const { body } = await server.ask('GET', '/memory/conflicts');
  expect(body).toEqual({
    conflicts: [
      {
        path,
        ours: expect.stringContaining('four spaces'),
        theirs: expect.stringContaining('two spaces'),
      },
    ],
  });
  expect((await server.ask('GET', '/memory/home')).body.conflicts).toEqual([path]);
  const wrong = await server.ask('POST', '/memory/resolve', { body: { ours: ['other.md'] } });
  expect(wrong.status).toBe(400);
  const secret = { texts: { [path]: `---\ntitle: x\n---\nghp_${'a1B2'.repeat(9)}\n` } };
  const refused = await server.ask('POST', '/memory/resolve', { body: secret });
  expect(refused.status).toBe(400);
  expect(server.repo.git('ls-files', '-u')).not.toBe('');
  expect(JSON.stringify(wrong.body)).toContain('not in conflict');
});

deep('the page shows both versions, and resolves with the text that a person writes', async () => {
  const page = await browser?.newPage();
  if (!page) return;
  const bad = new Misbehaviour(page, server.url);
  await page.goto(`${server.url}/view/`);
  await page.getByRole('link', { name: 'Resolve the conflicts' }).click();
  await page.getByText('We indent by four spaces.').waitFor();
  await page.getByText('<script>alert(1)</script> We indent by two spaces.').waitFor();
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect({ colorScheme, found: await findViolations(page) }).toEqual({ colorScheme, found: [] });
  }
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('Choose a side.').waitFor();
  await page.getByLabel('A text of my own').check();
  const own = page.getByLabel(`My own text: ${path}`);
  const text = await own.inputValue();
  await own.fill('no front matter');
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByRole('alert').getByText('front matter').waitFor();
  await own.fill(text.replace('four spaces', 'two spaces, four in Python'));
  // A reload does not lose it.
  await page.reload();
  await page.getByText(`You have a draft of your own text of ${path}`).waitFor();
  await page.getByRole('button', { name: 'Continue the draft' }).click();
  expect(await own.inputValue()).toContain('four in Python');
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Resolve' }).click();
  await page.getByText('No record is in conflict.').waitFor();
  await page.getByText('git merge --continue').waitFor();
  expect(await page.evaluate('Object.keys(localStorage).join()')).not.toContain('draft');
  expect(server.repo.git('ls-files', '-u')).toBe('');
  expect(server.repo.read(`.memory-bank/${path}`)).toContain('four in Python');
  // The browser itself reports the text that was refused.
  expect(bad.found).toEqual([expect.stringContaining('400')]);
  await page.close();
});
