import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { probeApp } from '../support/app.ts';
import { ModernClient, modernMeta } from '../support/modern.ts';

const clients: ModernClient[] = [];

const newFolder = () => realpathSync(mkdtempSync(join(tmpdir(), 'memory-bank-')));

afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
});

function start(cwd?: string): ModernClient {
  const client = new ModernClient(probeApp(cwd === undefined ? {} : { cwd }).app);
  clients.push(client);
  return client;
}

/** A client of an earlier revision in the same connection. */
const initialize = {
  id: 'init',
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
};

const serverInfo = { name: 'memory-bank', title: 'Memory Bank', version: '0.0.0' };
const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
const subscription = 'io.modelcontextprotocol/subscriptionId';

describe('server/discover', () => {
  test('names the revision, the capabilities and the server', async () => {
    const { result } = await start().ask(1, 'server/discover').answer(1);
    expect(result).toEqual({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: {},
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        logging: {},
        extensions: { 'io.modelcontextprotocol/skills': {} },
      },
      instructions: expect.stringContaining('.memory-bank/'),
      ttlMs: 3_600_000,
      cacheScope: 'public',
      _meta,
    });
  });

  test('may be followed by initialize, and by requests of either era', async () => {
    const client = start()
      .ask(1, 'server/discover')
      .send(initialize)
      .send({ id: 2, method: 'ping' });
    expect((await client.answer(1)).result.resultType).toBe('complete');
    expect((await client.answer('init')).result.protocolVersion).toBe('2025-11-25');
    expect((await client.answer(2)).result).toEqual({});
    client.send({ id: 3, method: 'tools/call', params: { name: 'steps' } }).call(4, 'steps');
    expect((await client.answer(3)).result).not.toHaveProperty('resultType');
    expect((await client.answer(4)).result.resultType).toBe('complete');
    await client.end();
  });
});

describe('a request', () => {
  const key = (name: string) => `io.modelcontextprotocol/${name}`;

  test.each([
    ['no _meta', undefined, -32602],
    ['no version', modernMeta({ protocolVersion: undefined }), -32602],
    ['a version that is not text', modernMeta({ protocolVersion: 5 }), -32602],
    ['no capabilities', modernMeta({ clientCapabilities: undefined }), -32602],
    ['a client without a version', modernMeta({ clientInfo: { name: 'a' } }), -32602],
    ['an unknown log level', modernMeta({ logLevel: 'loud' }), -32602],
    ['another version', modernMeta({ protocolVersion: '2099-01-01' }), -32022],
    ['an earlier version', modernMeta({ protocolVersion: '2025-11-25' }), -32022],
  ])('with %s is refused', async (_, given, code) => {
    const client = start().send({
      id: 1,
      method: 'server/discover',
      params: given && { _meta: given },
    });
    const { error } = await client.answer(1);
    expect(error.code).toBe(code);
    if (code !== -32022) return;
    const requested = (given as Record<string, unknown>)[key('protocolVersion')];
    expect(error.data).toEqual({ supported: ['2026-07-28'], requested });
  });

  test('needs no name of its client', async () => {
    const client = start().ask(1, 'server/discover', {}, { clientInfo: undefined });
    expect((await client.answer(1)).result.resultType).toBe('complete');
    client.call(2, 'note_write', { name: 'a', text: '' }, { clientInfo: undefined });
    expect((await client.answer(2)).result.structuredContent.agent).toBeNull();
  });

  test.each(['ping', 'initialize', 'logging/setLevel', 'resources/subscribe', 'constructor'])(
    'for %s is of an unknown method',
    async (method) => {
      expect((await start().ask(1, method).answer(1)).error.code).toBe(-32601);
    },
  );

  test.each([
    [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }, 1, -32600],
    [{ jsonrpc: '2.0', id: null, method: 'tools/list' }, undefined, -32600],
    [{ jsonrpc: '2.0', id: 1.5, method: 'tools/list' }, undefined, -32600],
  ])('that is %j is refused', async (message, id, code) => {
    const client = start().send({ ...message, params: { _meta: modernMeta() } });
    const { error } = await client.find((found) => 'error' in found && found.id === id);
    expect(error.code).toBe(code);
  });

  test('with the id of one that runs is refused', async () => {
    const client = start().call(1, 'wait').call(1, 'steps');
    expect((await client.answer(1)).error.code).toBe(-32600);
    client.cancel(1);
  });

  test('that is a notification has no answer', async () => {
    const client = start()
      .send({ method: 'tools/list', params: { _meta: modernMeta() } })
      .ask(1, 'tools/list');
    await client.answer(1);
    expect(client.messages).toHaveLength(1);
  });
});

describe('tools', () => {
  test('are listed as in earlier revisions, in the same order each time', async () => {
    const client = start().ask(1, 'tools/list').ask(2, 'tools/list').send(initialize);
    const { tools, ...rest } = (await client.answer(1)).result;
    expect(rest).toEqual({
      resultType: 'complete',
      ttlMs: 3_600_000,
      cacheScope: 'public',
      _meta,
    });
    expect((await client.answer(2)).result.tools).toEqual(tools);
    expect((await client.send({ id: 3, method: 'tools/list' }).answer(3)).result.tools).toEqual(
      tools,
    );
  });

  test('answer with the commit, which names the client of the request', async () => {
    const project = newFolder();
    mkdirSync(join(project, '.memory-bank'));
    const client = start(project).call(1, 'note_write', { name: 'a', text: 'x' });
    expect((await client.answer(1)).result).toEqual({
      resultType: 'complete',
      content: [{ type: 'text', text: '{"ok":true,"agent":"raw/1"}' }],
      structuredContent: { ok: true, agent: 'raw/1' },
      _meta: {
        'memory-bank/commit': '0000000000000000000000000000000000000001',
        'memory-bank/branch': 'main',
        ..._meta,
      },
    });
    client.call(
      2,
      'note_write',
      { name: 'b', text: '' },
      { clientInfo: { name: 'b', version: '2' } },
    );
    expect((await client.answer(2)).result.structuredContent.agent).toBe('b/2');
  });

  test('fail in the words of the toolset', async () => {
    const { result } = await start().call(1, 'note_read', { name: 'nothing' }).answer(1);
    expect(result).toMatchObject({ resultType: 'complete', isError: true });
    expect(JSON.parse(result.content[0].text).code).toBe('not_found');
  });

  test.each([
    [{ name: 'nothing' }, 'Unknown tool: nothing'],
    [{ name: 'step' }, 'Unknown tool: step. Did you mean steps?'],
    [{ arguments: {} }, 'The parameter "name" must be a string.'],
  ])('the protocol answers %j', async (params, message) => {
    const { error } = await start().ask(1, 'tools/call', params).answer(1);
    expect(error).toEqual({ code: -32602, message });
  });

  test('report progress and send log messages only if the request asks', async () => {
    const client = start().call(1, 'steps', {}, { progressToken: 'p' }).call(2, 'steps');
    client.call('quiet', 'wait').call('loud', 'wait', {}, { logLevel: 'notice' });
    await client.answer(2);
    const steps = client.messages.filter(({ method }) => method === 'notifications/progress');
    expect(steps.map(({ params }) => params.progress)).toEqual([1, 2]);
    client.cancel('quiet');
    expect((await client.notified('message')).params).toEqual({
      level: 'notice',
      logger: 'memory-bank',
      data: 'waiting',
    });
    client.cancel('loud');
    client.call(3, 'steps', {}, { logLevel: 'error' });
    await client.answer(3);
    const messages = client.messages.filter(({ method }) => method === 'notifications/message');
    expect(messages).toHaveLength(1);
  });

  test('stop when they are cancelled, without an answer', async () => {
    const client = start().call(1, 'wait', {}, { logLevel: 'debug' });
    await client.notified('message');
    client.cancel(1).call(2, 'steps');
    await client.answer(2);
    expect(client.messages.some(({ id }) => id === 1)).toBe(false);
    await client.end();
  });

  test('run in the order of their requests', async () => {
    const client = start();
    for (let i = 0; i < 20; i += 1) {
      client
        .call(`w${i}`, 'note_write', { name: 'a', text: `${i}` })
        .call(i, 'note_read', { name: 'a' });
    }
    await client.end();
    for (let i = 0; i < 20; i += 1) {
      expect((await client.answer(i)).result.structuredContent.text).toBe(`${i}`);
    }
  });
});

describe('resources and prompts', () => {
  const write = { name: 'a b', text: 'first' };
  const skills = ['recall', 'remember', 'review-memory', 'tend-memory'].map((name) => ({
    uri: `skill://${name}/SKILL.md`,
    name,
    description: expect.any(String),
    mimeType: 'text/markdown',
  }));
  const changing = { ttlMs: 0, cacheScope: 'private' };

  test('are listed and read, and may be kept as long as they hold', async () => {
    const client = start().call(1, 'note_write', write).ask(2, 'resources/list');
    const listed = { uri: 'note://a%20b', name: 'a b', mimeType: 'text/markdown' };
    const complete = { resultType: 'complete', _meta };
    expect((await client.answer(2)).result).toEqual({
      resources: [listed, ...skills],
      ...changing,
      ...complete,
    });
    client.ask(3, 'resources/read', { uri: listed.uri }).ask(4, 'resources/templates/list');
    client.ask(5, 'prompts/list').ask(6, 'prompts/get', { name: 'recall' });
    expect((await client.answer(3)).result).toEqual({
      contents: [{ ...listed, text: 'first' }],
      ...changing,
      ...complete,
    });
    expect((await client.answer(4)).result).toMatchObject({ cacheScope: 'public' });
    expect((await client.answer(5)).result).toMatchObject({ cacheScope: 'public' });
    expect((await client.answer(6)).result).toEqual({
      description: 'Recalls the notes',
      messages: [{ role: 'user', content: { type: 'text', text: 'There are 1 notes.' } }],
      ...complete,
    });
  });

  test.each([
    ['resources/read', { uri: 'note://nothing' }],
    ['resources/read', { uri: 5 }],
    ['resources/list', { cursor: 'next' }],
    ['tools/list', { cursor: '' }],
    ['prompts/get', { name: 'nothing' }],
    ['subscriptions/listen', {}],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: [5] } }],
  ])('%s of %j is refused', async (method, params) => {
    expect((await start().ask(1, method, params).answer(1)).error.code).toBe(-32602);
  });
});

describe('subscriptions/listen', () => {
  test('acknowledges first, and then reports what the client asked for', async () => {
    const client = start();
    client.ask('list', 'subscriptions/listen', {
      notifications: { toolsListChanged: true, resourcesListChanged: true },
    });
    client.ask('one', 'subscriptions/listen', {
      notifications: { resourceSubscriptions: ['note://a'] },
    });
    const of = (id: string, method: string) =>
      client.find(
        (message) =>
          message.method === `notifications/${method}` && message.params._meta[subscription] === id,
      );
    expect((await of('list', 'subscriptions/acknowledged')).params.notifications).toEqual({
      resourcesListChanged: true,
    });
    expect((await of('one', 'subscriptions/acknowledged')).params.notifications).toEqual({
      resourceSubscriptions: ['note://a'],
    });
    client.call(1, 'note_write', { name: 'a', text: 'first' });
    await of('list', 'resources/list_changed');
    expect((await of('one', 'resources/updated')).params.uri).toBe('note://a');
    client.cancel('one');
    client
      .call(2, 'note_write', { name: 'a', text: 'second' })
      .call(3, 'note_write', { name: 'b', text: '' });
    await client.answer(3);
    await client.end();
    const ids = client.messages
      .filter(({ method }) => method === 'notifications/resources/updated')
      .map(({ params }) => params._meta[subscription]);
    expect(ids).toEqual(['one']);
    // The end of the server answers the subscription that is still open.
    expect((await client.answer('list')).result).toEqual({
      resultType: 'complete',
      _meta: { [subscription]: 'list', ..._meta },
    });
    expect(client.messages.some(({ id }) => id === 'one')).toBe(false);
  });

  test('is refused above the limit, until one ends', async () => {
    const client = start();
    const listen = (id: number) =>
      client.ask(id, 'subscriptions/listen', { notifications: { resourcesListChanged: true } });
    for (let i = 0; i <= 50; i += 1) listen(i);
    expect((await client.answer(50)).error.code).toBe(-32603);
    client.cancel(0);
    listen(51);
    await client.find(({ params }) => params?._meta?.[subscription] === 51);
  });
});

describe('roots', () => {
  const able = { clientCapabilities: { roots: {} } };

  test('are asked for where they decide, and the retry is served', async () => {
    const root = newFolder();
    const client = start().call(1, 'where', {}, able);
    expect((await client.answer(1)).result).toEqual({
      resultType: 'input_required',
      inputRequests: { roots: { method: 'roots/list' } },
      _meta,
    });
    const inputResponses = { roots: { roots: [{ uri: `file://${root}` }] } };
    client.ask(2, 'tools/call', { name: 'where', inputResponses }, able).call(3, 'where', {}, able);
    for (const id of [2, 3]) {
      expect((await client.answer(id)).result.structuredContent.root).toBe(root);
    }
  });

  test.each(['tools/call', 'resources/read', 'prompts/get'])(
    'may be asked for by %s',
    async (method) => {
      const params = { name: 'recall', uri: 'note://a' };
      const { result } = await start().ask(1, method, params, able).answer(1);
      expect(result.resultType).toBe('input_required');
      expect(result).not.toHaveProperty('ttlMs');
    },
  );

  test('are not asked for by a list, which has no records until they are known', async () => {
    const root = newFolder();
    const client = start().ask(1, 'resources/list', {}, able);
    const { result } = await client.answer(1);
    const isRecord = ({ uri }: { uri: string }) => !uri.startsWith('skill:');
    expect({ ...result, resources: result.resources.filter(isRecord) }).toMatchObject({
      resultType: 'complete',
      resources: [],
    });
    client.ask(2, 'subscriptions/listen', { notifications: { resourcesListChanged: true } }, able);
    await client.notified('subscriptions/acknowledged');
    const inputResponses = { roots: { roots: [{ uri: `file://${root}` }] } };
    client.ask(3, 'tools/call', { name: 'where', inputResponses }, able);
    expect((await client.answer(3)).result.structuredContent.root).toBe(root);
    await client.notified('resources/list_changed');
  });

  test('of another shape are refused', async () => {
    const inputResponses = { roots: { roots: [{ name: 'no URI' }] } };
    const client = start().ask(1, 'tools/call', { name: 'where', inputResponses }, able);
    expect((await client.answer(1)).error.code).toBe(-32602);
  });

  test('are not asked for if the client has none', async () => {
    const cwd = newFolder();
    const client = start(cwd).call(1, 'where');
    expect((await client.answer(1)).result.structuredContent.root).toBe(cwd);
  });

  test('that a request needs and its client does not offer are named', async () => {
    const client = start('/').ask(1, 'resources/read', { uri: 'note://a' });
    expect((await client.answer(1)).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { roots: {} } },
    });
    client.call(2, 'note_read', { name: 'a' });
    expect((await client.answer(2)).result.isError).toBe(true);
  });
});
