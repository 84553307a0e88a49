import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unpackState } from '../../src/app/exchange/copied-states.ts';
import { presentState, unpackRecord } from '../../src/server/copy/record-in-copy.ts';
import { findViolations } from '../support/axe.ts';
import { deep, isFull } from '../support/depth.ts';
import { fillHostile } from '../support/hostile-memory.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';
import { partsOf, Sites } from '../support/site.ts';

const repo = Repo.create();
const memory = new Served(repo);
const sites = await Sites.of(repo);

beforeAll(async () => {
  await memory.write('first', 'The first text.');
  if (isFull) {
    await fillRealistic((tool, args) => memory.call(tool, args), repo.root);
    await fillHostile(memory);
  }
  repo.git('switch', '-q', '-c', 'idea');
  await memory.write('learnt', 'Only the branch knows it.');
  repo.git('switch', '-q', 'main');
  await memory.write('first', 'The **second** text.');
});

afterAll(async () => {
  await sites.close();
  await memory.close();
  repo.remove();
});

const copy = (single?: string) => sites.write(single, ['idea']);
const visit: Sites['visit'] = (address, work) => sites.visit(address, work);

test('a copy has all records with their history, and no part that ends a script early', async () => {
  const several = await sites.files();
  expect([...several.keys()].sort()).toEqual([
    'data/base.js',
    'data/links.js',
    'data/log.js',
    'data/page.js',
    'data/records-0.js',
    'data/states-0.js',
    'data/vectors.js',
    'data/words.js',
    'icon.svg',
    'index.html',
    'page.js',
    'style.css',
  ]);
  const path = 'knowledge/patterns/first.md';
  const { 'records-0': records, 'states-0': states } = partsOf(several);
  const packed = records?.[path];
  const { record, blame, log } = packed ? unpackRecord(packed) : expect.fail();
  expect(record?.html).toContain('<strong>second</strong>');
  expect(blame?.lines.map(({ text }) => text).join('')).toBe(record?.text);
  expect(blame?.lines.length).toBeGreaterThan(1);
  expect(log.total).toBe(2);
  const texts = [0, 1].map((place) => {
    return unpackState(record && presentState(record), states?.[path] ?? [], place)?.body?.trim();
  });
  expect(texts).toEqual(['The **second** text.', 'The first text.']);
  const one = await sites.files('memory.html');
  const html = one.get('memory.html') ?? '';
  expect(html.match(/<script/g)).toHaveLength([...several.keys()].length - 4 + 1);
});

test('a copy has nothing that nobody accepted, unless it is asked for by name', async () => {
  const text = async (...branches: readonly string[]) =>
    JSON.stringify(partsOf(await sites.files(undefined, branches)));
  repo.write('code.ts', 'a\nb\nc\n');
  repo.git('add', 'code.ts');
  repo.git('commit', '-qm', 'Write code');
  const evidence = ['code.ts:1-3'];
  memory.actAs('agent/1');
  await memory.call('log_decision', { title: 'T', context: 'C', decision: 'D', evidence });
  memory.actAs(undefined);
  repo.write('code.ts', 'a\nB\nc\n');
  const author = 'Carl Coder <carl@secret.example>';
  repo.git('commit', '-qam', 'Change code', '--author', author);
  repo.git('switch', '-q', '-c', 'memory-review/agent-1');
  await memory.write('proposed', 'Nobody has accepted it.');
  repo.git('switch', '-q', 'main');
  const plain = await text();
  expect(plain).toContain('Carl Coder');
  expect(plain).toContain('The **second** text.');
  for (const secret of ['learnt', 'proposed', 'memory-review/agent-1', '@secret', '@example']) {
    expect(plain).not.toContain(secret);
  }
  // The count is of this clone, in which a reader of the copy can mark nothing.
  expect(plain).not.toContain('"unreviewed"');
  const idea = await text('idea');
  expect(idea).toContain('learnt');
  expect(idea).not.toContain('proposed');
  expect(await text('memory-review/agent-1')).toContain('proposed');
  await expect(text('nowhere')).rejects.toMatchObject({ code: 'not_found' });
});

describe.skipIf(isFull && !sites.hasBrowser)('a copy in a browser, from a file', () => {
  deep.each([undefined, 'memory.html'])('has every page and is harmless: %s', async (single) => {
    const address = await copy(single);
    await visit(address, async (page) => {
      await page.getByText('Copy of main').waitFor();
      await page.getByRole('link', { name: 'Timeline' }).click();
      await page.getByText('initialize memory bank').first().waitFor();
      await page
        .getByRole('link', { name: /patterns\/first\.md$/ })
        .first()
        .click();
      await page.locator('.diff .added, ins', { hasText: '**second**' }).waitFor();
      await page.getByRole('link', { name: 'Page', exact: true }).click();
      await page.locator('article strong', { hasText: 'second' }).waitFor();
      expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Lines' }).click();
      await page.getByRole('cell', { name: 'Ada Lovelace' }).first().waitFor();
      await page.reload();
      await page.getByRole('cell', { name: 'Ada Lovelace' }).first().waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'Branches' }).click();
      await page.getByRole('link', { name: 'idea' }).click();
      await page.locator('.change', { hasText: 'learnt' }).waitFor();
      // Only main has changed the record "first".
      expect(await page.locator('.change').count()).toBe(1);
      expect(await page.getByRole('button', { name: 'Accept' }).count()).toBe(0);
      await page.keyboard.press('/');
      await page.getByRole('searchbox').fill('idempot');
      await page
        .locator('mark', { hasText: /^idempotent$/ })
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Graph' }).click();
      await page.locator('svg.graph').getByRole('link').first().waitFor();
      await page.getByRole('link', { name: 'Tasks' }).click();
      await page.getByText('Store the answer of the provider for a day').waitFor();
      expect(await findViolations(page)).toEqual([]);
    });
    await visit(address, async (page) => {
      for (const path of repo.git('ls-files', '.memory-bank').split('\n').filter(Boolean)) {
        const record = path.replace('.memory-bank/', '').split('/').map(encodeURIComponent);
        for (const view of ['', '?show=source', '?show=history', '?show=lines']) {
          await page.goto(`${address}#/record/${record.join('/')}${view}`);
          await page.locator('main h1').first().waitFor();
          await page.locator('.loading').waitFor({ state: 'detached' });
          const inserted = page.locator(
            'main :is(script, img, svg, iframe, style, base, form, object, [onclick], [onerror])',
          );
          expect(await inserted.count()).toBe(0);
        }
      }
    });
  });
});

deep('a copy leads to sections, and back to the place before', async () => {
  await memory.write('target', `## A part\n\n${'Long.\n\n'.repeat(99)}## Another part\n\nShort.`);
  const address = await copy('places.html');
  const record = `${address}#/record/knowledge/patterns/target.md`;
  await visit(address, async (page) => {
    await page.getByText('Copy of main').waitFor();
    await page.goto(`${record}?section=another-part`);
    const focused = () => page.evaluate('document.activeElement.innerText');
    await expect.poll(focused).toMatch(/^Another part/);
    const before = Number(await page.evaluate('scrollY'));
    expect(before).toBeGreaterThan(500);
    await page.evaluate("document.querySelector('header nav a[href*=tasks]').click()");
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await expect.poll(() => page.evaluate('scrollY')).toBe(before);
    await page.getByRole('link', { name: 'Link to the section A part' }).click();
    await expect.poll(focused).toMatch(/^A part/);
    expect(page.url()).toBe(`${record}?section=a-part`);
  });
});

deep('memory-bank export site writes a folder or one page, and asks for a place', () => {
  const folder = newFolder();
  const run = (...args: string[]) =>
    runProgram(repo.root, ['export', 'site', ...args], { env: { ...gitEnv, HOME: folder } });
  expect(run().stderr).toContain('Give a folder');
  expect(run(join(folder, 'site')).status).toBe(0);
  expect(readFileSync(join(folder, 'site/index.html'), 'utf8')).toContain('data-copy');
  expect(run(join(folder, 'site')).stderr).toContain('--force');
  expect(run(join(folder, 'memory.html')).status).toBe(0);
  expect(readFileSync(join(folder, 'memory.html'), 'utf8')).toContain('part-base');
});
