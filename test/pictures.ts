// Part of `npm run picture`: fills a memory as a team does in some weeks, opens its pages in a browser,
// and saves docs/pages-*.png.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { viewFace } from '../src/server/view/view-face.ts';
import { startBrowser } from './support/browser.ts';
import { serve } from './support/http.ts';
import { fillRealistic } from './support/realistic-memory.ts';
import type { Repo } from './support/repo.ts';
import { Served } from './support/served.ts';

/** Maximum size of one picture, in bytes. */
const maxBytes = 170_000;
/** The time between two commits of the story, in seconds: some commits on most days. */
const pauses = [2_400, 900, 41_000, 7_200, 600, 88_000, 5_400, 1_200, 64_000];

/** The programs that a team uses in turn. */
const agents = ['claude-code/2.1', 'cursor/3.2', 'codex-cli/0.148'];

/** Fills the memory, one change after another by different programs. */
async function fill(memory: Served): Promise<void> {
  let calls = 0;
  await fillRealistic(async (tool, args) => {
    memory.actAs(agents[Math.floor(calls++ / 3) % agents.length]);
    return memory.call(tool, args);
  }, memory.repo.root);
  memory.actAs(agents[0]);
  const later: readonly (readonly [string, string])[] = [
    ['retry-budget', 'At most 3 retries in 2 minutes; then the order waits for a person.'],
    ['card-tests', 'The test card 4000 0025 asks for a second factor, 4000 9995 is refused.'],
    ['log-fields', 'Every log line of a payment has the order number and the attempt.'],
  ];
  for (const [key, value] of later) await memory.write(key, value);
  const { repo } = memory;
  repo.checkout('retry-queue');
  await memory.write('retry-budget', 'At most 5 retries in 10 minutes, from a queue of their own.');
  await memory.write('queue', 'The queue keeps an order for 24 hours, then a person decides.');
  repo.checkout('main');
  memory.actAs(undefined);
}

/** Gives the commits of a repository times of the last weeks: they were all made in a second. */
function spread(repo: Repo): void {
  const times = new Map<string, number>();
  const all = repo.git('rev-list', '--reverse', '--all').trim().split('\n');
  let time = Math.floor(Date.now() / 1000) - 1_800;
  for (const [i, oid] of all.reverse().entries()) {
    times.set(oid, time);
    time -= pauses[i % pauses.length] ?? 0;
  }
  const list = [...times].map(
    ([oid, at]) =>
      `${oid}) export GIT_AUTHOR_DATE="@${at} +0000" GIT_COMMITTER_DATE="@${at} +0000";;`,
  );
  const filter = `case $GIT_COMMIT in ${list.join(' ')} esac`;
  repo.gitWith(
    { env: { FILTER_BRANCH_SQUELCH_WARNING: '1' } },
    'filter-branch',
    '--force',
    '--env-filter',
    filter,
    '--',
    '--all',
  );
}

const pictures: readonly (readonly [string, string, string])[] = [
  ['home', '/view/', 'text=Recent changes'],
  ['timeline', '/view/timeline', '.entry'],
  [
    'history',
    '/view/record/knowledge/project-learnings/provider-timeout.md?show=history',
    '.differences',
  ],
  ['graph', '/view/graph', 'svg.graph a'],
  ['branch', '/view/branches/retry-queue', '.change'],
];

const browser = await startBrowser();
if (!browser) throw new Error('There is no browser: install Chrome.');
const [folder = '', docs = ''] = process.argv.slice(2);
const server = await serve({ keys: undefined }, {}, {}, viewFace({ folder, version: '1.0.0' }));
const memory = new Served(server.repo);
await fill(memory);
await memory.close();
spread(server.repo);
const page = await browser.newPage({
  viewport: { width: 1040, height: 640 },
  colorScheme: 'light',
  locale: 'en-GB',
});
for (const [name, path, wanted] of pictures) {
  await page.goto(server.url + path);
  await page.locator(wanted).first().waitFor();
  await page.locator('.loading').waitFor({ state: 'detached' });
  // The project has the name of its temporary folder.
  await page.evaluate(() => {
    const document: { querySelector(s: string): { textContent: string } } = Reflect.get(
      globalThis,
      'document',
    );
    document.querySelector('.project').textContent = 'shop';
  });
  const picture = await page.screenshot();
  if (picture.length > maxBytes) throw new Error(`${name} has ${picture.length} bytes.`);
  writeFileSync(join(docs, `pages-${name}.png`), picture);
}
await browser.close();
await server.close();
