import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { key, type Served, serve } from '../support/http.ts';
import { HttpProgram } from '../support/http-program.ts';
import { probe } from '../support/probe.ts';
import { main, newFolder } from '../support/process.ts';

const clients: Client[] = [];
const servers: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const server of servers.splice(0)) await server.close();
});

async function started(...given: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...given);
  servers.push(served);
  return served;
}

function transportTo(url: string, sent = key): StreamableHTTPClientTransport {
  const headers = { authorization: `Bearer ${sent}` };
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
}

async function connected(transport: Transport, name = 'tester'): Promise<Client> {
  const client = new Client({ name, version: '1.0' });
  clients.push(client);
  await client.connect(transport);
  return client;
}

/** Calls a tool; returns its answer as JSON. */
async function call(client: Client, name: string, args: object = {}) {
  const result = (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
  const [block] = result.content;
  return JSON.parse(block?.type === 'text' ? block.text : 'null');
}

/** Sends messages to `/mcp` without a client of the SDK. */
class Wire {
  readonly url: string;
  readonly key: string;
  session: string | null = null;

  constructor(url: string, sent = key) {
    this.url = `${url}/mcp`;
    this.key = sent;
  }

  send(method: string, message?: unknown, headers: { [name: string]: string } = {}) {
    return fetch(this.url, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        accept: 'application/json, text/event-stream',
        ...(message !== undefined && { 'content-type': 'application/json' }),
        ...(this.session !== null && {
          'mcp-session-id': this.session,
          'mcp-protocol-version': '2025-11-25',
        }),
        ...headers,
      },
      ...(message !== undefined && {
        body: typeof message === 'string' ? message : JSON.stringify(message),
      }),
    });
  }

  async begin(): Promise<Response> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'wire', version: '1' },
    };
    const response = await this.send('POST', {
      jsonrpc: '2.0',
      id: 'init',
      method: 'initialize',
      params,
    });
    await response.text();
    this.session = response.headers.get('mcp-session-id');
    return response;
  }

  request(id: number, method: string, params: object = {}) {
    return this.send('POST', { jsonrpc: '2.0', id, method, params });
  }
}

/** Returns the events of a stream until a message or its end. */
async function events(response: Response): Promise<{ id: string; data: string }[]> {
  const found: { id: string; data: string }[] = [];
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const id = /^id: (.*)$/m.exec(part)?.[1] ?? '';
      const data = /^data: (.*)$/m.exec(part)?.[1] ?? '';
      found.push({ id, data });
      if (data !== '') return found;
    }
  }
  return found;
}

describe('sessions', () => {
  test('each have their own mode, project, bank and agent', async () => {
    const other = newFolder();
    const { url, repo } = await started({ folders: [other] });
    const [one, two] = await Promise.all([
      connected(transportTo(url), 'one'),
      connected(transportTo(url), 'two'),
    ]);
    await call(one, 'switch_mode', { mode: 'ask' });
    expect((await call(one, 'get_current_mode')).mode).toBe('ask');
    expect((await call(two, 'get_current_mode')).mode).toBeNull();
    await call(one, 'activate_project');
    expect(await call(two, 'list_memories')).toMatchObject({ error: 'project_not_activated' });
    expect(await call(one, 'list_memories')).toMatchObject({ success: true });
    const refused = await call(one, 'write_memory_bank_file', { filename: 'a.md', content: 'x' });
    expect(refused.error.code).toBe('unauthorized');
    await call(one, 'set_memory_bank_path', { path: other });
    expect((await call(one, 'get_memory_bank_status')).path).toContain(other);
    expect((await call(two, 'get_memory_bank_status')).path).toContain(repo.root);
    await call(two, 'write_memory_bank_file', { filename: 'a.md', content: 'x' });
    expect(repo.git('log', '-1', '--format=%(trailers:key=Memory-Agent,valueonly)').trim()).toBe(
      'two/1.0',
    );
  });

  test('stay in the project that is served, unless more folders are allowed', async () => {
    const allowed = newFolder();
    const { url, repo } = await started({ folders: [allowed] });
    const client = await connected(transportTo(url));
    const outside = newFolder();
    for (const path of [outside, '..', '/', '/etc', dirname(allowed), `${repo.root}/../x`]) {
      for (const tool of ['set_memory_bank_path', 'initialize_memory_bank']) {
        const { error } = await call(client, tool, { path });
        expect(error, path).toMatchObject({
          code: 'unauthorized',
          message: expect.stringContaining('--allow-folder'),
        });
      }
    }
    expect(readdirSync(outside)).toEqual([]);
    for (const path of [`${repo.root}/packages/app`, join(allowed, 'new')]) {
      expect(await call(client, 'initialize_memory_bank', { path })).toMatchObject({
        status: 'success',
      });
    }
    // A session may return to the folder where it began.
    expect(await call(client, 'set_memory_bank_path', { path: repo.root })).toMatchObject({
      status: 'success',
    });
  });

  test('end when their client says so, and the others go on', async () => {
    const { url } = await started();
    const ending = transportTo(url);
    const one = await connected(ending);
    const two = await connected(transportTo(url));
    const wire = new Wire(url);
    wire.session = ending.sessionId ?? null;
    expect((await wire.request(1, 'ping')).status).toBe(200);
    await ending.terminateSession();
    expect((await wire.request(2, 'ping')).status).toBe(404);
    await expect(one.ping()).rejects.toThrow();
    expect(await two.ping()).toEqual({});
  });

  test('belong to the key that began them', async () => {
    const { url, ask } = await started({ keys: [key, 'other'] });
    const wire = new Wire(url);
    await wire.begin();
    const mcp = { 'mcp-session-id': wire.session ?? '', accept: 'text/event-stream' };
    const stolen = await ask('GET', '/mcp', {
      headers: { ...mcp, authorization: 'Bearer other' },
    });
    expect(stolen).toMatchObject({
      status: 404,
      body: { jsonrpc: '2.0', error: { code: -32001 } },
    });
    const cookie = (await ask('POST', '/session')).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const own = await wire.send(
      'POST',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      {
        authorization: '',
        cookie,
      },
    );
    expect(own.status).toBe(200);
  });

  deep('that are idle make room for others', async () => {
    const { url } = await started();
    const first = new Wire(url);
    await first.begin();
    const second = new Wire(url);
    await second.begin();
    const stream = await first.send('GET');
    const more = Array.from({ length: 199 }, () => new Wire(url));
    for (const wire of more) expect((await wire.begin()).status).toBe(200);
    expect((await first.request(1, 'ping')).status).toBe(200);
    expect((await second.request(1, 'ping')).status).toBe(404);
    await stream.body?.cancel();
  });

  deep('of one caller leave room for other callers', async () => {
    const { url, ask } = await started({ keys: [key, 'other'] });
    const other = new Wire(url, 'other');
    await other.begin();
    const wires = Array.from({ length: 50 }, () => new Wire(url));
    await Promise.all(wires.map((wire) => wire.begin()));
    const streams = await Promise.all(wires.map((wire) => wire.send('GET')));
    const more = new Wire(url);
    const refused = await more.begin();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await new Wire(url, 'other').begin()).status).toBe(200);
    expect((await other.request(1, 'ping')).status).toBe(200);
    await wires[0]?.send('DELETE');
    expect((await more.begin()).status).toBe(200);
    for (const stream of streams) await stream.body?.cancel();
    expect((await ask('GET', '/status')).status).toBe(200);
  });

  deep('of one caller replace its own idle ones', async () => {
    const { url } = await started({ keys: [key, 'other'] });
    const other = new Wire(url, 'other');
    await other.begin();
    const wires = Array.from({ length: 60 }, () => new Wire(url));
    for (const wire of wires) expect((await wire.begin()).status).toBe(200);
    const statuses = [];
    for (const wire of wires) statuses.push((await wire.request(1, 'ping')).status);
    expect(statuses).toEqual(wires.map((_, i) => (i < 10 ? 404 : 200)));
    expect((await other.request(1, 'ping')).status).toBe(200);
  });

  deep('with slow reads hold up no other session', async () => {
    const { url } = await started({}, {}, { toolsets: async () => [probe] });
    const slow = [new Wire(url), new Wire(url), new Wire(url)];
    const other = new Wire(url);
    for (const wire of [...slow, other]) await wire.begin();
    const streams = await Promise.all(
      slow.map((wire) => wire.request(1, 'tools/call', { name: 'wait' })),
    );
    const read = { name: 'note_read', arguments: { name: 'a' } };
    const answer = await other.request(1, 'tools/call', read);
    expect(await answer.text()).toContain('not_found');
    for (const wire of slow) {
      const params = { requestId: 1 };
      await wire.send('POST', { jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    for (const stream of streams) await stream.body?.cancel();
  });

  test('begin in the folder of the server, whatever roots a client has', async () => {
    const { url, repo } = await started();
    const client = new Client({ name: 'rooted', version: '1' }, { capabilities: { roots: {} } });
    clients.push(client);
    await client.connect(transportTo(url) as Transport);
    expect((await call(client, 'get_memory_bank_status')).path).toContain(repo.root);
  });
});

describe('the transport', () => {
  test.each([
    ['POST', '{', {}, 400, -32700],
    ['POST', '[]', {}, 400, -32000],
    ['POST', { jsonrpc: '2.0', id: 1, method: 'ping' }, {}, 400, -32000],
    [
      'POST',
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { accept: 'application/json' },
      406,
      -32000,
    ],
    ['POST', '{}', { 'content-type': 'text/plain' }, 415, -32000],
    ['POST', { jsonrpc: '2.0' }, { 'mcp-session-id': 'unknown' }, 404, -32001],
    ['GET', undefined, {}, 400, -32000],
    ['DELETE', undefined, {}, 400, -32000],
    ['PUT', '{}', {}, 405, -32000],
  ])('%s %j with %j is %i %i', async (method, message, headers, status, code) => {
    const { url } = await started();
    const response = await new Wire(url).send(method, message, headers);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  deep('resumes a broken stream after the last event that the client received', async () => {
    const { url } = await started();
    const wire = new Wire(url);
    await wire.begin();
    const asked = await wire.request(1, 'tools/call', { name: 'list_memory_bank_files' });
    const [first, answer] = await events(asked);
    const seen = first?.id ?? '';
    // As if the answer had been lost.
    const resumed = await wire.send('GET', undefined, { 'last-event-id': seen });
    expect(resumed.status).toBe(200);
    expect((await events(resumed)).at(-1)).toEqual(answer);
    const unknown = await wire.send('GET', undefined, { 'last-event-id': '999' });
    expect(unknown.status).toBe(400);
  });

  test('sends the notifications of a request in its response', async () => {
    const { url } = await started({}, {}, { toolsets: async () => [probe] });
    const wire = new Wire(url);
    await wire.begin();
    const _meta = { progressToken: 'token' };
    const asked = await wire.request(1, 'tools/call', { name: 'steps', _meta });
    const text = await asked.text();
    const sent = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(sent.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      1,
    ]);
  });

  test('notifies about changes that others make', async () => {
    const { url, ask } = await started();
    const client = await connected(transportTo(url));
    await ask('POST', '/memory-bank/file', { body: { filename: 'watched.md', content: 'old' } });
    const uri = 'memory-bank://watched.md';
    const updated = new Promise((resolve) => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        resolve(params.uri);
      });
    });
    await client.subscribeResource({ uri });
    await ask('POST', '/memory-bank/file', { body: { filename: 'watched.md', content: 'new' } });
    expect(await updated).toBe(uri);
    const read = await client.readResource({ uri });
    expect(read.contents[0]).toMatchObject({ text: 'new' });
  });
});

describe('memory-bank serve', () => {
  const env = { MEMORY_BANK_API_KEYS: key };
  const unlimited = ['--limit-minute', '100000', '--limit-hour', '100000'];

  deep(
    'two MCP clients, a REST client and a stdio server work on one repository, and nothing is lost',
    async () => {
      const program = await HttpProgram.start(unlimited, env);
      servers.push({ close: () => program.stop() });
      const stdio = new StdioClientTransport({
        command: process.execPath,
        args: [main, '--root', program.repo.root],
        stderr: 'ignore',
      });
      const [one, two, three] = await Promise.all([
        connected(transportTo(program.url) as Transport),
        connected(transportTo(program.url) as Transport),
        connected(stdio),
      ]);
      const before = Number(program.repo.git('rev-list', '--count', 'HEAD'));
      const rounds = Array.from({ length: 10 }, (_, i) => i);
      const done = await Promise.all(
        rounds.flatMap((i) => [
          ...[one, two, three].map((client, c) =>
            call(client, 'track_progress', { action: `Client ${c}`, description: `step ${i}` }),
          ),
          program
            .ask('POST', '/memory-bank/trackProgress', {
              body: { action: 'REST', description: `step ${i}` },
            })
            .then(({ body }) => body),
        ]),
      );
      expect(new Set(done.map(({ status }) => status))).toEqual(new Set(['success']));
      expect(Number(program.repo.git('rev-list', '--count', 'HEAD')) - before).toBe(40);
      const progress = program.repo.read('.memory-bank/progress.md');
      for (const i of rounds) {
        for (const who of ['Client 0', 'Client 1', 'Client 2', 'REST']) {
          expect(progress.split(`- ${who}: step ${i}\n`)).toHaveLength(2);
        }
      }
      expect(program.repo.fsck()).toBe('');
      expect(program.repo.status()).toEqual([]);
    },
  );

  deep('lets MCP clients go to the folders that --allow-folder names', async () => {
    const folders = [newFolder(), newFolder()];
    const allowed = folders.flatMap((folder) => ['--allow-folder', folder]);
    const program = await HttpProgram.start(allowed, env);
    servers.push({ close: () => program.stop() });
    const client = await connected(transportTo(program.url) as Transport);
    const statuses = [];
    for (const path of [...folders, newFolder()]) {
      statuses.push((await call(client, 'set_memory_bank_path', { path })).status);
    }
    expect(statuses).toEqual(['success', 'success', 'error']);
  });

  deep('finishes the requests under way when it is stopped', async () => {
    const program = await HttpProgram.start(unlimited, env);
    const wire = new Wire(program.url);
    await wire.begin();
    const stream = await wire.send('GET');
    const before = Number(program.repo.git('rev-list', '--count', 'HEAD'));
    const body = (i: number) => ({ filename: `${i}.md`, content: 'x' });
    const first = await program.ask('POST', '/memory-bank/file', { body: body(0) });
    const writes = Array.from({ length: 20 }, (_, i) =>
      program.ask('POST', '/memory-bank/file', { body: body(i + 1) }).then(
        // A request that arrives on an open connection while the server stops is refused.
        ({ status }) => (status === 503 ? 'not taken' : status),
        () => 'not taken',
      ),
    );
    const raced = await Promise.race(writes);
    const ended = program.stop();
    const statuses = [first.status, raced, ...(await Promise.all(writes)).slice(1)];
    expect(await ended).toBe(0);
    const written = (await Promise.all(writes)).filter((status) => status === 200).length + 1;
    expect(statuses.filter((status) => status !== 200 && status !== 'not taken')).toEqual([]);
    expect(Number(program.repo.git('rev-list', '--count', 'HEAD')) - before).toBe(written);
    expect(await stream.text()).not.toContain('data: {');
    expect(program.repo.status()).toEqual([]);
  });

  deep(
    'passes the scenarios of the conformance suite that need no server made for it',
    async () => {
      const program = await HttpProgram.start(['--no-auth']);
      servers.push({ close: () => program.stop() });
      const suite = join(
        import.meta.dirname,
        '../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
      );
      const baseline = join(import.meta.dirname, '../fixtures/conformance.yaml');
      const args = ['server', '--url', `${program.url}/mcp`, '--suite', 'all'];
      const { status, stdout } = spawnSync(
        process.execPath,
        [suite, ...args, '--expected-failures', baseline],
        { encoding: 'utf8' },
      );
      expect(stdout).toContain('✓ server-initialize');
      expect(status, stdout).toBe(0);
    },
  );
});
