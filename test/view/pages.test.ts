import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundlePage } from '../../build.js';
import { openMemory } from '../../src/app/library.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { Misbehaviour, startBrowser } from '../support/browser.ts';
import { deep } from '../support/depth.ts';
import { type Served as HttpServed, key, serve } from '../support/http.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { fillRealistic } from '../support/realistic-memory.ts';
import { Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

const token = 'token-of-the-tests';
const browser: Browser | undefined = await startBrowser();
if (!browser) console.warn('There is no browser: the tests of the pages are skipped.');

/** The folder of the records of the user. */
const userFolder = newFolder();

let server: HttpServed;
let memory: Served;
let session: BrowserContext | undefined;

beforeAll(async () => {
  const folder = newFolder();
  await bundlePage(folder);
  const face = viewFace({ folder, version: '0.0.0', token });
  server = await serve({ personKeys: [key] }, { homeFolder: userFolder }, {}, face);
  memory = new Served(server.repo);
  await fillRealistic((tool, args) => memory.call(tool, args), server.repo.root);
});

afterAll(async () => {
  await browser?.close();
  await memory.close();
  await server.close();
});

/** Runs a test with a page of the session, which the link with the token opens first. */
async function visit(
  path: string,
  work: (page: Page) => Promise<void>,
  expected: readonly unknown[] = [],
): Promise<void> {
  if (!browser) throw new Error('There is no browser.');
  if (!session) {
    session = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' });
    const first = await session.newPage();
    await first.goto(`${server.url}/view?token=${token}`);
    expect(first.url()).toBe(`${server.url}/view/`);
    await first.close();
  }
  const page = await session.newPage();
  const bad = new Misbehaviour(page, server.url);
  await page.goto(server.url + path);
  await work(page);
  expect(bad.found).toEqual(expected);
  await page.close();
}

/** Makes a bank of the user, unless there is one. */
async function openGlobalBank(): Promise<void> {
  const own = await openMemory({ root: server.repo.root, home: userFolder });
  await own.call('activate', { bank_type: 'global', bank_id: 'general' });
  await own.close();
}

describe('the session of the pages', () => {
  test('begins with a token that works once, and has a cookie that no script reads', async () => {
    const face = viewFace({ folder: newFolder(), version: '0.0.0', token });
    const other = await serve({ cookie: 'view_1' }, {}, {}, face);
    const enter = (given: string) =>
      fetch(`${other.url}/view?token=${given}`, { redirect: 'manual' });
    expect((await enter('wrong')).headers.get('set-cookie')).toBeNull();
    const first = await enter(token);
    const [page, secret = ''] = first.headers.get('location')?.split('#session=') ?? [];
    expect(page).toBe('/view/');
    const cookie = first.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^view_1=.*HttpOnly; SameSite=Strict$/);
    expect((await enter(token)).headers.get('set-cookie')).toBeNull();
    const stolen = { cookie: cookie.split(';')[0] ?? '' };
    const headers = { ...stolen, 'x-memory-page': secret };
    const home = async (sent: Record<string, string>) =>
      (await fetch(`${other.url}/memory/home`, { headers: sent })).status;
    expect(await home(headers)).toBe(200);
    expect(await home({})).toBe(401);
    // The browser sends the cookie to every server of this host, whatever its port.
    expect(await home(stolen)).toBe(401);
    expect(await home({ ...stolen, 'x-memory-page': '1' })).toBe(401);
    const change = (more: Record<string, string>) =>
      fetch(`${other.url}/memory/restore`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', ...more },
        body: '{"path":"a.md","revision":"HEAD"}',
      });
    // Another site cannot hide that it is another one.
    expect((await change({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await change({ origin: 'http://evil.example' })).status).toBe(403);
    expect((await change({})).status).toBe(404);
    // A page that is still open does not keep the server from ending.
    const stream = await fetch(`${other.url}/memory/events`, { headers });
    expect(stream.headers.get('content-type')).toMatch('text/event-stream');
    await other.close();
    expect(await stream.text()).toMatch(/^:/);
  });

  test('is not needed for the files of the pages, which allow nothing foreign', async () => {
    for (const path of ['/view', '/view/', '/view/record/a.md', '/view/page.js']) {
      const { status, headers } = await fetch(server.url + path);
      expect(status).toBe(200);
      expect(headers.get('content-security-policy')).toBe(
        "script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
    }
  });
});

describe('the operations of the pages', () => {
  test('count the commits of agents until a person marks them as reviewed', async () => {
    const home = async () => (await server.ask('GET', '/memory/home')).body;
    expect(await home()).not.toHaveProperty('unreviewed');
    memory.actAs('fast-coder/2.0');
    await memory.write('by-an-agent', 'The first.');
    await memory.write('by-an-agent', 'The second.');
    memory.actAs(undefined);
    const { unreviewed, commit } = await home();
    const agents = [{ name: 'fast-coder', count: 2 }];
    expect(unreviewed).toMatchObject({ count: 2, agents, until: commit.oid });
    expect(unreviewed.from).toBe(memory.repo.git('rev-parse', 'HEAD~2').trim());
    const marked = await server.ask('POST', '/memory/reviewed', { body: { commit: 'HEAD~1' } });
    expect(marked.body).toMatchObject({ commit: memory.repo.git('rev-parse', 'HEAD~1').trim() });
    expect((await home()).unreviewed).toMatchObject({ count: 1, from: marked.body.commit });
    await server.ask('POST', '/memory/reviewed', { body: { commit: 'HEAD' } });
    expect(await home()).not.toHaveProperty('unreviewed');
    expect(memory.head()).toBe(commit.oid);
    const nowhere = await server.ask('POST', '/memory/reviewed', { body: { commit: 'nowhere' } });
    expect(nowhere.status).toBe(404);
  });

  deep('say where they count only the newest commits', async () => {
    const other = await serve(
      { personKeys: [key] },
      {},
      {},
      viewFace({ folder: newFolder(), version: '0.0.0', token }),
    );
    const agent = new Served(other.repo);
    agent.actAs('fast-coder/2.0');
    const write = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) => agent.write(`entry-${from + i}`, 'A text.')),
      );
    const home = async () => {
      // It reads the whole history, so that no time limit ends the count.
      await other.ask('GET', '/memory/activity');
      return (await other.ask('GET', '/memory/home')).body;
    };
    await write(0, 1);
    await other.ask('POST', '/memory/reviewed', { body: { commit: 'HEAD' } });
    const marked = agent.head();
    await write(1, 150);
    const known = await home();
    expect(known.unreviewed).toMatchObject({ count: 149, from: marked });
    expect(known.unreviewed).not.toHaveProperty('isPart');
    await write(150, 300);
    // The mark is older than all that are counted: the review begins with it all the same.
    const { unreviewed } = await home();
    expect(unreviewed).toMatchObject({ isPart: true, from: marked });
    expect(unreviewed.count).toBeLessThan(299);
    await agent.close();
    await other.close();
  });

  test('return one section of a record, in the form that a search names it', async () => {
    const body = '# Log\n\n## Database\n\nPostgres\n\n## Queue - 2026-01-31\n\nRedis\n';
    memory.repo.write('.memory-bank/sections.md', body);
    const ask = (section: string) =>
      server.ask('GET', `/memory/record/sections.md?section=${encodeURIComponent(section)}`);
    expect((await ask('Log > Database')).body).toMatchObject({
      path: 'sections.md',
      text: '## Database\n\nPostgres\n\n',
      html: expect.stringMatching(/^<h2.*Postgres/s),
    });
    expect((await ask('queue')).body.html).not.toContain('Postgres');
    const unknown = await ask('Queues');
    expect(unknown.status).toBe(400);
    expect(JSON.stringify(unknown.body)).toContain('Log > Queue - 2026-01-31');
    rmSync(memory.repo.path('.memory-bank/sections.md'));
  });

  test('change fields under the schema of the record, and no other field', async () => {
    const path = 'knowledge/user-preferences/small-commits.md';
    const { body } = await server.ask('GET', `/memory/form/${path}`);
    const names = body.controls.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['value', 'reason', 'context', 'metadata']));
    expect(names).not.toContain('key');
    // The text of the file can have lines, also if it has one only so far.
    expect(body.controls).toContainEqual(expect.objectContaining({ name: 'value', kind: 'text' }));
    const save = (fields: object) =>
      server.ask('POST', '/memory/record', { body: { path, before: body.text, fields } });
    for (const fields of [{ value: 7 }, { key: 'other' }, { created_at: '' }, { nonsense: 1 }]) {
      expect((await save(fields)).status).toBe(400);
    }
    expect((await save({ reason: 'Reviews are easier.' })).body).toMatchObject({ saved: true });
    expect(memory.repo.git('show', `HEAD:.memory-bank/${path}`)).toContain('Reviews are easier.');
    // The text before is not the present one any more.
    expect((await save({ reason: 'Another.' })).body).toMatchObject({
      saved: false,
      fields: { reason: 'Reviews are easier.' },
    });
  });

  test('list records with their bank, category or type of document', async () => {
    const groups = async (toolset: string) => {
      const { body } = await server.ask('GET', `/memory/records?toolset=${toolset}`);
      return body.records.map(({ group }: { group?: string }) => group);
    };
    expect(await groups('documents')).toEqual(['design_doc']);
    expect(await groups('knowledge')).toContain('project-learnings');
  });

  test('list the global banks of the user, which are in no project', async () => {
    const list = async () => (await server.ask('GET', '/memory/user-records')).body.records;
    expect(await list()).toEqual([]);
    await openGlobalBank();
    const records = await list();
    expect(records).toContainEqual(
      expect.objectContaining({
        path: 'banks/global/general/context.md',
        type: 'bank-document',
        group: 'global/general',
      }),
    );
    expect((await server.ask('GET', '/memory/user-records?toolset=graph')).body.records).toEqual(
      [],
    );
    const { path } = records[0];
    expect((await server.ask('GET', `/memory/user-record/${path}`)).body).toMatchObject({ path });
    const missing = await server.ask('GET', '/memory/user-record/banks/global/none/context.md');
    expect(missing.status).toBe(404);
    expect((await server.ask('GET', `/memory/record/${path}`)).status).toBe(404);
    const { body: own } = await server.ask('GET', '/memory/records?limit=1000');
    expect(JSON.stringify(own)).not.toContain('banks/global');
  });

  test('list the modes as the rule files of a past state define them', async () => {
    const { repo } = server;
    const rule = (mode: string) =>
      JSON.stringify({
        mode,
        instructions: { general: ['Go.'] },
      });
    repo.write('.memory-bank/rules/reviewer.json', rule('reviewer'));
    repo.write('.clinerules-writer', rule('writer'));
    repo.write('.memory-bank/rules/broken.json', '{');
    repo.git('add', '.memory-bank/rules', '.clinerules-writer');
    repo.git('commit', '-q', '-m', 'Add modes');
    repo.git('rm', '-q', '-r', '.memory-bank/rules', '.clinerules-writer');
    repo.git('commit', '-q', '-m', 'Remove modes');
    const modes = async (query: string) =>
      (await server.ask('GET', `/memory/modes${query}`)).body as {
        modes: { name: string; source: string }[];
        skipped: { path: string }[];
      };
    const then = await modes('?at=HEAD~1');
    expect(then.modes.map(({ name, source }) => `${name} ${source}`)).toEqual(
      expect.arrayContaining([
        'architect built-in',
        'reviewer .memory-bank/rules/reviewer.json',
        'writer .clinerules-writer',
      ]),
    );
    expect(then.skipped).toMatchObject([{ path: '.memory-bank/rules/broken.json' }]);
    expect(await modes('?at=HEAD')).toEqual(await modes(''));
    expect((await modes('')).modes.map(({ name }) => name)).not.toContain('reviewer');
    expect((await server.ask('GET', '/memory/modes?at=nowhere')).status).toBe(404);
  });

  test('filter and count all commits', async () => {
    const log = async (query: string) => (await server.ask('GET', `/memory/log?${query}`)).body;
    const all = await log('limit=1');
    memory.actAs('rare-agent/1.0');
    await memory.write('rare', 'Only once.');
    memory.actAs(undefined);
    expect(await log('agent=rare-agent')).toMatchObject({
      total: 1,
      entries: [{ changes: [{ path: 'knowledge/patterns/rare.md' }] }],
    });
    expect(await log('toolset=documents')).toMatchObject({ total: 1 });
    expect(await log('toolset=nonsense')).toMatchObject({ total: 0 });
    expect(await log('path=decisionLog.md&agent=rare-agent')).toMatchObject({ total: 0 });
    expect(await log('before=2001-01-01')).toMatchObject({ total: 0 });
    expect(await log('path=graph/features&before=2001-01-01')).toMatchObject({ total: 0 });
    expect((await server.ask('GET', '/memory/log?path=graph/nowhere')).status).toBe(404);
    expect(await log('after=2001-01-01')).toMatchObject({ total: all.total + 1 });
    const { body } = await server.ask('GET', '/memory/activity');
    expect(body.agents).toContainEqual({ name: 'rare-agent', count: 1 });
    const sum = body.days.reduce((all: number, day: { count: number }) => all + day.count, 0);
    expect(sum).toBe(all.total + 1);
    await server.ask('POST', '/memory/reviewed', { body: { commit: 'HEAD' } });
  });

  test('report a change since the commit that a page began with', async () => {
    const first = async (since: string) => {
      const stream = await fetch(`${server.url}/memory/events?since=${since}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const reader = stream.body?.getReader();
      let text = '';
      const deadline = new Promise<undefined>((resolve) => {
        setTimeout(() => resolve(undefined), 60_000).unref();
      });
      while (reader && !text.includes('data:')) {
        const piece = await Promise.race([reader.read(), deadline]);
        if (!piece?.value) break;
        text += new TextDecoder().decode(piece.value);
      }
      await reader?.cancel();
      return text;
    };
    expect(await first(memory.repo.git('rev-parse', 'HEAD~3').trim())).toContain('data:');
  });

  test('need no page: a program reads them with its key', async () => {
    const { body } = await server.ask('GET', '/memory/log?path=decisionLog.md&limit=1');
    expect(body).toMatchObject({ total: 2, entries: [{ changes: [{ path: 'decisionLog.md' }] }] });
    expect((await server.ask('GET', '/memory/log?limit=x')).status).toBe(400);
    expect((await server.ask('GET', '/memory/home?at=nowhere')).status).toBe(404);
  });
});

describe.skipIf(!browser)('the pages in a browser', () => {
  test('show what matters now, and a record', () =>
    visit('/view/', async (page) => {
      await page.getByText('in_progress: Store the answer of the provider').waitFor();
      await page.getByText('The order number is the idempotency key').first().waitFor();
      await page.getByRole('link', { name: 'Decision Log bank-file' }).click();
      await page.getByRole('heading', { name: 'Alternatives Considered' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/view/record/decisionLog.md');
    }));

  deep('link a record with those that it names and that name it', () =>
    visit('/view/records?type=task', async (page) => {
      await page.getByRole('link', { name: /^Store the answer/ }).click();
      await page.getByRole('link', { name: /^Make payments idempotent/ }).click();
      await page.getByRole('heading', { name: 'Linked from' }).waitFor();
      await page.getByRole('link', { name: /^Payment/ }).waitFor();
      expect(await page.locator('main').getByRole('link', { name: 'task' }).count()).toBe(3);
      await page.goBack();
      await page.getByRole('heading', { name: /^Store the answer/ }).waitFor();
    }),
  );

  deep('render markdown, with links to pages and links out', () =>
    visit('/view/search?q=One+order', async (page) => {
      await page.getByRole('link', { name: 'How a payment works document' }).click();
      await page.getByRole('cell', { name: 'reserve' }).waitFor();
      const out = page.getByRole('link', { name: 'the provider' });
      expect(await out.getAttribute('rel')).toBe('noopener noreferrer nofollow');
      expect(await out.getAttribute('target')).toBe('_blank');
      await page
        .getByRole('tab')
        .or(page.getByRole('link', { name: 'Source' }))
        .click();
      await page.getByText('**One order, one payment.**').waitFor();
    }),
  );

  deep('compare two states, show the author of each line, and restore one', () =>
    visit('/view/record/knowledge/project-learnings/provider-timeout.md', async (page) => {
      await page.getByText('the proxy now waits for 60').waitFor();
      await page.getByRole('link', { name: 'Lines' }).click();
      await page.getByRole('cell', { name: 'Ada Lovelace' }).first().waitFor();
      await page.getByRole('link', { name: 'History' }).click();
      await page.locator('.diff .removed, del').first().waitFor();
      await page.locator('.differences del', { hasText: 'gives up' }).first().waitFor();
      const before = memory.head();
      await page.getByRole('button', { name: 'Restore' }).last().click();
      await page.getByRole('button', { name: 'Restore as a new commit' }).click();
      await page.getByText('3 states').waitFor();
      const message = server.repo.git('log', '-1', '--format=%an%n%B');
      expect(message).toMatch(/^Ada Lovelace\nmemory: restore/);
      expect(message).toContain('Memory-Tool: restore_record');
      expect(message).toContain('Memory-Agent: memory-bank-view/0.0.0');
      expect(server.repo.git('rev-parse', 'HEAD~1').trim()).toBe(before);
      await page.getByRole('link', { name: 'Page', exact: true }).click();
      await page.getByText('our proxy gives up after 30').waitFor();
    }),
  );

  deep('search as you type, and mark what was found', () =>
    visit('/view/', async (page) => {
      await page.getByText('Current work').waitFor();
      await page.keyboard.press('/');
      await page.getByRole('searchbox').pressSequentially('idempot');
      await page
        .locator('mark', { hasText: /^idempotent$/ })
        .first()
        .waitFor();
      expect(new URL(page.url()).search).toBe('?q=idempot');
      const others = page.locator('.hits > li', { hasText: 'bank-file' });
      expect(await others.count()).toBeGreaterThan(0);
      await page.getByRole('combobox', { name: 'kind', exact: true }).selectOption('all of graph');
      await expect.poll(() => others.count()).toBe(0);
      await page.getByText('Why this was found').first().click();
      await page.getByText('idempotent (another form) in').first().waitFor();
      await page
        .getByText(/^Score 0/)
        .first()
        .waitFor();
      await page.getByRole('combobox', { name: 'kind', exact: true }).selectOption('task');
      await expect.poll(() => new URL(page.url()).search).toContain('type=task');
      await page.locator('.hits .kind', { hasText: /^(?!task$)/ }).waitFor({ state: 'detached' });
    }),
  );

  deep('show a past state of every page, and a branch', () =>
    visit('/view/timeline', async (page) => {
      await page.getByText('create 3 features').waitFor();
      const entry = page.locator('.entry', { hasText: 'create 3 features' });
      await entry.getByRole('link', { name: 'state after it' }).click();
      await page.getByText('No decision is recorded yet.').waitFor();
      await page.getByRole('link', { name: 'feature 3' }).click();
      await page.getByRole('link', { name: /^Catalogue/ }).click();
      await page.getByText('Products, prices and stock').waitFor();
      expect(page.url()).toMatch(/\/record\/graph\/features\/catalogue.yaml\?at=[0-9a-f]{12}$/);
      await page.getByRole('link', { name: 'Show the present' }).click();
      await page.locator('.past').waitFor({ state: 'detached' });
    }),
  );

  deep('say what is wrong with a revision', () => {
    const failed = expect.stringContaining('404');
    return visit(
      '/view/?at=nowhere',
      async (page) => {
        await page.getByRole('alert').getByText('nowhere').waitFor();
        await page.getByLabel(/^State/).fill('main');
        await page.getByRole('button', { name: 'Show' }).click();
        await page.getByText('You see the memory as of main').waitFor();
      },
      // The browser itself reports the requests of the window and of its page.
      [failed, failed],
    );
  });

  deep('show a change of an agent without a reload', () =>
    visit('/view/', async (page) => {
      await page.getByText('Recent changes').waitFor();
      await memory.write('live', 'It appears by itself.');
      await page.getByText('remember "live"').waitFor();
    }),
  );

  deep('edit a record with a preview, and keep both texts of a conflict', async () => {
    await memory.write('edited', 'The first text.');
    const path = 'knowledge/patterns/edited.md';
    await visit(`/view/record/${path}?show=edit&as=text`, async (page) => {
      const text = page.getByLabel('Text', { exact: true });
      const saved = () => memory.repo.git('show', `HEAD:.memory-bank/${path}`);
      await text.fill((await text.inputValue()).replace('The first text.', 'A **better** text.'));
      await page.locator('section strong', { hasText: 'better' }).waitFor();
      await page.getByLabel(/^Why you change it/).fill('It was vague.');
      await page.getByRole('button', { name: 'Save as a commit' }).click();
      await page.locator('.edit').waitFor({ state: 'detached' });
      await page.locator('article strong', { hasText: 'better' }).waitFor();
      expect(saved()).toContain('A **better** text.');
      const message = memory.repo.git('log', '-1', '--format=%an%n%B');
      expect(message).toMatch(/^Ada Lovelace\nmemory: edit knowledge.*\n\nIt was vague\.\n/);

      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByRole('link', { name: 'Edit the text instead' }).click();
      await text.fill((await text.inputValue()).replace('better', 'person'));
      await memory.write('edited', 'The text of an agent.');
      await page.getByRole('button', { name: 'Save as a commit' }).click();
      await page.getByRole('alert').getByText('The text of an agent.').waitFor();
      expect(await text.inputValue()).toContain('A **person** text.');
      expect(saved()).toContain('The text of an agent.');
      await page.getByRole('button', { name: 'Save my text over it' }).click();
      await page.locator('.edit').waitFor({ state: 'detached' });
      await page.locator('article strong', { hasText: 'person' }).waitFor();
      expect(saved()).toContain('A **person** text.');

      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByRole('link', { name: 'Edit the text instead' }).click();
      await text.fill('no front matter');
      await page.getByRole('alert').getByText('front matter').waitFor();
      expect(await page.getByRole('button', { name: 'Save as a commit' }).isDisabled()).toBe(true);
    });
  });

  deep('edit the fields of a record by a form, and keep both changes of a conflict', async () => {
    await memory.write('form', 'The first text.');
    const path = 'knowledge/patterns/form.md';
    await visit(`/view/record/${path}?show=edit`, async (page) => {
      const saved = () => memory.repo.git('show', `HEAD:.memory-bank/${path}`);
      await page.getByLabel('value', { exact: true }).fill('A text by form.\nOf two lines.');
      // The schema allows an object only.
      await page.getByLabel('metadata, as JSON').fill('[1]');
      await page.getByRole('alert').getByText('metadata').waitFor();
      expect(await page.getByRole('button', { name: 'Save as a commit' }).isDisabled()).toBe(true);
      await page.getByLabel('metadata, as JSON').fill('{"source": "a person"}');
      await page.getByLabel(/^Why you change it/).fill('It was wrong.');
      await page.getByRole('button', { name: 'Save as a commit' }).click();
      await page.locator('.edit').waitFor({ state: 'detached' });
      expect(saved()).toContain('A text by form.\nOf two lines.');
      expect(saved()).toContain('source: a person');
      const message = memory.repo.git('log', '-1', '--format=%an%n%B');
      expect(message).toMatch(/^Ada Lovelace\nmemory: edit knowledge.*\n\nIt was wrong\.\n/);

      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      await page.getByLabel('reason', { exact: true }).fill('My own reason.');
      await memory.write('form', 'The text of an agent.');
      await page.getByLabel('value', { exact: true }).press('Control+Enter');
      const row = page.getByRole('row', { name: /^value/ });
      await row.getByText('The text of an agent.').waitFor();
      await row.getByText('not changed').waitFor();
      await page.getByRole('button', { name: 'Save my fields' }).click();
      await page.locator('.edit').waitFor({ state: 'detached' });
      expect(saved()).toContain('The text of an agent.');
      expect(saved()).toContain('My own reason.');
    });
  });

  deep('draw the graph, and go through it with the keyboard', () =>
    visit('/view/graph', async (page) => {
      const graph = page.locator('svg.graph');
      await graph.getByRole('link').first().waitFor();
      expect(await graph.getByRole('link').count()).toBe(9);
      // From the objective to its tasks and its feature, and from the feature to its requirements.
      expect(await graph.locator('.line').count()).toBe(7);
      await page.getByLabel('Find').fill('charge idempotent');
      await page.getByText('0 found').waitFor();
      await page.getByLabel('Find').fill('objective idempotent');
      await page.getByText('1 found').waitFor();
      await page.getByLabel('Find').press('Enter');
      await graph.locator('.matched[tabindex="0"]').waitFor();
      await graph.locator('.matched').focus();
      await page.keyboard.press('ArrowRight');
      await expect
        .poll(() =>
          page.evaluate(() => Reflect.get(globalThis, 'document').activeElement.textContent),
        )
        .toMatch(/ (task|feature)/);
      const before = await graph.getAttribute('viewBox');
      await page.keyboard.press('+');
      await expect.poll(() => graph.getAttribute('viewBox')).not.toBe(before);
      await page.keyboard.press('Enter');
      await page
        .getByRole('heading', { name: 'Linked from' })
        .or(page.getByRole('heading', { name: 'Links to' }))
        .first()
        .waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/view\/record\/graph\//);
    }),
  );

  deep('say which record names code that has changed', async () => {
    const { repo } = server;
    const file = join(repo.root, 'retry.ts');
    writeFileSync(file, 'export const retries = 3;\n');
    repo.git('add', 'retry.ts');
    repo.git('commit', '-q', '-m', 'Add retry.ts');
    await memory.write('retries', 'The number of retries is in `retry.ts:1`.');
    writeFileSync(file, 'export const attempts = 7;\n');
    await visit('/view/', async (page) => {
      const section = page.getByRole('region', { name: 'Needs a person' });
      await section.getByText('1 record: Its code has changed').click();
      await section.getByText(/^memory-bank verify .*retries\.md$/).waitFor();
      await section.getByRole('link', { name: /retries\.md$/ }).click();
      await page.getByRole('heading', { name: 'retries' }).waitFor();
      await page.getByRole('region', { name: 'Code has changed' }).waitFor();
    });
    repo.git('checkout', '-q', 'retry.ts');
  });

  deep('filter the timeline, and keep only what is near the window in the document', async () => {
    for (let i = 0; i < 120; i++) await memory.write(`many-${i}`, `value ${i}`);
    await visit('/view/timeline', async (page) => {
      await page.getByText('remember "many-119"').waitFor();
      await expect.poll(() => page.locator('.entry').count()).toBeLessThan(110);
      // More entries can arrive after a key, which lengthen the page.
      const showLast = async () => {
        await page.keyboard.press('End');
        await page.getByText('initialize memory bank').waitFor({ timeout: 2_000 });
      };
      await vi.waitFor(showLast, { timeout: 60_000 });
      await page.getByText('remember "many-119"').waitFor({ state: 'detached' });
      await page.getByLabel('toolset').selectOption('documents');
      await page.getByText('1 commit', { exact: true }).waitFor();
      await page.getByText('store design_doc').waitFor();
      await page.goto(`${server.url}/view/timeline?path=graph/features`);
      await page.getByText('1 commit', { exact: true }).waitFor();
      expect(await page.locator('.chart rect').count()).toBe(90);
      await page.getByLabel('to', { exact: true }).fill('2001-01-01');
      await page.getByText('0 commits').waitFor();
    });
  });

  deep('show what a branch teaches, accept one record of it, and take one back', async () => {
    const { repo } = server;
    repo.git('switch', '-q', '-c', 'idea');
    await memory.write('learnt', 'Only the branch knows it.');
    await memory.write('wrong', 'The branch is wrong here.');
    repo.git('switch', '-q', 'main');
    await memory.write('own', 'Only main knows it.');
    await visit('/view/branches', async (page) => {
      await page.getByText('3 records differ, 2 commits ahead, 1 behind').waitFor();
      await page.getByRole('link', { name: 'idea' }).click();
      const learnt = page.locator('.change', { hasText: 'learnt' });
      await learnt.waitFor();
      // The branch does not teach that the record of main goes.
      expect(await page.locator('.change').count()).toBe(2);
      await page.getByText('1 other record differs because main has changed').waitFor();
      await page.getByRole('link', { name: 'Show all differences' }).click();
      await expect.poll(() => page.locator('.change').count()).toBe(3);
      await page.goBack();
      await learnt.getByRole('button', { name: 'Accept' }).click();
      await learnt.getByRole('button', { name: 'Accept as a new commit' }).click();
      await learnt.waitFor({ state: 'detached' });
      const files = () => repo.git('ls-tree', '-r', '--name-only', 'main');
      expect(files()).toContain('patterns/learnt.md');
      expect(files()).not.toContain('patterns/wrong.md');
      await page.getByRole('link', { name: 'Swap the two' }).click();
      await page.getByRole('heading', { name: 'What main teaches' }).waitFor();
      await page.getByRole('button', { name: 'Take back' }).click();
      await page.getByRole('button', { name: 'Take back as a new commit' }).click();
      await page.getByText('It has nothing new.').waitFor();
      expect(files()).not.toContain('patterns/own.md');
    });
  });

  deep('show the banks and documents as lists', async () => {
    await openGlobalBank();
    await memory.call('activate', { bank_type: 'code', bank_id: 'shop-api' });
    await visit('/view/records', async (page) => {
      await page.getByRole('link', { name: 'documents', exact: false }).first().waitFor();
      await page.goto(`${server.url}/view/records?toolset=documents`);
      await page
        .getByRole('rowheader', { name: 'design doc 1' })
        .or(page.getByText('design doc 1'))
        .first()
        .waitFor();
      await page.goto(`${server.url}/view/records?toolset=banks`);
      await page.getByText('code/shop-api').first().waitFor();
      const own = page.locator('section', { hasText: 'Yours in every project' }).last();
      await own.getByRole('rowheader', { name: 'global/general' }).waitFor();
      await own.getByRole('link', { name: /^Preferences/ }).click();
      await page.getByText('in the memory of the user').waitFor();
      await page.getByText('bank-document').or(page.locator('.markdown')).first().waitFor();
      await page.goto(`${server.url}/view/records?toolset=banks&at=main`);
      await page.getByText('code/shop-api').first().waitFor();
      expect(await own.count()).toBe(0);
    });
  });

  deep('list the commits of agents for a review, until they are marked', async () => {
    memory.actAs('fast-coder/2.0');
    await memory.write('unreviewed', 'An agent wrote it.');
    memory.actAs(undefined);
    await visit('/view/', async (page) => {
      await page.getByText('1 commit of agents is not reviewed').waitFor();
      await page.getByRole('link', { name: 'Review by record' }).click();
      await page.locator('.change', { hasText: 'unreviewed' }).waitFor();
      expect(await page.locator('.change').count()).toBe(1);
      await page.getByRole('button', { name: 'Take back' }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Mark as reviewed' }).click();
      await page.getByText('not reviewed').waitFor({ state: 'detached' });
    });
  });

  deep('list the changes that wait for a review, accept one of them and drop another', async () => {
    const { repo } = server;
    const config = repo.read('.memory-bank/config.yaml');
    repo.write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo.git('commit', '-qam', 'Require reviews');
    const agents = await Promise.all(
      ['claude-code/2', 'codex/1'].map((agent) => openMemory({ root: repo.root, agent })),
    );
    for (const [i, agent] of agents.entries()) {
      const value = `The agent ${i} learned it.`;
      const { note } = await agent.call('memory_write', {
        category: 'patterns',
        key: `waiting-${i}`,
        value,
      });
      expect(note).toContain('waits for a review');
      await agent.close();
    }
    expect((await server.ask('GET', '/memory/home')).body.waiting).toHaveLength(2);
    expect((await server.ask('GET', '/memory/home?at=HEAD')).body.waiting).toEqual([]);
    await visit('/view/', async (page) => {
      await page.getByText('The changes of 2 agents wait for a review').waitFor();
      await page.getByRole('link', { name: 'Review them' }).click();
      await page.getByRole('heading', { name: 'Branches', exact: true }).waitFor();
    });
    await visit('/view/branches', async (page) => {
      const section = page.getByRole('region', { name: 'Waiting for a review' });
      const of = (agent: string) => section.getByRole('listitem').filter({ hasText: agent });
      await of('claude-code').getByRole('link').click();
      await page.locator('.change', { hasText: 'waiting-0' }).waitFor();
      await page.getByRole('button', { name: 'Accept' }).waitFor();
      await page.goBack();
      await of('claude-code').getByRole('button', { name: 'Accept all' }).click();
      await of('claude-code').getByRole('button', { name: 'as a merge commit' }).click();
      await page.getByText('Accepted 1 record of').waitFor();
      await of('codex').getByRole('button', { name: 'Drop' }).click();
      await of('codex').getByRole('button', { name: 'Drop all changes' }).click();
      await page.getByText('Dropped codex').waitFor();
      await section.waitFor({ state: 'detached' });
    });
    const files = repo.git('ls-tree', '-r', '--name-only', 'main');
    expect(files).toContain('patterns/waiting-0.md');
    expect(files).not.toContain('patterns/waiting-1.md');
    repo.write('.memory-bank/config.yaml', config);
    repo.git('commit', '-qam', 'Require no reviews');
  });

  deep('show both versions where a waiting change is in conflict, and let a side win', async () => {
    const { repo } = server;
    const config = repo.read('.memory-bank/config.yaml');
    repo.write('.memory-bank/config.yaml', `${config}review: required\n`);
    repo.git('commit', '-qam', 'Require reviews');
    const path = '.memory-bank/knowledge/patterns/disputed.md';
    const agent = await openMemory({ root: repo.root, agent: 'claude-code/2' });
    const write = (value: string) =>
      agent.call('memory_write', { category: 'patterns', key: 'disputed', value });
    await write('The agent wrote it.');
    const [{ name, branch, tip }] = (await server.ask('GET', '/memory/reviews')).body.reviews;
    repo.write(path, repo.git('show', `${branch}:${path}`).replace('The agent', 'The person'));
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'Write it by hand');
    const ask = (action: string, body: object) =>
      server.ask('POST', `/memory/reviews/${action}`, { body });
    await write('The agent wrote it again.');
    for (const action of ['accept', 'drop']) {
      const { status, body } = await ask(action, { name, seen: tip });
      expect([status, body.error.message]).toEqual([
        400,
        expect.stringContaining('has got another change meanwhile'),
      ]);
    }
    await visit(
      '/view/branches',
      async (page) => {
        const section = page.getByRole('region', { name: 'Waiting for a review' });
        await section.getByRole('button', { name: 'Accept all' }).click();
        await section.getByRole('button', { name: 'as a merge commit' }).click();
        const group = section.getByRole('group', { name: 'knowledge/patterns/disputed.md' });
        await group.getByText('The person wrote it.').waitFor();
        await group.getByText('The agent wrote it again.').waitFor();
        await section.getByText('The memory has other changes of this record').waitFor();
        expect(repo.git('show', `main:${path}`)).toContain('The person');
        const review = group.getByLabel('The review', { exact: true });
        await review.check();
        // The decision is about the text that was shown, so a later one needs another decision.
        let show = (): void => undefined;
        const shown = new Promise<void>((resolve) => {
          show = resolve;
        });
        await page.route('**/memory/reviews', async (route) => {
          await shown;
          await route.continue();
        });
        await write('The agent wrote it a third time.');
        await section.getByRole('button', { name: 'Accept all' }).click();
        await section.getByRole('button', { name: 'as a merge commit' }).click();
        // The message is above the list: the review can have left it.
        await page.getByRole('alert').getByText('has got another change meanwhile').waitFor();
        // A question that is open when the list shows the later text is taken back.
        await section.getByRole('button', { name: 'Accept all' }).click();
        await section.getByRole('button', { name: 'as a merge commit' }).waitFor();
        show();
        await section.getByRole('status').getByText('changed meanwhile').waitFor();
        await section.getByRole('button', { name: 'Accept all' }).click();
        await section.getByRole('button', { name: 'as a merge commit' }).click();
        await group.getByText('The agent wrote it a third time.').waitFor();
        expect(await review.isChecked()).toBe(false);
        await review.check();
        await section.getByRole('button', { name: 'Accept all' }).click();
        await section.getByRole('button', { name: 'as a merge commit' }).click();
        await page.getByText('Accepted 1 record of').waitFor();
        await section.waitFor({ state: 'detached' });
      },
      ['Failed to load resource: the server responded with a status of 400 (Bad Request)'],
    );
    await agent.close();
    expect(repo.git('show', `main:${path}`)).toContain('The agent wrote it a third time.');
    repo.write('.memory-bank/config.yaml', config);
    repo.git('commit', '-qam', 'Require no reviews');
  });

  deep('lead from page to page, and save a record, by the keyboard alone', async () => {
    await memory.call('memory_write', { category: 'patterns', key: 'typed', value: 'It is old.' });
    await visit('/view/', async (page) => {
      const focused = page.locator(':focus');
      /** Presses a key until the control with this text or label has the focus. */
      const reach = async (wanted: string, key = 'Tab') => {
        await page.locator('main').getByRole('heading').first().waitFor();
        for (let i = 0; i < 400; i++) {
          await page.keyboard.press(key);
          if ((await focused.count()) === 0) continue;
          const names = await focused.evaluate((control) => {
            const { innerText, labels } = control as unknown as {
              innerText: string;
              labels?: { textContent: string }[];
            };
            return [innerText, ...[...(labels ?? [])].map(({ textContent }) => textContent)];
          });
          if (names.some((name) => name.trim().startsWith(wanted))) return;
        }
        throw new Error(`No control ${wanted} gets the focus.`);
      };
      const enter = async (name: string, key?: string) => {
        await reach(name, key);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
        await page.locator('main :focus').waitFor();
      };
      await enter('Timeline');
      for (const name of ['Branches', 'Graph', 'Tasks', 'Modes', 'Search', 'Records']) {
        await enter(name, 'Shift+Tab');
      }
      await enter('typed');
      await reach('Edit');
      await page.keyboard.press('Enter');
      await reach('value');
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type('It is new.');
      await reach('Save as a commit');
      await page.keyboard.press('Enter');
      await page.locator('.edit').waitFor({ state: 'detached' });
    });
    expect(server.repo.read('.memory-bank/knowledge/patterns/typed.md')).toContain('It is new.');
  });

  deep('list the modes with what they may read and change', () =>
    visit('/view/modes', async (page) => {
      await page.getByRole('row', { name: /^architect/ }).waitFor();
    }),
  );

  deep('ask for a key where there is no session', async () => {
    const page = await browser?.newPage();
    if (!page) return;
    await page.goto(`${server.url}/view/timeline`);
    await page.getByLabel('Key').fill('wrong');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('The server does not accept this key.').waitFor();
    await page.getByLabel('Key').fill(key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.close();
  });

  deep('are of the project in the path, on a server with several', async () => {
    const folder = newFolder();
    await bundlePage(folder);
    const projects = ['api', 'web'].map((name) => ({ name, app: projectApp(Repo.create().root) }));
    const face = viewFace({ folder, version: '0.0.0' });
    const several = await serve({ projects }, {}, {}, face);
    for (const { name } of projects) {
      const body = { filename: 'note.md', content: `# Note of ${name}\n\nText.\n` };
      await several.ask('POST', `/p/${name}/memory-bank/file`, { body });
    }
    const context = await browser?.newContext();
    const page = await context?.newPage();
    if (!page) return;
    const bad = new Misbehaviour(page, several.url);
    await page.goto(`${several.url}/p/web/view`);
    await page.getByLabel('Key').fill(key);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('link', { name: 'Records' }).click();
    await page.getByRole('link', { name: /^Note of web/ }).click();
    await page.getByRole('heading', { name: 'Note of web' }).first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/p/web/view/record/note.md');
    // The session is for all projects.
    await page.goto(`${several.url}/p/api/view/record/note.md`);
    await page.getByRole('heading', { name: 'Note of api' }).first().waitFor();
    expect(await page.getByText('of web').count()).toBe(0);
    // Without a session, the first answer asks for the key.
    expect(bad.found.filter((text) => !text.includes('401'))).toEqual([]);
    await context?.close();
    await several.close();
    for (const { app } of projects) await app.close();
  });
});
