import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { viewFace } from '../../src/server/view/view-face.ts';
import { deep } from '../support/depth.ts';
import { type Answer, failure, key, type Served, serve } from '../support/http.ts';
import { newFolder } from '../support/process.ts';

let api: Served | undefined;

afterEach(async () => {
  vi.useRealTimers();
  await api?.close();
});

async function limited(minute: number, hour: number): Promise<Served> {
  api = await serve({ keys: [key, 'second'], limits: { minute, hour } });
  return api;
}

/** Returns the limit, the remaining requests and the end of the window from the headers. */
function windowOf({ headers }: Answer): (number | undefined)[] {
  return ['Limit', 'Remaining', 'Reset'].map((name) => {
    const value = headers.get(`x-ratelimit-${name}`);
    return value === null ? undefined : Number(value);
  });
}

const status = (served: Served, headers?: { readonly [name: string]: string }) =>
  served.ask('GET', '/status', headers && { headers });

describe('the limit of the minute', () => {
  test('counts down, refuses, and begins again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const served = await limited(3, 100);
    const begin = Date.now();
    const end = Math.ceil((begin + 60_000) / 1000);
    for (const left of [2, 1, 0]) {
      const answer = await status(served);
      expect(answer.status).toBe(200);
      expect(windowOf(answer)).toEqual([3, left, end]);
    }
    vi.setSystemTime(begin + 15_000);
    const refused = await status(served);
    expect(refused).toMatchObject({ status: 429, body: failure('rate_limit_exceeded') });
    expect(windowOf(refused)).toEqual([3, 0, end]);
    expect(Number(refused.headers.get('retry-after'))).toBe(45);
    vi.setSystemTime(begin + 60_000);
    expect(windowOf(await status(served))).toEqual([3, 2, Math.ceil((begin + 120_000) / 1000)]);
  });

  test('is 60, and that of the hour 1,000, in every answer', async () => {
    const served = await limited(60, 1000);
    const answers = [
      await served.ask('GET', '/nothing'),
      await served.ask('PUT', '/status'),
      await served.ask('POST', '/memory-bank/file', { body: 'no JSON' }),
      await served.ask('GET', '/status', { headers: { origin: 'http://evil.example' } }),
      await served.ask('GET', '/status', { headers: { 'x-api-version': '9.0.0' } }),
    ];
    expect(answers.map((answer) => windowOf(answer).slice(0, 2))).toEqual(
      answers.map((_, i) => [60, 59 - i]),
    );
  });
});

describe('the limit of the hour', () => {
  test('is in the headers once it is used up, until the hour ends', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const served = await limited(3, 5);
    const begin = Date.now();
    const hour = Math.ceil((begin + 3_600_000) / 1000);
    for (let i = 0; i < 3; i += 1) await status(served);
    // A request that the minute refuses does not count for the hour.
    for (let i = 0; i < 5; i += 1) expect((await status(served)).status).toBe(429);
    vi.setSystemTime(begin + 60_000);
    expect(windowOf(await status(served))[0]).toBe(3);
    expect(windowOf(await status(served))[0]).toBe(3);
    const refused = await status(served);
    expect(refused.status).toBe(429);
    expect(windowOf(refused)).toEqual([5, 0, hour]);
    expect(Number(refused.headers.get('retry-after'))).toBe(3540);
    vi.setSystemTime(begin + 3_600_000);
    expect((await status(served)).status).toBe(200);
  });
});

describe('a caller', () => {
  test('is a key, and each key has its own limit', async () => {
    const served = await limited(1, 100);
    expect((await status(served)).status).toBe(200);
    expect((await status(served)).status).toBe(429);
    expect((await status(served, { authorization: 'Bearer second' })).status).toBe(200);
    expect((await status(served, { authorization: '' })).status).toBe(200);
  });

  deep.each([
    ['x-forwarded-for', '203.0.113.1'],
    ['forwarded', 'for=203.0.113.1'],
    ['x-real-ip', '203.0.113.1'],
    ['user-agent', 'somebody else'],
    ['x-api-version', '1.0.1'],
    ['cookie', 'session_id=made-up'],
  ])('does not get another limit by the header %s', async (name, value) => {
    const served = await limited(1, 100);
    const headers = { authorization: '' };
    expect((await status(served, headers)).status).toBe(200);
    expect((await status(served, { ...headers, [name]: value })).status).toBe(429);
  });

  test('does not get another limit by a wrong key', async () => {
    const served = await limited(2, 100);
    const statuses = [];
    for (const wrong of ['a', 'b', 'c']) {
      const headers = { authorization: `Bearer ${wrong}` };
      statuses.push((await served.ask('POST', '/mcp', { headers })).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  test('does not get another limit by opening sessions', async () => {
    const served = await limited(2, 100);
    const opened = await served.ask('POST', '/session');
    const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { authorization: '', cookie };
    expect(windowOf(await status(served, headers))).toEqual([2, 0, expect.any(Number)]);
    expect((await status(served)).status).toBe(429);
  });

  test('with a key is not limited in MCP', async () => {
    const served = await limited(1, 1);
    for (let i = 0; i < 3; i += 1) {
      const answer = await served.ask('GET', '/mcp');
      expect(answer.status).toBe(406);
      expect(windowOf(answer)).toEqual([undefined, undefined, undefined]);
    }
  });
});

test('the pages do not count, so that a person who loads many keeps the limit of the key', async () => {
  const folder = newFolder();
  for (const name of ['index.html', 'page.js', 'style.css', 'icon.svg']) {
    writeFileSync(join(folder, name), 'text');
  }
  const face = viewFace({ folder, version: '0.0.0' });
  api = await serve({ limits: { minute: 2, hour: 2 } }, {}, {}, face);
  for (const path of ['/view', '/view/', '/view/timeline', '/view/page.js', '/view/style.css']) {
    const answer = await api.ask('GET', path, { headers: { authorization: '' } });
    expect([answer.status, windowOf(answer)]).toEqual([200, [undefined, undefined, undefined]]);
  }
  expect(windowOf(await status(api, { authorization: '' }))[1]).toBe(1);
  // Any other method counts.
  await api.ask('POST', '/view', { headers: { authorization: '' } });
  expect((await status(api, { authorization: '' })).status).toBe(429);
});

describe.skipIf(process.platform !== 'linux')('idle connections of one address', () => {
  const limit = 20;

  /** Requests the state of the server from an address of this machine; undefined if it is cut off. */
  function statusFrom(localAddress: string, agent?: Agent): Promise<number | undefined> {
    return new Promise((resolve) => {
      get(`${api?.url}/health`, { localAddress, ...(agent && { agent }) }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      }).once('error', () => resolve(undefined));
    });
  }

  test.each([
    ['that have sent nothing', ''],
    ['whose request is incomplete', 'GET /health HTTP/1.1\r\nHost: lo'],
  ])('do not shut out the others: %s', async (_, text) => {
    api = await serve({ maxConnections: limit });
    const { port } = new URL(api.url);
    const agent = new Agent({ keepAlive: true });
    expect(await statusFrom('127.0.0.2', agent)).toBe(200);
    let closed = 0;
    const sockets: Socket[] = [];
    for (let i = 0; i < 3 * limit; i++) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.once('close', () => closed++);
      await once(socket, 'connect');
      if (text !== '') socket.write(text);
      sockets.push(socket);
    }
    await expect.poll(() => closed).toBeGreaterThanOrEqual(2 * limit);
    // The open connection of another address is not the one that is closed.
    expect(await statusFrom('127.0.0.2', agent)).toBe(200);
    expect(Object.keys(agent.freeSockets)).toHaveLength(1);
    expect(await statusFrom('127.0.0.3')).toBe(200);
    expect(await statusFrom('127.0.0.1')).toBe(200);
    agent.destroy();
    for (const socket of sockets) socket.destroy();
  });
});
