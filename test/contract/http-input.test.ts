import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { failure, key, type Served, serve } from '../support/http.ts';

let api: Served;

beforeAll(async () => {
  api = await serve();
  api.repo.write('outside.md', 'not in the memory\n');
  await api.ask('POST', '/memory-bank/file', { body: { filename: 'a.md', content: 'x' } });
});

afterAll(() => api.close());

function open(url = api.url): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** Sends bytes as they are; returns everything that comes back until the server disconnects. */
function send(...parts: (string | Buffer)[]): Promise<string> {
  return sendTo(open(), ...parts);
}

async function sendTo(socket: Socket, ...parts: (string | Buffer)[]): Promise<string> {
  for (const part of parts) socket.write(part);
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

/** The head of a request after which the server disconnects. */
function head(line: string, ...headers: string[]): string {
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`];
  return [...lines, 'Connection: close', ...headers, '', ''].join('\r\n');
}

function statusOf(text: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}

function bodyOf(text: string): unknown {
  return JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));
}

const invalid = failure('invalid_request');

describe('the name of a file', () => {
  test.each([
    '../outside.md',
    '..%2foutside.md',
    '%2e%2e/outside.md',
    '%2e%2e%2foutside.md',
    '%2E%2E%2Foutside.md',
    '.%2e/outside.md',
    'docs/../../outside.md',
    'docs%2f..%2f..%2foutside.md',
    '..\\outside.md',
    '..%5coutside.md',
    '%252e%252e%252foutside.md',
    '..%252foutside.md',
    '%c0%ae%c0%ae/outside.md',
    '%ef%bc%8e%ef%bc%8e%ef%bc%8foutside.md',
    '%2e%2e%00.md',
    'a.md%00',
    '%00',
    '/etc/passwd',
    '//etc/passwd.md',
    '%2fetc%2fpasswd.md',
    'C:%5cwindows%5cwin.ini',
    'file:%2f%2f%2fetc%2fpasswd.md',
    '.git/config.md',
    '%2egit%2fconfig.md',
    'graph/features/a.md',
    './a.md',
    'a.md/',
    'a.md/.',
    'a.md;x',
    'a.md%20',
    '%',
    '%zz',
    '%e2%28',
    '%ff',
    `${'a'.repeat(300)}.md`,
    `${'a/'.repeat(20)}a.md`,
  ])('%j does not reach a file outside the memory', async (name) => {
    const before = api.repo.status();
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(head(`${method} /memory-bank/file/${name}`));
      expect(statusOf(answer)).toBe(400);
      expect(bodyOf(answer)).toEqual(invalid);
      expect(answer).not.toContain('not in the memory');
    }
    expect(api.repo.status()).toEqual(before);
  });

  test('is taken from the path only', async () => {
    const answer = await send(head('GET /memory-bank/file/a.md?filename=../outside.md#b'));
    expect(bodyOf(answer)).toEqual({ status: 'success', content: 'x' });
  });
});

describe('the body', () => {
  test.each([
    ['{', 'application/json', 400],
    ['', 'application/json', 400],
    ['{"filename":"b.md","content":"x"', 'application/json', 400],
    ["{'filename':'b.md'}", 'application/json', 400],
    ['{"filename":"b.md","content":"x"}}', 'application/json', 400],
    ['null', 'application/json', 400],
    ['"text"', 'application/json', 400],
    ['5', 'application/json', 400],
    ['[]', 'application/json', 400],
    ['{"__proto__":{"filename":"b.md","content":"x"}}', 'application/json', 400],
    [`${'['.repeat(200_000)}`, 'application/json', 400],
    ['{"filename":"b.md","content":"x"}', 'text/plain', 415],
    ['{"filename":"b.md","content":"x"}', 'application/x-www-form-urlencoded', 415],
    ['{"filename":"b.md","content":"x"}', 'multipart/form-data; boundary=x', 415],
    ['{"filename":"b.md","content":"x"}', 'application/json; charset=latin1', 415],
    ['{"filename":"b.md","content":"x"}', 'application/json; charset=utf-16', 400],
    ['{"filename":"b.md","content":"x"}', 'nonsense', 415],
  ])('%.40j as %s is %i', async (body, type, status) => {
    const answer = await api.ask('POST', '/memory-bank/file', {
      headers: { 'content-type': type },
      body,
    });
    expect(answer).toMatchObject({ status, body: invalid });
    expect((await api.ask('GET', '/memory-bank/file/b.md')).status).toBe(404);
  });

  test('without a Content-Type is refused', async () => {
    const body = '{"filename":"b.md","content":"x"}';
    const answer = await send(
      head('POST /memory-bank/file', `Content-Length: ${body.length}`),
      body,
    );
    expect(statusOf(answer)).toBe(415);
  });

  test('must be UTF-8', async () => {
    const body = Buffer.from('{"filename":"b.md","content":"\xff\xfe"}', 'latin1');
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await send(head('POST /memory-bank/file', ...headers), body);
    expect(statusOf(answer)).toBe(400);
    expect(bodyOf(answer)).toEqual(invalid);
  });

  test('may begin with a byte order mark', async () => {
    const body = Buffer.from('\ufeff{"filename":"marked.md","content":"x"}');
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    expect(statusOf(await send(head('POST /memory-bank/file', ...headers), body))).toBe(200);
  });

  test('must be UTF-8 in MCP', async () => {
    const params = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":';
    const body = Buffer.from(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${params}{"name":"\xff","version":"1"}}}`,
      'latin1',
    );
    const headers = [
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
    ];
    const answer = await send(head('POST /mcp', ...headers), body);
    expect(statusOf(answer)).toBe(400);
    expect(bodyOf(answer)).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } });
  });

  test('must not be compressed', async () => {
    const answer = await api.ask('POST', '/memory-bank/file', {
      headers: { 'content-encoding': 'gzip' },
      body: 'x',
    });
    expect(answer).toMatchObject({ status: 415, body: invalid });
  });

  deep.each(['/memory-bank/file', '/memory-bank/trackProgress', '/chat', '/mcp'])(
    'of 10 MB for %s is 413, declared or not',
    async (path) => {
      const size = 10_000_000;
      const headers = [
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
      ];
      const declared = await send(head(`POST ${path}`, ...headers, `Content-Length: ${size}`));
      expect(statusOf(declared)).toBe(413);
      const text = JSON.stringify({ filename: 'b.md', content: 'x'.repeat(size) });
      const socket = open();
      socket.on('error', () => {});
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        answer += chunk;
      });
      socket.write(head(`POST ${path}`, ...headers, 'Transfer-Encoding: chunked'));
      socket.write(`${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`);
      await new Promise((resolve) => socket.on('close', resolve));
      expect(statusOf(answer)).toBe(413);
    },
  );

  test('of a file may be 1 MiB, whatever its characters, and no more', async () => {
    const filename = 'large.md';
    const escaped = `{"filename":"${filename}","content":"${'\\u0001'.repeat(1024 * 1024)}"}`;
    expect((await api.ask('POST', '/memory-bank/file', { body: escaped })).status).toBe(200);
    const body = { filename, content: 'x'.repeat(1024 * 1024 + 1) };
    expect(await api.ask('POST', '/memory-bank/file', { body })).toMatchObject({
      status: 413,
      body: invalid,
    });
    await api.ask('DELETE', `/memory-bank/file/${filename}`);
  });
});

describe('a request', () => {
  test.each([
    ['Host: evil.example', 400],
    ['Authorization: Bearer other', 400],
    ['Origin: http://localhost\r\nOrigin: http://evil.example', 400],
    ['Content-Length: 0\r\nContent-Length: 1', 400],
    ['Content-Length: 5\r\nTransfer-Encoding: chunked', 400],
    ['Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', 400],
    ['X-API-Version: 1.0.0\r\nX-API-Version: 1.0.0', 400],
    ['Header without a colon', 400],
    ['X: \0', 400],
    [`X: ${'x'.repeat(20_000)}`, 431],
  ])('with a second or broken header (%.50j) is refused', async (header, status) => {
    const answer = await send(head('GET /memory-bank/files', header));
    expect(statusOf(answer)).toBe(status);
    expect(bodyOf(answer)).toEqual(invalid);
  });

  test.each([
    ['GET /status HTTP/1.1', 400],
    ['GET /status HTTP/1.0', 400],
    ['POST /mcp HTTP/1.1', 400],
    ['GET /status HTTP/1.1\r\nHost: ', 403],
    ['GET /status HTTP/1.1\r\nHost: evil.example', 403],
    ['GET /status HTTP/1.1\r\nHost: localhost\r\nExpect: foo', 417],
    ['GET /status HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue, foo', 417],
    ['POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: foo\r\nContent-Length: 2', 417],
  ])(
    'that names no known host or expects too much (%j) is refused like any other',
    async (line, status) => {
      const answer = await send(`${line}\r\nConnection: close\r\n\r\n`);
      const last = answer.slice(answer.lastIndexOf('HTTP/1.1 '));
      expect(statusOf(last)).toBe(status);
      expect(bodyOf(last)).toEqual(failure(status === 403 ? 'unauthorized' : 'invalid_request'));
      expect(last).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
    },
  );

  test('may wait for permission to send its body', async () => {
    const body = '{"filename":"awaited.md","content":"x"}';
    const socket = open();
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    socket.write(head('POST /memory-bank/file', ...headers, 'Expect: 100-Continue'));
    const [leave] = await once(socket.setEncoding('utf8'), 'data');
    expect(leave).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(statusOf(await sendTo(socket, body))).toBe(200);
  });

  test.each([
    ['POST /memory-bank/file', 'Authorization: Bearer wrong', 401],
    ['POST /mcp', 'Authorization: Bearer wrong', 401],
    ['POST /memory-bank/file', 'Content-Length: 10000000', 413],
    ['POST /mcp', 'Content-Length: 10000000', 413],
    ['POST /nothing', 'Content-Length: 2', 404],
    ['POST /mcp', 'Content-Length: 2\r\nMcp-Session-Id: unknown', 404],
    ['PUT /memory-bank/file', 'Content-Length: 2', 405],
    ['PUT /mcp', 'Content-Length: 2', 405],
    ['POST /memory-bank/file', 'Content-Length: 2\r\nContent-Type: text/plain', 415],
    ['POST /mcp', 'Content-Length: 2\r\nContent-Type: text/plain', 415],
    ['POST /memory-bank/file', 'Content-Length: 2\r\nContent-Encoding: gzip', 415],
    ['POST /memory-bank/file', 'Content-Length: 2\r\nOrigin: http://evil.example', 403],
  ])('%s with %j is refused without permission to send its body', async (line, header, status) => {
    const lines = [`${line} HTTP/1.1`, 'Host: localhost', 'Expect: 100-continue', header];
    if (!header.includes('Authorization')) lines.push(`Authorization: Bearer ${key}`);
    if (!header.includes('Content-Type')) lines.push('Content-Type: application/json');
    if (!header.includes('Content-Length')) lines.push('Content-Length: 2');
    // The server disconnects, because the client may send the body anyway.
    const answer = await send(`${lines.join('\r\n')}\r\n\r\n`);
    expect(answer).not.toContain('100 Continue');
    expect(statusOf(answer)).toBe(status);
  });

  test.each([
    ['http://evil.example/status', 403],
    ['http://evil.example/memory-bank/files', 403],
    ['http://localhost@evil.example/status', 403],
    ['HTTP://EVIL.example:80/status', 403],
    ['ftp://localhost/status', 400],
    ['http:///status', 400],
    ['http://localhost/status', 200],
    ['HTTP://127.0.0.1:80/memory-bank/files?x', 200],
  ])('for the URL %s is %i, whatever its Host', async (target, status) => {
    const answer = await send(head(`GET ${target}`));
    expect(statusOf(answer)).toBe(status);
    expect(answer).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
  });

  test('for the URL of this server with another Host is refused', async () => {
    const answer = await send(
      'GET http://localhost/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(403);
  });

  test('nested too deep for a tool does not end the server', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = `{"filename":"deep.md","content":${deep},"__proto__":{"x":1}}`;
    expect((await api.ask('POST', '/memory-bank/file', { body })).status).toBe(400);
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${deep}}}`;
    expect((await api.ask('POST', '/mcp', { body: call })).status).toBeLessThan(500);
  });

  test.each([
    'nonsense\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03',
  ])('that is not HTTP (%.30j) is refused', async (text) => {
    const answer = await send(text);
    expect(statusOf(answer)).toBe(400);
    expect(bodyOf(answer)).toEqual(invalid);
  });

  deep.each([
    ['head', 'GET /status HTTP/1.1\r\nHost: localhost\r\n'],
    [
      'body',
      head('POST /memory-bank/file', 'Content-Type: application/json', 'Content-Length: 50'),
    ],
  ])('whose %s does not arrive is answered 408', async (_, text) => {
    const hasty = await serve({ headTimeout: 200, requestTimeout: 400 });
    const answer = await sendTo(open(hasty.url), text);
    expect(statusOf(answer)).toBe(408);
    expect(bodyOf(answer)).toEqual(invalid);
    await hasty.close();
  });

  test('after another on the same connection is answered after it', async () => {
    const write = (n: number) => {
      const body = JSON.stringify({ filename: 'pipe.md', content: `${n}` });
      return head(
        'POST /memory-bank/file',
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
      )
        .replace('Connection: close\r\n', '')
        .concat(body);
    };
    const read = head('GET /memory-bank/file/pipe.md');
    const keep = read.replace('Connection: close\r\n', '');
    const answer = await send(write(1), keep, write(2), keep, `${write(3)}${read}`);
    const contents = [...answer.matchAll(/"content":"(\d)"/g)].map(([, content]) => content);
    expect(contents).toEqual(['1', '2', '3']);
  });

  test('that is interrupted leaves nothing behind', async () => {
    const before = api.repo.git('rev-parse', 'HEAD');
    const socket = open();
    const headers = ['Content-Type: application/json', 'Content-Length: 1000'];
    socket.write(head('POST /memory-bank/file', ...headers));
    await new Promise((resolve) => socket.write('{"filename":"broken.md","content":"', resolve));
    socket.destroy();
    expect((await api.ask('GET', '/memory-bank/file/broken.md')).status).toBe(404);
    expect(api.repo.git('rev-parse', 'HEAD')).toBe(before);
  });

  test('may be abandoned before its answer', async () => {
    const body = JSON.stringify({ filename: 'hung-up.md', content: 'x' });
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    for (let i = 0; i < 20; i += 1) {
      const socket = open();
      await new Promise((resolve) =>
        socket.write(`${head('POST /memory-bank/file', ...headers)}${body}`, resolve),
      );
      socket.destroy();
    }
    expect((await api.ask('GET', '/status')).status).toBe(200);
    expect(api.repo.fsck()).toBe('');
    expect(api.repo.status().filter((line) => line.includes('.memory-bank'))).toEqual([]);
  });
});

test('after all of this the server runs and has logged no internal error', async () => {
  expect((await api.ask('GET', '/memory-bank/file/a.md')).body.content).toBe('x');
  expect(api.log.filter((line) => line.startsWith('error'))).toEqual([]);
});
