import { afterAll, beforeAll, expect, test } from 'vitest';
import { CopySearch } from '../../src/server/copy/copy-search.ts';
import type { Found } from '../../src/server/page/answers.ts';
import { search } from '../../src/server/view/search-operation.ts';
import { projectApp } from '../support/project-app.ts';
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

test('a copy finds what the window finds, in the same order', async () => {
  const app = projectApp(repo.root);
  const session = app.connect();
  const toolsets = await app.toolsets();
  const types = toolsets.flatMap(({ records }) => records);
  const inReview = () => Promise.reject(new Error('no review'));
  const { base, ...parts } = partsOf(await sites.files());
  const copy = await CopySearch.of(
    base.starts.map((_, i) => parts[`records-${i}`] ?? {}),
    base.synonyms,
  );
  for (const args of [
    { query: 'queue' },
    { query: 'why the broker' },
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
    const live = (await app.run(session, 'search_records', {}, (context) =>
      search.run(context, args, { toolsets, types, inReview }),
    )) as Found;
    const copied = await copy.find(new URLSearchParams(args));
    expect({ args, ...copied }).toEqual({ args, ...live });
  }
  await app.close();
});
