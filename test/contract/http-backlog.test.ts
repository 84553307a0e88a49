import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/core/declarations/tool.ts';
import { deep } from '../support/depth.ts';
import { failure, key, type Served, serve } from '../support/http.ts';
import { probe } from '../support/probe.ts';

const mebi = 1024 * 1024;
const path = '/memory-bank/file/large.md';
const sockets: Socket[] = [];
let api: Served;

beforeEach(async () => {
  api = await serve({ readTimeout: 60_000 });
  const body = { filename: 'large.md', content: 'x'.repeat(mebi) };
  await api.ask('POST', '/memory-bank/file', { body });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await api.close();
});

function open(url = api.url): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  sockets.push(socket);
  return socket;
}

/** The memory that this process uses for objects and buffers, in bytes. */
function memory(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** The size of the system's queue of new connections; 0 if it is unknown. */
function listenQueue(): number {
  const file = '/proc/sys/net/core/somaxconn';
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

const mcpHeaders = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-03-26',
};

function message(id: number, method: string, params: object) {
  return { jsonrpc: '2.0', id, method, params };
}

/** Serves a tool whose answers are large, and complete. */
async function serveLarge(bytes = 4 * mebi) {
  const calls = new Set<number>();
  const large = defineTool({
    name: 'large',
    title: 'Large',
    description: 'Returns many keys.',
    effect: 'read',
    complete: ['keys'],
    input: z.object({ id: z.number() }),
    async handle(_, { id }) {
      calls.add(id);
      return { keys: Array.from({ length: bytes / 128 }, () => 'x'.repeat(125)) };
    },
  });
  const toolsets = async () => [{ ...probe, tools: [...probe.tools, large] }];
  const server = await serve({ readTimeout: 60_000 }, {}, { toolsets });
  return { server, calls };
}

/** Begins an MCP session; returns its id. */
async function beginSession(server: Served): Promise<string> {
  const params = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'backlog', version: '1' },
  };
  const body = message(0, 'initialize', params);
  const { headers } = await server.ask('POST', '/mcp', { headers: mcpHeaders, body });
  return headers.get('mcp-session-id') ?? '';
}

/** A POST to `/mcp` as bytes. */
function post(session: string, body: object, ...headers: string[]): string {
  const text = JSON.stringify(body);
  return `${head(
    'POST /mcp',
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    `Mcp-Session-Id: ${session}`,
    ...Object.entries(mcpHeaders).map(([name, value]) => `${name}: ${value}`),
    ...headers,
  )}${text}`;
}

/** Sends bytes over a new connection; returns everything that comes back. */
async function answerTo(bytes: string): Promise<string> {
  const socket = open();
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  return text;
}

function head(line: string, ...headers: string[]): string {
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`];
  return [...lines, ...headers, '', ''].join('\r\n');
}

describe('a client that does not read', () => {
  deep('and pipelines is answered one request at a time', async () => {
    const reads = 2_000;
    let calls = 0;
    const send = head(`GET ${path}`).repeat(reads);
    const socket = open().pause();
    await new Promise((resolve) => socket.write(send, resolve));
    const before = memory();
    // The server also answers another caller.
    for (let i = 0; i < 10; i += 1) {
      calls += Number((await api.ask('GET', path)).body.content.length === mebi);
    }
    expect(calls).toBe(10);
    expect(memory() - before).toBeLessThan((reads * mebi) / 10);
  });

  deep('loses no answer and no order when it reads at last', async () => {
    const socket = open().pause();
    for (let i = 0; i < 40; i += 1) socket.write(head(`GET ${path}`));
    socket.write(head('GET /status', 'Connection: close'));
    let text = '';
    for await (const chunk of socket.setEncoding('latin1')) text += chunk;
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(41);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('memoryBankStatus');
  });

  deep('is cut off in the end', async () => {
    const served = await serve({ readTimeout: 200 });
    const body = { filename: 'large.md', content: 'x'.repeat(mebi) };
    await served.ask('POST', '/memory-bank/file', { body });
    const socket = open(served.url).pause();
    socket.write(head(`GET ${path}`).repeat(40));
    // The client learns of it without reading: its writes fail once the connection is closed.
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      const poll = setInterval(() => socket.write(head('GET /status')), 50);
      socket.once('close', () => clearInterval(poll));
    });
    expect((await served.ask('GET', '/status')).status).toBe(200);
    await served.close();
  });
});

deep('many clients that do not read leave room for the status and for changes', async () => {
  // The buffers of the system take part of the answers of each client before the rest waits.
  const unread = Array.from({ length: 90 }, () => open().pause());
  for (const socket of unread) {
    await once(socket, 'connect');
    socket.write(head(`GET ${path}`).repeat(12));
  }
  let refused = await api.ask('GET', path);
  for (let i = 0; refused.status === 200 && i < 500; i += 1) refused = await api.ask('GET', path);
  expect(refused).toMatchObject({ status: 503, body: failure('server_error') });
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(refused.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  expect((await api.ask('GET', '/status')).status).toBe(200);
  const body = { filename: 'small.md', content: 'x' };
  expect((await api.ask('POST', '/memory-bank/file', { body })).status).toBe(200);
  for (const socket of unread) socket.destroy();
  let answer = await api.ask('GET', path);
  while (answer.status === 503) answer = await api.ask('GET', path);
  expect(answer.status).toBe(200);
});

deep('calls of MCP do not begin while too many answers are unread', async () => {
  const { server, calls } = await serveLarge();
  const session = await beginSession(server);
  const call = (id: number) => message(id, 'tools/call', { name: 'large', arguments: { id } });
  const before = memory();
  const [clients, each] = [50, 4];
  for (let i = 0; i < clients; i += 1) {
    const socket = open(server.url).pause();
    await once(socket, 'connect');
    const ids = Array.from({ length: each }, (_, j) => 1 + i * each + j);
    socket.write(ids.map((id) => post(session, call(id))).join(''));
  }
  const headers = { ...mcpHeaders, 'mcp-session-id': session };
  const refused: number[] = [];
  const limit = 5_000;
  for (let id = 2_000; refused.length < 10 && id < limit; id += 1) {
    const { body } = await server.ask('POST', '/mcp', { headers, body: call(id) });
    if (body.includes('Too many answers wait to be read.')) refused.push(id);
  }
  expect(refused).toHaveLength(10);
  expect(refused.filter((id) => calls.has(id))).toEqual([]);
  expect(memory() - before).toBeLessThan((clients * each * 8 * mebi) / 3);
  const change = message(limit, 'tools/call', {
    name: 'note_write',
    arguments: { name: 'a', text: 'x' },
  });
  const changed = await server.ask('POST', '/mcp', { headers, body: change });
  expect(changed.body).toContain('memory-bank/commit');
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

test.skipIf(listenQueue() < 1_000)('many clients can connect at once', async () => {
  const clients = Array.from({ length: 900 }, () => open());
  const [first] = clients;
  first?.write(head('GET /status', 'Connection: close'));
  // The system would let the ones that do not fit into its queue retry after a second.
  for await (const _ of first ?? []);
  expect(clients.filter(({ connecting }) => connecting)).toHaveLength(0);
});

deep('idle connections make room for new ones at the limit', async () => {
  const idle = Array.from({ length: 985 }, () => open());
  for (const socket of idle) socket.write(head('GET /openapi.json'));
  await Promise.all(idle.map((socket) => once(socket, 'data')));
  // Some of these are above the limit of 1,000: the server closes the oldest idle ones for them.
  const closed = Promise.race(idle.map((socket) => once(socket, 'close')));
  const more = Array.from({ length: 20 }, () => open());
  await Promise.all([closed, ...more.map((socket) => once(socket, 'connect'))]);
  expect(await answerTo(head('GET /status', 'Connection: close'))).toContain('memoryBankStatus');
});

deep('a small answer does not wait for the large ones that were asked for before it', async () => {
  const reads = 200;
  const unread = Array.from({ length: reads }, () => open().pause());
  await Promise.all(unread.map((socket) => once(socket, 'connect')));
  const done = () => api.log.filter((line) => line.includes('read_memory_bank_file: ok')).length;
  const before = done();
  for (const socket of unread) socket.write(head(`GET ${path}`));
  expect(await answerTo(head('GET /status', 'Connection: close'))).toContain('memoryBankStatus');
  expect(done() - before).toBeLessThan(reads / 2);
});

deep('a batch of MCP has no more answers than may wait for one client', async () => {
  const { server, calls } = await serveLarge(mebi);
  const session = await beginSession(server);
  const count = 60;
  const batch = Array.from({ length: count }, (_, i) =>
    message(i + 1, 'tools/call', { name: 'large', arguments: { id: i + 1 } }),
  );
  const socket = open(server.url).pause();
  socket.write(post(session, batch, 'Connection: close'));
  await expect.poll(() => calls.size).toBeGreaterThan(0);
  // The other calls of the session wait for their turn behind those of the batch.
  const after = await server.ask('POST', '/mcp', {
    headers: { ...mcpHeaders, 'mcp-session-id': session },
    body: message(100, 'tools/call', {
      name: 'note_write',
      arguments: { name: 'a', text: 'x' },
    }),
  });
  expect(after.body).toContain('"id":100');
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  const answers = [...text.matchAll(/"id":(\d+)[,}]/g)];
  expect(new Set(answers.map(([, id]) => id)).size).toBe(count);
  const refused = text.match(/Too many answers wait to be read\./g) ?? [];
  expect(refused.length).toBeGreaterThan(0);
  expect(calls.size).toBe(count - refused.length);
  await server.close();
});
