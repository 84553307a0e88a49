import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { objective, task } from '../../src/toolsets/graph/records.ts';
import { entryRecord } from '../../src/toolsets/knowledge/entry.ts';
import { startBrowser } from '../support/browser.ts';
import { gitEnv, type Repo } from '../support/repo.ts';
import { count, ms, Times } from './figures.ts';
import { entries, entry, placeOf } from './knowledge.ts';
import { project } from './project.ts';
import { report, table } from './report.ts';
import { program } from './server.ts';

/** Measures the pages of a large memory in a headless browser, with a server on the same machine. */

const records = 10_000;
const option = process.argv.indexOf('--commits');
const commits = option < 0 ? 50_000 : Number(process.argv[option + 1]);
/** The records that a branch has changed since it left the main one. */
const onBranch = 500;
const objectives = 40;
const tasks = 1_960;
const rounds = 5;
/** Content of Home: the last changes by agent and session. */
const changed = '[aria-label="Recent changes"] li';
/** The longest time that a page may take, in milliseconds; a selector that nothing has never ends. */
const longest = 60_000;
const agents = ['claude-code/2.1', 'cursor/3.2', 'codex-cli/0.148'];

/** Writes the records with one commit, and then changes one of them with each commit. */
function fill(repo: Repo): void {
  for (const [path, text] of entries(0, records)) repo.write(path, text);
  const time = new Date(1_700_000_000_000).toISOString();
  const id = (i: number) => `bench${String(i).padStart(7, '0')}`;
  const identity = (i: number) => ({ id: id(i), created_at: time, updated_at: time });
  for (let i = 0; i < objectives; i++) {
    const value = {
      slug: `goal-${i}`,
      name: `Goal ${i}`,
      status: 'pending',
      ...identity(i),
    } as const;
    repo.write(`.memory-bank/${objective.path(value)}`, objective.codec.encode(value));
  }
  for (let i = 0; i < tasks; i++) {
    const value = {
      text: `Step ${i} of the plan`,
      status: 'pending',
      order: i,
      objective: `goal-${i % objectives}`,
      ...identity(objectives + i),
    } as const;
    repo.write(`.memory-bank/${task.path(value)}`, task.codec.encode(value));
  }
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', 'Add the records');
  const stream: string[] = [];
  for (let i = 0; i < commits; i++) {
    const number = (i * 7919) % records;
    const value = entry(number, `Changed for the time ${i}`);
    const text = entryRecord.codec.encode(value);
    const message = `memory: update "${value.key}" in project-learnings\n\nMemory-Tool: memory_write\nMemory-Agent: ${agents[i % agents.length]}\n`;
    stream.push(
      'commit refs/heads/main',
      `mark :${i + 1}`,
      `committer Ada <ada@example.org> ${1_700_000_000 + i * 300} +0000`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      i === 0 ? 'from refs/heads/main^0' : `from :${i}`,
      `M 100644 inline ${placeOf(number, value)}\ndata ${Buffer.byteLength(text)}\n${text}`,
    );
  }
  stream.push(
    'commit refs/heads/idea',
    'committer Ada <ada@example.org> 1800000000 +0000',
    'data 4\nIdea',
    `from :${commits - 10}`,
  );
  for (let i = 0; i < onBranch; i++) {
    const number = i * 17;
    const value = entry(number, `The idea of the branch`);
    const text = entryRecord.codec.encode(value);
    const place = placeOf(number, value);
    stream.push(`M 100644 inline ${place}\ndata ${Buffer.byteLength(text)}\n${text}`);
  }
  repo.gitWith({ input: `${stream.join('\n')}\n` }, 'fast-import', '--quiet');
  repo.git('reset', '-q', '--hard');
}

/** Starts a server, and returns it with the link that it prints. */
async function start(repo: Repo): Promise<{ server: ChildProcess; link: string }> {
  const server = spawn(process.execPath, [program, 'view', '--no-open'], {
    cwd: repo.root,
    env: gitEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { server, link: String((await once(server.stdout, 'data'))[0]).trim() };
}

/** Opens the window of a new server, and at once searches in its field; returns the time to the first hit. */
async function firstSearch(repo: Repo, browser: Browser): Promise<number> {
  const { server, link } = await start(repo);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  const field = page.getByRole('searchbox').first();
  await field.waitFor();
  const found = await searchFor(page, 'learnt text');
  await context.close();
  await end(server);
  return found;
}

/** Types words into the field of a page; returns the time to the first hit. */
async function searchFor(page: Page, words: string): Promise<number> {
  const began = performance.now();
  await page.getByRole('searchbox').first().fill(words);
  await page.locator('.hits > li').first().waitFor();
  return performance.now() - began;
}

async function end(server: ChildProcess): Promise<void> {
  server.kill('SIGTERM');
  await once(server, 'exit');
}

/** Loads a page and returns the time from the first byte of the document to its content. */
async function load(page: Page, address: string, wanted: string): Promise<number> {
  // The requests of the page before it are answered by then.
  await page.waitForTimeout(1500);
  await page.goto(address, { waitUntil: 'commit' });
  return page.evaluate(
    ([selector, longest]) =>
      new Promise<number>((resolve, reject) => {
        const { document, performance, requestAnimationFrame } = globalThis as unknown as {
          document: { querySelector(s: string): unknown };
          performance: { now(): number; getEntriesByType(t: string): { responseStart: number }[] };
          requestAnimationFrame(work: () => void): void;
        };
        const look = () => {
          if (performance.now() > longest) return reject(new Error(`There is no ${selector}.`));
          if (document.querySelector(selector) === null) return requestAnimationFrame(look);
          resolve(
            performance.now() - (performance.getEntriesByType('navigation')[0]?.responseStart ?? 0),
          );
        };
        look();
      }),
    [wanted, longest] as const,
  );
}

/** Scrolls through a page and returns the durations of its frames. */
function scroll(page: Page): Promise<number[]> {
  return page.evaluate(
    () =>
      new Promise<number[]>((resolve) => {
        const { scrollBy, requestAnimationFrame } = globalThis as unknown as {
          scrollBy(x: number, y: number): void;
          requestAnimationFrame(work: (time: number) => void): void;
        };
        const frames: number[] = [];
        let last = 0;
        const step = (time: number) => {
          if (last > 0) frames.push(time - last);
          last = time;
          if (frames.length >= 240) return resolve(frames);
          scrollBy(0, 120);
          requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
      }),
  );
}

/** Returns the memory of the scripts of a page after a collection, in megabytes. */
async function memoryOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

const browser = await startBrowser();
if (!browser) throw new Error('There is no browser: install Chrome.');
const repo = project();
console.log('Writing the memory …');
fill(repo);

const { server, link } = await start(repo);
const { origin } = new URL(link);
const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
const firstPage = await context.newPage();
// A browser that the command has opened takes about as long as the pause of `load`.
const newClone = await load(firstPage, link, changed);
// The cookie alone opens nothing: each request has the secret of the page as well.
const secret = await firstPage.evaluate<string>("localStorage.getItem('memory-bank-session')");
await context.setExtraHTTPHeaders({ 'X-Memory-Page': secret });
await firstPage.close();
const activity = async () =>
  (await context.request.get(`${origin}/memory/activity`, { timeout: 0 })).json();
const indexed = new Times();
await indexed.measure(activity);
const pages: readonly (readonly [string, string, string])[] = [
  ['Home', '/view/', changed],
  ['Timeline', '/view/timeline', '.entry'],
  ['Timeline of one agent', '/view/timeline?agent=cursor', '.entry'],
  ['Records', '/view/records?type=knowledge-entry', '.listed td'],
  ['Graph', '/view/graph', 'svg.graph .node'],
];
const rows: string[][] = [];
for (const [name, path, wanted] of pages) {
  const page = await context.newPage();
  const first = await load(page, origin + path, wanted);
  const again = new Times();
  for (let i = 0; i < rounds; i++) again.add(await load(page, origin + path, wanted));
  const frames = new Times();
  if (name === 'Timeline') for (const time of await scroll(page)) frames.add(time);
  const heap = await memoryOf(await context.newCDPSession(page));
  const scrolled = name === 'Timeline' ? `${ms(frames.p95)} ms` : '';
  rows.push([name, `${ms(first)} ms`, `${ms(again.median)} ms`, scrolled, `${heap.toFixed(1)} MB`]);
  await page.close();
}
const page = await context.newPage();
await load(page, `${origin}/view/timeline`, '.chart rect');
const { days } = await activity();
const charted = days.reduce((sum: number, day: { count: number }) => sum + day.count, 0);
const open = new Times();
await load(page, `${origin}/view/graph`, 'svg.graph .node');
await open.measure(async () => {
  await page.getByRole('button', { name: 'Open the groups' }).click();
  await page.getByRole('button', { name: 'Close the groups' }).waitFor();
});
const searched = new Times();
await load(page, `${origin}/view/timeline`, '.entry');
for (let i = 0; i < rounds; i++) {
  searched.add(await searchFor(page, `learnt here ${i}`));
  await page.goto(`${origin}/view/timeline`);
}
const compared = new Times();
for (let i = 0; i < rounds; i++) {
  compared.add(await load(page, `${origin}/view/branches/idea`, '.change'));
}
await end(server);
const withIndex = await firstSearch(repo, browser);
rmSync(repo.path('.git/memory-bank'), { recursive: true });
const withoutIndex = await firstSearch(repo, browser);
await browser.close();
repo.remove();
report('view', 'Pages in the browser', [
  `${count(records + objectives + tasks)} records, ${count(commits)} commits, headless Chromium and the server on one machine. The time is from the first byte of the document until its content is there; the first visit of the server, and the median of ${rounds} more. The memory is that of the scripts after a collection.`,
  table(['page', 'first visit', 'later', 'p95 of a frame while scrolling', 'memory'], rows),
  `The chart counts ${count(charted)} commits. All ${count(objectives + tasks)} records of the graph are laid out and drawn in ${ms(open.median)} ms. In a new clone, opened by \`memory-bank view\`, the content of Home is there after ${ms(newClone)} ms: it does not need the index of the commits. That index is built once, by the first request for the whole history of a clone, and took ${(indexed.median / 1000).toFixed(0)} s here; until then the timeline shows the newest commits.`,
  `Words typed into the field of a page find their first hit after ${ms(searched.median)} ms, the pause in typing included. In the window of a new server it is ${ms(withIndex)} ms with the index that an earlier server has saved, and ${ms(withoutIndex)} ms without one: the page shows what is found so far, and the rest as the index is made. A branch with ${onBranch} other records is compared with the current one in ${ms(compared.median)} ms.`,
]);
