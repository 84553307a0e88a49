import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { methodAccess } from '../../src/server/mcp/method-access.ts';
import { undoReview } from '../../src/server/view/review-undo.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { deep } from '../support/depth.ts';
import { type Asked, personKey, type Served, serve } from '../support/http.ts';
import { modernCall } from '../support/modern.ts';
import { newFolder } from '../support/process.ts';
import { startApp } from '../support/reviewed.ts';
import { everything, planning } from './every-tool.ts';

/** The name of the window, which an agent must not be able to take. */
const pretender = 'memory-bank-view/1.0.0';

let served: Served;

beforeEach(async () => {
  served = await serve({}, {}, {}, viewFace({ folder: newFolder(), version: '9.9.9' }));
  const { repo } = served;
  const decide = (title: string) =>
    person('POST', '/memory-bank/logDecision', { body: { title, context: 'c', decision: 'd' } });
  await decide('First');
  const config = '.memory-bank/config.yaml';
  repo.write(config, `${repo.read(config)}review: required\n`);
  repo.git('commit', '-q', '-am', 'Require reviews');
  // With the first change, the memory gets the format that requires a review.
  await decide('Second');
});

afterEach(() => served.close());

const person = (method: string, path: string, { headers, ...asked }: Asked = {}) =>
  served.ask(method, path, {
    ...asked,
    headers: { authorization: `Bearer ${personKey}`, ...headers },
  });

const agent = (method: string, path: string, { headers, ...asked }: Asked = {}) =>
  served.ask(method, path, { ...asked, headers: { 'user-agent': pretender, ...headers } });

/** The state of what is checked out: commit, index and files. */
const state = () =>
  served.repo.git('rev-parse', 'HEAD') + served.repo.git('status', '--porcelain', '-uall');

const reviewsOf = async () => (await person('GET', '/memory/reviews')).body.reviews;

const text = () => served.repo.read('.memory-bank/decisionLog.md');

function callModern(name: string, args: object) {
  const clientInfo = { name: 'memory-bank-view', version: '1.0.0' };
  return served.ask('POST', '/mcp', modernCall(name, args, { clientInfo }));
}

describe('with required reviews, an API key', () => {
  /** Changes over REST that succeed, with what they write. */
  const changes: readonly (readonly [path: string, body: () => object])[] = [
    ['/memory-bank/file', () => ({ filename: 'a.md', content: '# A\n' })],
    ['/memory-bank/trackProgress', () => ({ action: 'Built', description: 'It works.' })],
    ['/memory-bank/logDecision', () => ({ title: 'Mine', context: 'c', decision: 'd' })],
    ['/memory-bank/updateActiveContext', () => ({ tasks: ['One'] })],
    [
      '/memory/record',
      () => ({ path: 'decisionLog.md', before: text(), text: `${text()}\nMore.\n` }),
    ],
  ];

  test.each(changes)('POST %s changes a review, not the memory', async (path, body) => {
    const before = state();
    const answer = await agent('POST', path, { body: body() });
    expect([answer.status, answer.headers.get('x-memory-branch')]).toEqual([
      200,
      expect.stringMatching(/^memory-review\//),
    ]);
    expect(state()).toBe(before);
    const branch = answer.headers.get('x-memory-branch') ?? '';
    const message = served.repo.git('log', '-1', '--format=%B', branch);
    expect(message).toContain(`Memory-Agent: client:${pretender}\n`);
  });

  deep(
    'cannot restore a record of its review, remove one or end a merge in the memory',
    async () => {
      await agent('POST', '/memory-bank/logDecision', {
        body: { title: 'Mine', context: 'c', decision: 'd' },
      });
      const [review] = await reviewsOf();
      const before = state();
      const body = { path: 'decisionLog.md', revision: review.branch };
      await agent('POST', '/memory/restore', { body });
      await agent('POST', '/memory/restore', {
        body: { ...body, revision: 'HEAD~1', removes: true },
      });
      await agent('POST', '/memory/resolve', { body: { ours: ['decisionLog.md'], theirs: [] } });
      await agent('DELETE', '/memory-bank/file/decisionLog.md');
      expect(state()).toBe(before);
    },
  );

  deep('gets no code of a record that names it, as a person does', async () => {
    const { repo } = served;
    const commit = (line: string) => {
      repo.write('code.ts', `${line}\n`);
      repo.git('add', 'code.ts');
      repo.git('commit', '-q', '-m', line);
    };
    commit('before();');
    const named = { title: 'Named', context: 'c', decision: 'As `code.ts:1` does.' };
    await person('POST', '/memory-bank/logDecision', { body: named });
    commit('after();');
    const path = '/memory/evidence?path=decisionLog.md';
    const [place] = (await person('GET', path)).body.stale[0].places;
    expect(place).toMatchObject({ diff: expect.stringContaining('-before();\n+after();') });
    const { stale } = (await agent('GET', path)).body;
    expect(stale[0].places).toEqual([{ message: place.message, commit: place.commit }]);
  });

  deep('cannot decide on a review, nor mark commits as reviewed', async () => {
    await agent('POST', '/memory-bank/logDecision', {
      body: { title: 'Mine', context: 'c', decision: 'd' },
    });
    const [review] = await reviewsOf();
    const before = state();
    for (const [path, body] of [
      ['/memory/reviews/accept', { name: review.name }],
      ['/memory/reviews/drop', { name: review.name }],
      ['/memory/reviews/drop', { name: review.name, records: ['decisionLog.md#Mine'] }],
      ['/memory/reviews/edit', { name: review.name, path: 'decisionLog.md', before: '', text: '' }],
      [
        '/memory/reviews/undo',
        { name: review.name, record: 'decisionLog.md', tip: review.tip, dropped: review.base },
      ],
      ['/memory/branches/accept', { branch: review.branch, records: ['decisionLog.md'] }],
      ['/memory/reviewed', { commit: 'HEAD' }],
      ['/memory/confirm', { address: 'decisionLog.md#First' }],
    ] as const) {
      const refused = await agent('POST', path, { body });
      expect([refused.status, refused.body.error.message]).toEqual([
        403,
        expect.stringContaining('Only a person'),
      ]);
    }
    const beside = new URLSearchParams({ name: review.name, record: 'decisionLog.md' });
    expect((await agent('GET', `/memory/reviews/beside?${beside}`)).status).toBe(403);
    const [still, ...others] = await reviewsOf();
    expect([state(), still.tip, others]).toEqual([before, review.tip, []]);
    const accepted = await person('POST', '/memory/reviews/accept', {
      body: { name: review.name },
    });
    expect(accepted.status).toBe(200);
    expect(text()).toContain('Mine');
    expect(served.repo.git('log', '-1', '--format=%B')).toContain('Memory-Reviewed: ');
  });

  deep('cannot confirm a record, as the key of a person can', async () => {
    const before = state();
    // A verification by an agent that finds everything as it was says nothing new.
    await callModern('verify_memory', { path: 'decisionLog.md#First' });
    expect(state()).toBe(before);
    const body = { address: 'decisionLog.md#First' };
    const confirmed = await person('POST', '/memory/confirm', { body });
    expect(confirmed.status).toBe(200);
    expect(served.repo.git('log', '-1', '--format=%B')).toContain('Memory-Confirmed: ');
    const { parts } = (await person('GET', '/memory/confirmable?path=decisionLog.md')).body;
    expect(parts).toMatchObject([
      { address: 'decisionLog.md' },
      { address: confirmed.body.address, confirmed: { oid: confirmed.body.commit } },
      {},
    ]);
  });

  deep.each(['initialize', 'discover'])('is an agent in MCP, by %s', async (era) => {
    const before = state();
    const args = { title: 'Mine', context: 'c', decision: 'd' };
    if (era === 'discover') await callModern('log_decision', args);
    else await callLegacy('log_decision', args);
    const [review] = await reviewsOf();
    expect([state(), review.agent]).toEqual([before, 'client:memory-bank-view/1.0.0']);
  });

  deep('cannot change the memory by any tool', async () => {
    const before = state();
    const answers = new Map<string, JsonObject>();
    let handle = {};
    for (const [tool, args] of [...planning, ...everything]) {
      const given = args((name) => answers.get(name));
      const { body } = await callModern(tool, { ...given, ...handle });
      const { session, ...answer } = body.result?.structuredContent ?? {};
      answers.set(tool, answer);
      if (session !== undefined) handle = { session };
      expect([tool, state()]).toEqual([tool, before]);
    }
  });
});

deep('commits of agents that a person has accepted do not count as not reviewed', async () => {
  // A slow system needs more time than the walk through the commits gets.
  const clock = vi.spyOn(process, 'hrtime').mockReturnValue([0, 0]);
  onTestFinished(() => clock.mockRestore());
  const unreviewed = async () => (await person('GET', '/memory/home')).body.unreviewed?.count ?? 0;
  const learn = (title: string) =>
    agent('POST', '/memory-bank/logDecision', { body: { title, context: 'c', decision: 'd' } });
  await learn('Accepted in part');
  await learn('Accepted later');
  // So that the commits that accept have changes of their own.
  await person('POST', '/memory-bank/logDecision', {
    body: { title: 'Meanwhile', context: 'c', decision: 'd' },
  });
  const before = await unreviewed();
  const [{ name }] = await reviewsOf();
  const records = ['decisionLog.md#Accepted in part'];
  await person('POST', '/memory/reviews/accept', { body: { name, records } });
  expect(text()).toContain('Accepted in part');
  expect(await unreviewed()).toBe(before);
  await person('POST', '/memory/reviews/accept', { body: { name } });
  expect(text()).toContain('Accepted later');
  const { repo } = served;
  expect(repo.git('log', '--format=%B').match(/^Memory-Agent: client:/gm)?.length).toBeGreaterThan(
    3,
  );
  expect(await unreviewed()).toBe(before);
  // Nobody has accepted what a merge by git alone brings in.
  repo.git('switch', '-q', '-c', 'side');
  repo.write('.memory-bank/other.md', '# Other\n');
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'memory: write other.md', '-m', 'Memory-Agent: claude-code/2');
  repo.git('switch', '-q', 'main');
  repo.git('merge', '-q', '--no-ff', '-m', 'Merge side', 'side');
  expect(await unreviewed()).toBe(before + 1);
});

deep('a change that a person makes over REST is committed at once', async () => {
  const body = { path: 'decisionLog.md', before: text(), text: `${text()}\nMore.\n` };
  const saved = await person('POST', '/memory/record', { body });
  expect(saved.headers.get('x-memory-branch')).toBe('main');
  expect(text()).toContain('More.');
  expect(served.repo.git('log', '-1', '--format=%B')).toContain(
    'Memory-Agent: memory-bank-view/9.9.9\n',
  );
});

test('no method of MCP needs the right of a person', () => {
  expect([...new Set(Object.values(methodAccess))].sort()).toEqual(['read', 'tool']);
});

/** Calls a tool in a new session of revision 2025-11-25. */
async function callLegacy(name: string, args: object): Promise<void> {
  const headers = { accept: 'application/json, text/event-stream' };
  const message = (method: string, params: object, id?: number) => ({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    params,
  });
  const hello = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'memory-bank-view', version: '1.0.0' },
  };
  const begun = await served.ask('POST', '/mcp', {
    headers,
    body: message('initialize', hello, 1),
  });
  const session = { ...headers, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  await served.ask('POST', '/mcp', {
    headers: session,
    body: message('notifications/initialized', {}),
  });
  await served.ask('POST', '/mcp', {
    headers: session,
    body: message('tools/call', { name, arguments: args }, 2),
  });
}

describe('a person decides one entry of a review', () => {
  const decide = (title: string, decision: string) =>
    agent('POST', '/memory-bank/logDecision', { body: { title, context: 'c', decision } });
  const post = (path: string, body: object) => person('POST', `/memory/reviews/${path}`, { body });
  const titles = (from: string) => [...from.matchAll(/^## (.*) - /gm)].map(([, title]) => title);

  deep('drops it, takes that back, and accepts it with a comment', async () => {
    await decide('Third', 'Keep orders in a queue.');
    await decide('Fourth', 'Keep carts in a cookie.');
    const [first] = await reviewsOf();
    const compared = await person(
      'GET',
      `/memory/compare?from=${first.base}&to=${first.tip}&since=fork`,
    );
    const [third, fourth] = compared.body.changes[0].sections;
    const { name } = first;
    const proposed = () =>
      titles(served.repo.git('show', `${first.branch}:.memory-bank/decisionLog.md`));

    const dropped = await post('drop', { name, seen: first.tip, records: [fourth] });
    expect([dropped.status, proposed()]).toEqual([200, ['First', 'Second', 'Third']]);
    const drop = { name, record: fourth, tip: dropped.body.tip, dropped: dropped.body.base };
    await decide('Fifth', 'Keep sessions in memory.');
    expect((await post('undo', { name, record: fourth, tip: drop.tip })).status).toBe(400);
    const undone = await post('undo', drop);
    expect(undone.status).toBe(200);
    // What the agent has written since the decision is not lost.
    expect(proposed().sort()).toEqual(['Fifth', 'First', 'Fourth', 'Second', 'Third']);
    const twice = await post('undo', drop);
    expect([twice.status, twice.body.error.message]).toEqual([
      400,
      expect.stringContaining('was changed in the review since the decision'),
    ]);

    const [now] = await reviewsOf();
    expect(now.agent).toBe(`client:${pretender}`);
    const body = { name, seen: now.tip, records: [third], comment: 'As agreed on Monday' };
    const secret = await post('accept', {
      ...body,
      comment: `key ghp_${'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2eF4hJ6'}`,
    });
    const long = await post('accept', { ...body, comment: 'long '.repeat(60) });
    expect([secret.status, long.status, titles(text())]).toEqual([400, 400, ['First', 'Second']]);
    const accepted = await post('accept', body);
    expect([accepted.status, titles(text())]).toEqual([200, ['First', 'Second', 'Third']]);
    const message = served.repo.git('log', '-1', '--format=%B');
    expect(message).toContain('\nMemory-Comment: As agreed on Monday\n');
    expect(message).toMatch(/^Memory-Reviewed: /m);

    await person('POST', '/memory-bank/logDecision', {
      body: { title: 'Meanwhile', context: 'c', decision: 'Of a person.' },
    });
    const step = { name, record: third, tip: now.tip, accepted: accepted.body.commit };
    const wrong = await post('undo', { ...step, accepted: now.base });
    expect([wrong.status, titles(text())]).toEqual([400, expect.arrayContaining(['Third'])]);
    expect((await post('undo', step)).status).toBe(200);
    expect(titles(text())).toEqual(['First', 'Second', 'Meanwhile']);
    expect(proposed()).toContain('Third');
    const [again] = await reviewsOf();
    const rest = await post('accept', { name, seen: again.tip });
    const all = ['Fifth', 'First', 'Fourth', 'Meanwhile', 'Second', 'Third'];
    expect([rest.status, titles(text()).sort()]).toEqual([200, all]);
  });

  deep('learns what to do when it is out of the memory, but not back in the review', async () => {
    await decide('Third', 'Keep orders in a queue.');
    const [{ name, tip }] = await reviewsOf();
    const record = 'decisionLog.md#Third';
    const { body } = await post('accept', { name, seen: tip, records: [record] });
    const app = startApp(served.repo);
    onTestFinished(() => app.close());
    let calls = 0;
    const inReview = async () => {
      if (++calls > 1) throw new MemoryError('busy', 'The branch is locked.');
      return Object();
    };
    const undo = app.run(app.connect(), 'undo', {}, (context) =>
      undoReview.run(
        context,
        { name, record, tip, accepted: body.commit },
        { toolsets: [], types: [], inReview },
      ),
    );
    await expect(undo).rejects.toMatchObject({
      code: 'busy',
      message: expect.stringMatching(/Third was taken out of the memory.* The branch is locked/),
      hint: expect.stringContaining(`--as-of ${body.commit.slice(0, 12)}`),
    });
    expect(titles(text())).toEqual(['First', 'Second']);
    await person('POST', '/memory/restore', { body: { path: record, revision: body.commit } });
    expect(titles(text())).toEqual(['First', 'Second', 'Third']);
  });

  test('corrects it in the review, and sees its code', async () => {
    served.repo.write('src/queue.ts', 'one\ntwo\nthree\n');
    served.repo.git('add', 'src/queue.ts');
    served.repo.git('commit', '-qm', 'Add a queue');
    await decide('Orders wait', 'Keep all new orders in a queue on disk.');
    await agent('POST', '/memory-bank/logDecision', {
      body: {
        title: 'Queue for orders',
        context: 'c',
        decision: 'Keep all new orders in a queue on disk.',
        evidence: ['src/queue.ts:1-2'],
      },
    });
    const [{ name, branch, base }] = await reviewsOf();
    const path = 'decisionLog.md';
    const before = served.repo.git('show', `${branch}:.memory-bank/${path}`);
    const proposal = {
      name,
      path,
      before,
      text: before.replace('Queue for orders', 'Order queue'),
    };
    expect((await agent('POST', '/memory/reviews/edit', { body: proposal })).status).toBe(403);
    const corrected = await post('edit', proposal);
    expect([corrected.status, corrected.body.record]).toEqual([200, path]);
    expect((await post('edit', proposal)).body.error).toMatchObject({
      message: expect.stringContaining(
        'decisionLog.md was changed while it was edited. Nothing was',
      ),
    });
    expect(titles(text())).not.toContain('Order queue');
    const section = /^## (Order queue.*)$/m.exec(proposal.text)?.[1] ?? '';
    const query = new URLSearchParams({ name, base, record: `${path}#${section}` });
    const beside = (await person('GET', `/memory/reviews/beside?${query}`)).body;
    expect(beside.evidence).toEqual([{ place: 'src/queue.ts:1-2', code: 'one\ntwo', line: 1 }]);
    expect(beside.similar).toMatchObject([{ record: expect.stringContaining('Orders wait') }]);
    expect([beside.before, beside.after]).toEqual([undefined, expect.stringMatching(/^## Order/)]);
  });
});
