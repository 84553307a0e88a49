import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { failure, key, type Served, serve } from '../support/http.ts';

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

function head(line: string, ...headers: string[]): string {
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`];
  return [...lines, ...headers, '', ''].join('\r\n');
}

describe('a client that does not read', () => {
  test('and pipelines is answered one request at a time', async () => {
    const reads = 2_000;
    let calls = 0;
    const send = head(`GET ${path}`).repeat(reads);
    const socket = open().pause();
    await new Promise((resolve) => socket.write(send, resolve));
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    // Another caller is served meanwhile.
    for (let i = 0; i < 10; i += 1) {
      calls += Number((await api.ask('GET', path)).body.content.length === mebi);
    }
    expect(calls).toBe(10);
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed;
    expect(after - before).toBeLessThan((reads * mebi) / 10);
  });

  test('loses no answer and no order when it reads at last', async () => {
    const socket = open().pause();
    for (let i = 0; i < 40; i += 1) socket.write(head(`GET ${path}`));
    socket.write(head('GET /status', 'Connection: close'));
    let text = '';
    for await (const chunk of socket.setEncoding('latin1')) text += chunk;
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(41);
    expect(text.slice(text.lastIndexOf('HTTP/1.1'))).toContain('memoryBankStatus');
  });

  test('is cut off in the end', async () => {
    const served = await serve({ readTimeout: 200 });
    const body = { filename: 'large.md', content: 'x'.repeat(mebi) };
    await served.ask('POST', '/memory-bank/file', { body });
    const socket = open(served.url).pause();
    socket.write(head(`GET ${path}`).repeat(40));
    // Its end is seen without reading: what it writes is refused then, and waits until then.
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      const poll = setInterval(() => socket.write(head('GET /status')), 50);
      socket.once('close', () => clearInterval(poll));
    });
    expect((await served.ask('GET', '/status')).status).toBe(200);
    await served.close();
  });
});

test('many clients that do not read leave room for small answers and for changes', async () => {
  // Each takes part of the answers into the buffers of the system before the rest waits.
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
  expect((await api.ask('GET', '/memory-bank/files')).status).toBe(200);
  const body = { filename: 'small.md', content: 'x' };
  expect((await api.ask('POST', '/memory-bank/file', { body })).status).toBe(200);
  for (const socket of unread) socket.destroy();
  let answer = await api.ask('GET', path);
  while (answer.status === 503) answer = await api.ask('GET', path);
  expect(answer.status).toBe(200);
});

test('a small answer does not wait for the large ones that were asked for before it', async () => {
  const reads = 200;
  const unread = Array.from({ length: reads }, () => open().pause());
  await Promise.all(unread.map((socket) => once(socket, 'connect')));
  const done = () => api.log.filter((line) => line.includes('read_memory_bank_file: ok')).length;
  const before = done();
  for (const socket of unread) socket.write(head(`GET ${path}`));
  const small = open();
  small.write(head('GET /status', 'Connection: close'));
  let text = '';
  for await (const chunk of small.setEncoding('latin1')) text += chunk;
  expect(text).toContain('memoryBankStatus');
  expect(done() - before).toBeLessThan(reads / 2);
});

deep('a batch of MCP has no more answers than may wait for one client', async () => {
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-03-26',
  };
  const message = (id: number, method: string, params: object) => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  });
  const begun = await api.ask('POST', '/mcp', {
    headers,
    body: message(0, 'initialize', {
      protocolVersion: '2025-03-26',
      capabilities: {},
      clientInfo: { name: 'batch', version: '1' },
    }),
  });
  const session = begun.headers.get('mcp-session-id') ?? '';
  const batch = Array.from({ length: 40 }, (_, i) =>
    message(i + 1, 'tools/call', {
      name: 'read_memory_bank_file',
      arguments: { filename: 'large.md' },
    }),
  );
  const body = JSON.stringify(batch);
  const socket = open().pause();
  socket.write(
    head(
      'POST /mcp',
      'Connection: close',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      `Mcp-Session-Id: ${session}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ),
  );
  socket.write(body);
  // The other calls of the session wait for their turn behind those of the batch.
  const after = await api.ask('POST', '/mcp', {
    headers: { ...headers, 'mcp-session-id': session },
    body: message(100, 'tools/call', { name: 'list_memory_bank_files' }),
  });
  expect(after.body).toContain('"id":100');
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk;
  const answers = [...text.matchAll(/"id":(\d+)[,}]/g)];
  expect(new Set(answers.map(([, id]) => id)).size).toBe(40);
  expect(text).toContain('Too many answers wait to be read.');
  expect(text.length).toBeLessThan(40 * mebi);
});
