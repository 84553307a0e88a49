import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { key, type Served, serve } from '../support/http.ts';
import { modernMeta, revision } from '../support/modern.ts';
import { probe } from '../support/probe.ts';

const servers: { close(): Promise<unknown> }[] = [];

/** Serves the cases that change nothing. */
let shared: Served;

beforeAll(async () => {
  shared = await serve();
});

afterAll(() => shared.close());

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function started(...given: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...given);
  servers.push(served);
  return served;
}

const withProbe = { toolsets: async () => [probe] };

// biome-ignore lint/suspicious/noExplicitAny: a message of which the test asserts every part
type Message = any;

interface Sent {
  /** More of `_meta`. */
  readonly fields?: object;
  /** Replace the headers; undefined leaves one out. */
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly id?: unknown;
  readonly signal?: AbortSignal;
}

/** Sends a request of this revision with the headers that belong to it. */
function post(
  { url }: { readonly url: string },
  method: string,
  params: { readonly [name: string]: unknown } = {},
  { fields = {}, headers = {}, id = 1, signal }: Sent = {},
): Promise<Response> {
  const complete = { ...params, _meta: modernMeta({ ...fields }) };
  const name = params.name ?? params.uri;
  const all = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : undefined,
    ...headers,
  };
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: Object.entries(all).flatMap(([header, value]): [string, string][] =>
      value === undefined ? [] : [[header, value]],
    ),
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: complete }),
    ...(signal && { signal }),
  });
}

/** Calls a tool; returns its result. */
async function call(served: Served, name: string, args?: object, sent?: Sent): Promise<Message> {
  const response = await post(served, 'tools/call', { name, arguments: args }, sent);
  expect(response.status).toBe(200);
  return ((await response.json()) as Message).result;
}

/** Returns the messages of a stream, one by one. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) yield JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? 'null');
  }
}

describe('a request', () => {
  test('is answered with JSON, and begins no session', async () => {
    const headers = { 'mcp-session-id': 'of an earlier revision' };
    const response = await post(shared, 'server/discover', {}, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('mcp-session-id')).toBeNull();
    const { result } = (await response.json()) as Message;
    expect(result).toMatchObject({ resultType: 'complete', supportedVersions: [revision] });
  });

  test('needs a key', async () => {
    const headers = { authorization: undefined };
    expect((await post(shared, 'server/discover', {}, { headers })).status).toBe(401);
  });

  const read = { name: 'get_current_mode' };
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

  test.each<[string, object, Sent, number, number | undefined]>([
    ['tools/call', read, {}, 200, undefined],
    ['tools/call', read, { headers: { 'mcp-name': `  ${read.name} ` } }, 200, undefined],
    ['tools/call', read, { headers: { 'mcp-name': base64(read.name) } }, 200, undefined],
    ['tools/call', read, { headers: { 'mcp-name': base64('other') } }, 400, -32020],
    ['tools/call', read, { headers: { 'mcp-name': '=?base64?!?=' } }, 400, -32020],
    ['tools/call', read, { headers: { 'mcp-name': 'other' } }, 400, -32020],
    ['tools/call', read, { headers: { 'mcp-name': undefined } }, 400, -32020],
    ['tools/call', { name: 'é' }, { headers: { 'mcp-name': '\u00e9' } }, 400, -32020],
    ['tools/call', { name: 'é' }, { headers: { 'mcp-name': base64('é') } }, 200, -32602],
    ['tools/call', { name: 5 }, {}, 200, -32602],
    ['tools/list', {}, { headers: { 'mcp-method': undefined } }, 400, -32020],
    ['tools/list', {}, { headers: { 'mcp-method': 'TOOLS/LIST' } }, 400, -32020],
    ['tools/list', {}, { headers: { 'mcp-protocol-version': undefined } }, 400, -32020],
    ['tools/list', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } }, 400, -32020],
    ['tools/list', {}, { headers: { 'mcp-protocol-version': 'v9' } }, 400, -32020],
    ['tools/list', {}, { fields: { protocolVersion: undefined } }, 400, -32602],
    ['tools/list', {}, { fields: { clientCapabilities: undefined } }, 400, -32602],
    ['tools/list', {}, { headers: { accept: 'application/json' } }, 406, -32600],
    ['tools/list', {}, { headers: { accept: '*/*' } }, 200, undefined],
    ['tools/list', {}, { id: null }, 400, -32600],
    ['resources/read', { uri: 'memory-bank://nothing.md' }, {}, 200, -32602],
    ['ping', {}, {}, 404, -32601],
    ['initialize', {}, {}, 404, -32601],
    ['resources/subscribe', { uri: 'memory-bank://a.md' }, {}, 404, -32601],
  ])('%s %j with %j is %i %s', async (method, params, sent, status, code) => {
    const response = await post(shared, method, { ...params }, sent);
    expect(response.status).toBe(status);
    const answer = (await response.json()) as Message;
    expect(answer.error?.code).toBe(code);
    expect(answer.id).toBe(sent.id === null ? undefined : 1);
  });

  test('of another revision is refused with those that are served', async () => {
    const response = await post(
      shared,
      'server/discover',
      {},
      { fields: { protocolVersion: 'v9' }, headers: { 'mcp-protocol-version': 'v9' } },
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: -32022, data: { supported: [revision], requested: 'v9' } },
    });
  });

  test.each([
    ['GET', undefined, 405],
    ['DELETE', undefined, 405],
    ['POST', '{', 400],
    ['POST', '[]', 400],
    ['POST', '{"jsonrpc":"2.0","id":1,"result":{}}', 400],
    ['POST', '{"jsonrpc":"2.0","method":"notifications/cancelled"}', 202],
  ])('that is %s %s is %i', async (method, body, status) => {
    const accept = 'application/json, text/event-stream';
    const answer = await shared.ask(method, '/mcp', {
      headers: { accept, 'mcp-protocol-version': revision },
      body,
    });
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.headers.get('allow')).toBe('POST');
    if (status === 202) expect(answer.body).toBe('');
    // A null id is not valid in this revision.
    else expect(answer.body.id ?? 1).toBe(1);
  });

  test('streams its notifications, then its answer', async () => {
    const served = await started({}, {}, withProbe);
    const response = await post(
      served,
      'tools/call',
      { name: 'steps' },
      { fields: { progressToken: 'p' } },
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const sent = [];
    for await (const { method, id } of messagesOf(response)) sent.push(method ?? id);
    expect(sent).toEqual(['notifications/progress', 'notifications/progress', 1]);
  });

  test('is cancelled when its client disconnects', async () => {
    const served = await started({}, {}, withProbe);
    const client = new AbortController();
    const { signal } = client;
    const response = await post(
      served,
      'tools/call',
      { name: 'wait' },
      { signal, fields: { logLevel: 'debug' } },
    );
    const [first] = [await messagesOf(response).next()];
    expect(first?.value.params).toMatchObject({ level: 'notice', data: 'waiting' });
    client.abort();
    await expect.poll(() => served.log.join('\n')).toContain('wait: cancelled');
  });
});

describe('the state of a session', () => {
  test('belongs to a handle; a call without one has the default mode', async () => {
    const served = await started({ keys: [key, 'other'] });
    const { structuredContent } = await call(served, 'switch_mode', { mode: 'ask' });
    const { session } = structuredContent;
    expect(session).toMatch(/^[\w-]{32}$/);
    const mode = async (args?: object, sent?: Sent) =>
      (await call(served, 'get_current_mode', args, sent)).structuredContent?.mode;
    expect(await mode({ session })).toBe('ask');
    expect(await mode()).toBeNull();
    expect(await mode({})).toBeNull();
    for (const absent of [null, '']) expect(await mode({ session: absent })).toBeNull();
    const asText = { name: 'get_current_mode', arguments: JSON.stringify({ session }) };
    const read = await post(served, 'tools/call', asText);
    expect(await read.json()).toMatchObject({ result: { structuredContent: { mode: 'ask' } } });
    const again = await call(served, 'switch_mode', { mode: 'code', session });
    expect(again.structuredContent.session).toBe(session);
    expect(await mode({ session })).toBe('code');
    const foreign = { headers: { authorization: 'Bearer other' } };
    for (const [given, sent] of [
      [session, foreign],
      ['A'.repeat(32), {}],
      [5, {}],
    ] as const) {
      const refused = await call(served, 'get_current_mode', { session: given }, sent);
      expect(refused.isError).toBe(true);
      expect(refused.content[0].text).toContain('is not a handle that this server gave');
    }
  });

  test('is kept by every tool that sets it, and by no other one', async () => {
    const served = await started();
    const sets = [
      ['initialize_memory_bank', { path: '.' }],
      ['set_memory_bank_path', { path: '.' }],
      ['activate_project', undefined],
      ['activate', { bank_type: 'project', bank_id: 'one' }],
      ['swap', { bank_type: 'project', bank_id: 'one' }],
      ['process_umb_command', { command: 'Update Memory Bank' }],
    ] as const;
    for (const [name, args] of sets) {
      const { structuredContent } = await call(served, name, args);
      expect(structuredContent, name).toHaveProperty('session');
    }
    expect((await call(served, 'switch_mode', { mode: 'no such mode' })).isError).toBe(true);
    const read = await call(served, 'list_memory_bank_files');
    expect(read.structuredContent).not.toHaveProperty('session');
    const { structuredContent } = await call(served, 'activate_project');
    const { session } = structuredContent;
    expect((await call(served, 'list_memories', { session })).structuredContent.success).toBe(true);
    expect((await call(served, 'list_memories')).isError).toBe(true);
  });

  test('is an argument of every tool in this revision only', async () => {
    const list = async (more: Promise<Response>) =>
      ((await (await more).json()) as Message).result.tools as Message[];
    const tools = await list(post(shared, 'tools/list'));
    expect(await list(post(shared, 'tools/list'))).toEqual(tools);
    for (const { name, description, inputSchema } of tools) {
      expect(inputSchema.properties.session, name).toMatchObject({ type: 'string' });
      expect(inputSchema.required ?? []).not.toContain('session');
      const sets = /an hour after its last use/.test(description);
      expect(sets, name).toBe(
        /^(activate|activate_project|swap|switch_mode|\w+_umb\w*|initialize_memory_bank|set_memory_bank_path)$/.test(
          name,
        ),
      );
    }
    expect(tools.length).toBeGreaterThan(50);
  });

  test('does not change the client that the commit names', async () => {
    const served = await started();
    const write = { filename: 'a.md', content: 'x' };
    const clientInfo = { name: 'one', version: '2' };
    await call(served, 'write_memory_bank_file', write, { fields: { clientInfo } });
    const trailer = '--format=%(trailers:key=Memory-Agent,valueonly)';
    expect(served.repo.git('log', '-1', trailer).trim()).toBe('one/2');
  });

  test('stays in the folders that the server allows', async () => {
    const refused = await call(shared, 'set_memory_bank_path', { path: '/etc' });
    expect(refused.content[0].text).toContain('--allow-folder');
  });
});

describe('subscriptions/listen', () => {
  test.each(['an initialized memory', 'a memory whose folder does not exist yet'])(
    'reports what changes in %s, and is answered when the server stops',
    async (memory) => {
      const served = await started();
      if (memory === 'an initialized memory') {
        await call(served, 'initialize_memory_bank', { path: '.' });
      }
      const uri = 'memory-bank://watched.md';
      const response = await post(
        served,
        'subscriptions/listen',
        { notifications: { resourcesListChanged: true, resourceSubscriptions: [uri] } },
        { id: 'listen' },
      );
      const messages = messagesOf(response);
      const next = async () => (await messages.next()).value;
      const _meta = { 'io.modelcontextprotocol/subscriptionId': 'listen' };
      expect(await next()).toEqual({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: {
          notifications: { resourcesListChanged: true, resourceSubscriptions: [uri] },
          _meta,
        },
      });
      const body = { filename: 'watched.md', content: 'text' };
      await served.ask('POST', '/memory-bank/file', { body });
      // A slow system also reports the first files of the memory.
      const methods = new Set<string>();
      while (!methods.has('notifications/resources/updated')) {
        const { method, params } = await next();
        expect(params._meta).toEqual(_meta);
        methods.add(method);
      }
      expect([...methods]).toEqual([
        'notifications/resources/list_changed',
        'notifications/resources/updated',
      ]);
      servers.splice(0);
      await served.close();
      expect(await next()).toMatchObject({
        id: 'listen',
        result: { resultType: 'complete', _meta },
      });
      expect((await messages.next()).done).toBe(true);
    },
  );

  deep('ends when its client disconnects', async () => {
    const served = await started();
    for (let i = 0; i < 60; i += 1) {
      const client = new AbortController();
      const response = await post(
        served,
        'subscriptions/listen',
        { notifications: { resourcesListChanged: true } },
        { signal: client.signal },
      );
      const { value } = await messagesOf(response).next();
      expect(value.method).toBe('notifications/subscriptions/acknowledged');
      client.abort();
      await response.body?.cancel().catch(() => {});
    }
  });
});

test('the server stops although a client has opened a connection in advance', async () => {
  const served = await serve({ headTimeout: 1_000_000, requestTimeout: 1_000_000 });
  const { hostname, port } = new URL(served.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  await served.ask('GET', '/status');
  await served.close();
  socket.destroy();
});
