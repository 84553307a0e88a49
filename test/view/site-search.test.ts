import { readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordData } from '../../src/server/page/answers.ts';
import { walkAround } from '../support/around-page.ts';
import { findViolations } from '../support/axe.ts';
import { copyAndServer } from '../support/copy-and-server.ts';
import { deep, isFull } from '../support/depth.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';
import { partsOf, Sites } from '../support/site.ts';

const repo = Repo.create();
const memory = new Served(repo);
const sites = await Sites.of(repo);
const queue = 'Use a queue of the broker';

beforeAll(async () => {
  await fillRealistic((tool, args) => memory.call(tool, args), repo.root);
  await memory.write('retry', 'Three times, then the job is dead.');
  repo.write('src/queue.ts', 'export const queue = 1;\n');
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Add the queue');
  memory.actAs('claude-code/2');
  await memory.call('log_decision', {
    title: queue,
    context: 'The table of jobs was locked for minutes.',
    decision: 'Jobs go through a queue of the broker.',
    alternatives: ['A table that is polled'],
    consequences: ['The broker must run everywhere.'],
    evidence: ['src/queue.ts:1'],
  });
  memory.actAs(undefined);
  repo.write('src/queue.ts', 'export const queue = 2;\n');
  repo.git('commit', '-qam', 'Change the queue');
});

afterAll(async () => {
  await sites.close();
  await memory.close();
  repo.remove();
});

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const keyLine = 'AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4zzz';
const record = '.memory-bank/knowledge/patterns/deploy.md';

deep('a copy has no credential and no folder of the machine, also of older states', async () => {
  const text = readFileSync(join(repo.root, '.memory-bank/knowledge/patterns/retry.md'), 'utf8');
  const secrets = [
    `The token is ${token}.`,
    `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0B'.repeat(2)}\n${keyLine}\n-----END PRIVATE KEY-----`,
  ].join('\n\n');
  const commit = (value: string, message: string) => {
    repo.write(record, text.replace('Three times', value).replaceAll('retry', 'deploy'));
    repo.git('add', '-A');
    repo.git('commit', '-qm', message);
  };
  commit(`${secrets}\n\nRun it in ${repo.root}/deploy as ${homedir()}/ada.`, 'Deploy');
  commit('By hand.', `Rotate ${token}`);
  const several = partsOf(await sites.files());
  const { log, record: now } = several['records-0']?.[record.replace('.memory-bank/', '')] ?? {};
  expect(log?.entries.map(({ commit }) => commit.subject)).toEqual([
    'Rotate [a GitHub token]',
    'Deploy',
  ]);
  expect(now?.text).toContain('By hand.');
  const all = JSON.stringify(several);
  // The old state is there, without its secrets.
  expect(all).toContain('The token is [a GitHub token].');
  expect(all).toContain('Run it in ./deploy as ~/ada.');
  for (const secret of [token, keyLine, repo.root, homedir(), tmpdir()]) {
    expect(all).not.toContain(secret);
  }
});

test('a copy finds what the window finds, in the same order', async () => {
  const { server, copy, close } = await copyAndServer(repo, await sites.files());
  for (const args of [
    { query: 'queue' },
    { query: 'why a queue of the broker' },
    { query: 'polled table' },
    { query: 'bill somebody two times' },
    { query: 'idempotent payments' },
    { query: 'idempotnt' },
    { query: 'card', toolset: 'graph' },
    { query: 'card', toolset: 'graph', type: 'task' },
    { query: 'queue', maker: 'agent' },
    { query: 'queue', maker: 'person' },
    { query: 'card', agent: 'Ada Lovelace' },
    { query: 'card', after: '2999-01-01' },
    { query: 'of the b', exact: 'true' },
    { query: '→', exact: 'true' },
    { query: 'qqqq' },
  ]) {
    expect({ args, ...(await copy.find(args)) }).toEqual({ args, ...(await server.find(args)) });
  }
  await close();
});

test('a copy has the past states of the window, and the same differences of any two', async () => {
  const grown = '.memory-bank/knowledge/patterns/grown.md';
  const text = readFileSync(join(repo.root, grown.replace('grown', 'retry')), 'utf8');
  const first = text.replaceAll('retry', 'grown');
  for (const state of [
    first,
    `${first}\nA list:\n\n- one\n- two\n`,
    `${first}\nA list:\n\n- one\n- 2\n`.replaceAll('\n', '\r\n'),
    '---\ncategory: [\n---\nNot a record.\n',
    undefined,
    first.replace('Three', 'Four'),
  ]) {
    if (state === undefined) repo.git('rm', '-q', grown);
    else repo.write(grown, state);
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'Change a record by hand');
  }
  const { server, copy, close } = await copyAndServer(repo, await sites.files());
  const outcome = async (answer: () => Promise<RecordData>) => {
    const { links: _, ...state } = await answer().catch(() => ({ links: 'no record' }));
    return state;
  };
  let compared = 0;
  for (const { path, past } of copy.pasts) {
    // The window of the person who has committed a credential shows it.
    if (record.endsWith(path)) continue;
    const commits = past.log.entries.map(({ commit }) => commit.oid);
    for (const [i, to] of commits.entries()) {
      const copied = await outcome(async () => past.read(to.slice(0, 12)));
      expect(copied).toEqual(await outcome(() => server.read(path, to)));
      for (const from of commits.slice(i + 1)) {
        const { changes } = await server.compare(path, from, to);
        // The page names the record already.
        expect(past.compare(from, to)).toEqual(changes.map(({ title: _, ...change }) => change));
        compared++;
      }
    }
  }
  expect(compared).toBeGreaterThan(15);
  await close();
});

describe.skipIf(isFull && !sites.hasBrowser)('a copy from a file', () => {
  const hitsOf = (page: Page) => page.locator('.hits > li');

  deep('finds with filters, and opens a hit at its section with the words marked', async () => {
    await sites.visit(await sites.write(), async (page) => {
      await page.getByText('Copy of main').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('broker queue');
      const hit = hitsOf(page).filter({ hasText: 'decisionLog.md' }).first();
      await hit.getByText('Jobs go through a queue of the broker.').waitFor();
      await hit.getByText(/by claude-code \(agent\), not confirmed/).waitFor();
      await hit.getByText(/src\/queue\.ts/).waitFor();
      await page.getByRole('combobox', { name: 'by', exact: true }).selectOption('any person');
      await page.getByText('Jobs go through').waitFor({ state: 'detached' });
      await page.getByRole('combobox', { name: 'by', exact: true }).selectOption('claude-code');
      await expect.poll(() => hitsOf(page).count()).toBe(1);
      await page.getByRole('combobox', { name: 'kind', exact: true }).selectOption('task');
      await page.getByText(/ in \d+ task records, with these filters/).waitFor();
      await page.getByRole('link', { name: 'Search without filters' }).click();
      await hit.getByRole('link', { name: /^Use a queue/ }).click();
      const heading = page.getByRole('heading', { name: /^Use a queue/ });
      await heading.waitFor();
      await expect.poll(() => heading.evaluate((one) => one.matches(':focus'))).toBe(true);
      const marked = await page.evaluate('[...CSS.highlights.get("found")].map(String)');
      expect(marked).toContain('broker');
      expect(await findViolations(page)).toEqual([]);
    });
  });

  deep('shows past states of a record, and compares two of them', async () => {
    const path = 'knowledge/project-learnings/provider-timeout.md';
    await sites.visit(`${await sites.write('memory.html')}#/record/${path}`, async (page) => {
      const state = await page.getByText('Copy of main').innerText();
      await page.getByRole('link', { name: 'History' }).click();
      await page.getByText('2 states').waitFor();
      const added = page.locator('.diff .added, ins', { hasText: 'now waits for 60' }).first();
      await added.waitFor();
      await page
        .getByRole('radio', { name: /^Compare to/ })
        .nth(1)
        .check();
      await page.getByText('Both states are equal.').waitFor();
      await page
        .getByRole('radio', { name: /^Compare from/ })
        .first()
        .check();
      await page.locator('.diff .removed, del', { hasText: 'now waits for 60' }).first().waitFor();
      await page.locator('table.history a').nth(1).click();
      await page.getByText('You see the record as of').waitFor();
      await page.getByText(state, { exact: true }).waitFor();
      await page.getByText('gives up after 30').first().waitFor();
      expect(await page.getByText('now waits for 60').count()).toBe(0);
      expect(await page.getByRole('link', { name: 'Lines' }).count()).toBe(0);
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole('link', { name: /present/ }).click();
      await page.getByText('now waits for 60').first().waitFor();
    });
  });

  deep(
    'answers what a record rests on and what rests on it, as a picture and as lists',
    async () => {
      const objective = 'graph/objectives/idempotent-payments.yaml';
      await sites.visit(`${await sites.write()}#/record/${objective}`, async (page) => {
        await walkAround(page);
        await page.getByRole('link', { name: 'The whole graph' }).click();
        await page.getByRole('region', { name: 'List of the graph' }).waitFor();
      });
    },
  );

  deep('draws characters that turn a text as marks, in a record and in a hit', async () => {
    await memory.write('turned', 'Pay \u202eevil\u202c <script>alert(1)</script> at once.');
    await sites.visit(`${await sites.write()}#/search?q=pay+once`, async (page) => {
      const hit = hitsOf(page).filter({ hasText: 'patterns/turned.md' });
      await hit.getByText('U+202E').first().waitFor();
      await hit.getByRole('link', { name: /^turned/ }).click();
      await page.locator('.markdown .code-point').first().waitFor();
      await page.getByRole('alert').filter({ hasText: 'hidden character' }).waitFor();
      expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e]/);
      expect(await page.locator('main script').count()).toBe(0);
    });
  });
});
