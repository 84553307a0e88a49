import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { deep } from '../support/depth.ts';
import { type Answer, failure, key, type Served, serve } from '../support/http.ts';
import { endStatus, HttpProgram } from '../support/http-program.ts';
import { main, newFolder } from '../support/process.ts';

let api: Served;

beforeAll(async () => {
  api = await serve({ keys: ['other-key', key] });
});

afterAll(() => api.close());

afterEach(() => {
  vi.useRealTimers();
});

const files = '/memory-bank/files';
const refused = { status: 401, body: failure('unauthorized') };

/** Returns the cookie that an answer sets, as a browser would send it back. */
function cookieOf({ headers }: Answer): string {
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function login(): Promise<string> {
  return cookieOf(await api.ask('POST', '/session'));
}

describe('an API key', () => {
  test.each([`Bearer ${key}`, `bearer ${key}`, 'Bearer other-key', `Bearer  ${key} `])(
    'is taken as %j',
    async (authorization) => {
      const { status } = await api.ask('GET', files, { headers: { authorization } });
      expect(status).toBe(200);
    },
  );

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Bearer wrong',
    `Bearer ${key}x`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${key} ${key}`,
    `Basic ${key}`,
    key,
    'Bearer undefined',
  ])('is missing in %j', async (authorization) => {
    const answer = await api.ask('GET', files, { headers: { authorization } });
    expect(answer).toMatchObject(refused);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each([
    ['POST', '/memory-bank/file'],
    ['DELETE', '/memory-bank/file/a.md'],
    ['GET', '/memory-bank/modes'],
    ['POST', '/chat'],
    ['POST', '/session'],
    ['DELETE', '/session'],
    ['GET', '/nothing'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['DELETE', '/mcp'],
  ])('is needed for %s %s', async (method, path) => {
    expect(await api.ask(method, path, { headers: { authorization: '' } })).toMatchObject(refused);
  });
});

test.each(['format: [1\nsecrets: {', 'format: 999\n'])(
  'without a key /status says nothing about a memory that cannot be read (%j)',
  async (config) => {
    const broken = await serve();
    broken.repo.write('.memory-bank/config.yaml', config);
    const answer = await broken.ask('GET', '/status', { headers: { authorization: '' } });
    expect(answer).toMatchObject({ status: 503, body: failure('server_error') });
    expect(JSON.stringify(answer.body)).not.toMatch(/config|yaml|format|line|999/);
    await broken.close();
  },
);

describe('a session', () => {
  test('is valid instead of the key until it is ended', async () => {
    const opened = await api.ask('POST', '/session');
    expect(opened).toMatchObject({ status: 200, body: { status: 'success' } });
    expect(opened.headers.getSetCookie()[0]).toMatch(
      /^session_id=[^;]+; Max-Age=28800; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
    const headers = { authorization: '', cookie: cookieOf(opened) };
    const body = { filename: 'by-session.md', content: 'x' };
    expect((await api.ask('POST', '/memory-bank/file', { headers, body })).status).toBe(200);
    const ended = await api.ask('DELETE', '/session', { headers });
    expect(ended.body).toEqual({ status: 'success', message: 'Session ended' });
    expect(ended.headers.getSetCookie()[0]).toMatch(/^session_id=.*Expires=Thu, 01 Jan 1970/);
    expect(await api.ask('GET', files, { headers })).toMatchObject(refused);
  });

  test('that has not been opened cannot be ended', async () => {
    expect(await api.ask('DELETE', '/session')).toMatchObject({
      status: 400,
      body: failure('invalid_request'),
    });
  });

  test('is opened by a key only', async () => {
    const headers = { authorization: '', cookie: await login() };
    expect(await api.ask('POST', '/session', { headers })).toMatchObject(refused);
  });

  test.each([
    ['another signature', (cookie: string) => `${cookie.slice(0, -3)}AAA`],
    ['no signature', (cookie: string) => cookie.replace('s%3A', '').replace(/\..*/, '')],
    ['another id', (cookie: string) => cookie.replace('s%3A', 's%3AA')],
    ['an id as JSON', () => 'session_id=j%3A%7B%22toString%22%3A1%7D'],
    ['no id', () => 'session_id='],
  ])('with %s is not valid', async (_, forge) => {
    const headers = { authorization: '', cookie: forge(await login()) };
    expect(await api.ask('GET', files, { headers })).toMatchObject(refused);
  });

  test('does not make a wrong key valid', async () => {
    const headers = { authorization: 'Bearer wrong', cookie: await login() };
    expect(await api.ask('GET', files, { headers })).toMatchObject(refused);
  });

  test('expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const opened = await api.ask('POST', '/session');
    const headers = { authorization: '', cookie: cookieOf(opened) };
    const expires = Date.parse(opened.body.expires);
    expect(expires - Date.now()).toBeLessThanOrEqual(8 * 60 * 60 * 1000);
    vi.setSystemTime(expires - 1);
    expect((await api.ask('GET', files, { headers })).status).toBe(200);
    vi.setSystemTime(expires);
    expect(await api.ask('GET', files, { headers })).toMatchObject(refused);
  });
});

describe('a session of a web page', () => {
  const secret = 'a-secret-that-only-the-page-has-of-46-letters_';
  const page = { 'x-memory-page': secret };

  test('is valid with the secret of the page only', async () => {
    const opened = await api.ask('POST', '/session', { headers: { ...page, origin: api.url } });
    const headers = { authorization: '', cookie: cookieOf(opened) };
    const statusWith = async (more: object) =>
      (await api.ask('GET', files, { headers: { ...headers, ...more } })).status;
    expect(await statusWith(page)).toBe(200);
    // Another server of this host gets the cookie from the browser, but not the secret.
    for (const stolen of [{}, { 'x-memory-page': '1' }, { 'x-memory-page': `${secret}x` }]) {
      expect(await statusWith(stolen)).toBe(401);
    }
    await api.ask('DELETE', '/session', { headers: { ...headers, ...page } });
    expect(await statusWith(page)).toBe(401);
  });

  test.each([
    [{ 'sec-fetch-site': 'same-origin' }],
    [{ 'sec-fetch-site': 'none', 'x-memory-page': 'short' }],
    [{ 'x-memory-page': `${secret} ${secret}` }],
  ])('is not opened without a secret: %j', async (headers) => {
    const refused = await api.ask('POST', '/session', { headers: { ...headers } });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([400, []]);
    expect(refused.body.error.message).toContain('X-Memory-Page');
  });

  test.each([
    [undefined, { 'x-forwarded-proto': 'https' }, true],
    [undefined, { 'x-forwarded-proto': 'https, http' }, true],
    [undefined, { 'x-forwarded-proto': 'http' }, false],
    [undefined, {}, false],
    // A browser may refuse the cookie of a plain connection to this machine.
    ['https://memory.example.com', {}, false],
    ['http://memory.example.com', {}, false],
  ])('behind a proxy (%s, %j) has a Secure cookie: %j', async (publicUrl, headers, isSecure) => {
    const proxied = await serve({ publicUrl, hosts: ['memory.example.com'] });
    const opened = await proxied.ask('POST', '/session', { headers });
    expect(opened.headers.getSetCookie()[0]?.includes('; Secure')).toBe(isSecure);
    await proxied.close();
  });

  test('has a Secure cookie if the public URL is https, whatever the proxy says', async () => {
    const proxied = await serve({
      publicUrl: 'https://memory.example.com',
      hosts: ['memory.example.com'],
    });
    const headers = { host: 'memory.example.com', authorization: `Bearer ${key}` };
    const cookie = await new Promise((resolve, reject) => {
      request(`${proxied.url}/session`, { method: 'POST', headers }, (response) => {
        resolve(response.resume().headers['set-cookie']?.[0]);
      })
        .on('error', reject)
        .end();
    });
    expect(cookie).toContain('; Secure');
    await proxied.close();
  });
});

describe('Host and Origin', () => {
  /** A request with a Host that fetch would not send. */
  function asHost(host: string): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${key}` };
      request(`${api.url}${files}`, { headers }, (response) => {
        resolve(response.resume().statusCode);
      })
        .on('error', reject)
        .end();
    });
  }

  test.each(['localhost', '127.0.0.1:3000', '[::1]:3000', 'LOCALHOST:80'])(
    'Host %s is this machine',
    async (host) => {
      expect(await asHost(host)).toBe(200);
    },
  );

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'a@b:c',
  ])('Host %s is refused', async (host) => {
    expect(await asHost(host)).toBe(403);
  });

  test.each(['http://evil.example', 'null', 'http://localhost:1', 'http://127.0.0.1', 'x'])(
    'Origin %s is refused, and nothing is written',
    async (origin) => {
      const answer = await api.ask('POST', '/memory-bank/file', {
        headers: { origin },
        body: { filename: 'csrf.md', content: 'x' },
      });
      expect(answer).toMatchObject({ status: 403, body: failure('unauthorized') });
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
      expect((await api.ask('GET', '/memory-bank/file/csrf.md')).status).toBe(404);
      expect((await api.ask('POST', '/mcp', { headers: { origin } })).status).toBe(403);
    },
  );

  test('a page of the server itself may call it', async () => {
    const headers = { origin: api.url };
    expect((await api.ask('GET', files, { headers })).status).toBe(200);
  });

  test('names and origins can be allowed', async () => {
    const origin = 'https://notes.example';
    const open = await serve({ hosts: ['notes.example'], origins: [origin] });
    const answer = await open.ask('GET', files, { headers: { origin } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Memory-Commit');
    const asked = await open.ask('OPTIONS', '/memory-bank/file', {
      headers: { origin, 'access-control-request-method': 'POST', authorization: '' },
    });
    expect(asked.status).toBe(204);
    const other = await open.ask('GET', files, { headers: { origin: 'https://evil.example' } });
    expect(other.status).toBe(403);
    expect(other.headers.has('access-control-allow-origin')).toBe(false);
    await open.close();
  });
});

describe('without keys', () => {
  test('everybody may do everything', async () => {
    const open = await serve({ keys: undefined });
    const headers = { authorization: '' };
    const body = { filename: 'a.md', content: 'x' };
    expect((await open.ask('POST', '/memory-bank/file', { headers, body })).status).toBe(200);
    expect((await open.ask('GET', files, { headers: { authorization: 'Bearer x' } })).status).toBe(
      200,
    );
    await open.close();
  });
});

describe('memory-bank serve', () => {
  test.each([
    [['--no-auth', '--host', '0.0.0.0'], '--no-auth is refused on 0.0.0.0.'],
    [['--api-key-file', 'nowhere'], 'The key file nowhere cannot be read.'],
    [['--api-key-file', '/dev/null'], 'There is no key in /dev/null.'],
    [['--port', '99999'], '--port must be a number from 0 to 65535.'],
    [['--limit-minute', '0'], '--limit-minute must be a number from 1'],
    [['--issuer', 'http://login.example.com'], 'http://login.example.com is not an https URL.'],
    [['--audience', 'a'], '--audience needs --issuer.'],
    [['--client-id', 'a'], '--client-id needs --issuer.'],
    [['--client-scope', 'a'], '--client-scope needs --client-id.'],
    [['--client-secret-file', 'a'], '--client-secret-file needs --client-id.'],
    ...[
      ['nowhere', 'The secret file nowhere cannot be read.'],
      ['/dev/null', 'There is no secret in /dev/null.'],
    ].map(([file = '', message = '']): [string[], string] => [
      ['--issuer', 'https://a.example', '--client-id', 'a', '--client-secret-file', file],
      message,
    ]),
    [['--public-url', 'memory.example.com'], 'is not an http or https URL'],
    [['--person-key-file', 'nowhere'], 'The key file nowhere cannot be read.'],
    [['--issuer', 'https://a.example', '--no-auth'], '--no-auth and --issuer exclude each other.'],
    [['--issuer', 'https://a.example', '--port', '0'], '--port 0 needs --public-url'],
    ...['ftp://a.example', 'https://a.example?x'].map((url): [string[], string] => [
      ['--issuer', 'https://a.example', '--public-url', url],
      `--public-url ${url} is not an http or https URL`,
    ]),
  ])('%j is refused with the usage', (args, message) => {
    const { status, stderr } = spawnSync(process.execPath, [main, 'serve', ...args], {
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain('memory-bank serve --help');
  });

  deep('without a key makes one for the run, and prints it once', async () => {
    const program = await HttpProgram.start();
    const [, made = ''] = /the API key of this run is (\S+)\n/.exec(program.err) ?? [];
    expect(Buffer.from(made, 'base64url')).toHaveLength(32);
    expect((await program.ask('GET', files)).status).toBe(401);
    const headers = { authorization: `Bearer ${made}` };
    expect((await program.ask('GET', files, { headers })).status).toBe(200);
    expect(await program.stop()).toBe(endStatus);
    expect(program.err.split(made)).toHaveLength(2);
    expect(
      program.err.match(/the key of this run for people, at \S+\/view, is [\w-]{43}\n/g),
    ).toHaveLength(1);
    expect(program.out).toBe('');
  });

  test('with an issuer and without a key makes none', async () => {
    const publicUrl = 'https://memory.example.com';
    const issuer = 'https://login.example.com';
    const program = await HttpProgram.start(['--issuer', issuer, '--public-url', publicUrl]);
    expect(program.err).not.toContain('API key');
    const refused = await program.ask('GET', files);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${publicUrl}/`);
    expect(await program.stop()).toBe(endStatus);
  });

  deep('takes its keys from a file or the environment', async () => {
    const file = join(newFolder(), 'keys');
    writeFileSync(file, `first-key-of-two\n\n${key}\n`);
    const programs = await Promise.all([
      HttpProgram.start(['--api-key-file', file]),
      HttpProgram.start([], { MEMORY_BANK_API_KEYS: `first-key-of-two, ${key}` }),
    ]);
    for (const program of programs) {
      expect(program.err).not.toContain(key);
      expect((await program.ask('GET', files)).status).toBe(200);
      expect(await program.stop()).toBe(endStatus);
    }
  });

  test('refuses a key that could be guessed, without printing it', () => {
    const file = join(newFolder(), 'keys');
    writeFileSync(file, `${key}\nsecret-of-15-ch\n`);
    for (const [args, source] of [
      [['--api-key-file', file], file],
      [[], 'MEMORY_BANK_API_KEYS'],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, [main, 'serve', ...args], {
        env: { PATH: process.env.PATH, MEMORY_BANK_API_KEYS: 'secret-of-15-ch' },
        encoding: 'utf8',
      });
      expect(status).toBe(2);
      expect(stderr).toContain(`A key in ${source} has only 15 characters.`);
      expect(stderr).toContain('Use at least 16');
      expect(stderr).not.toContain('secret-of');
    }
  });

  test('refuses a key of a person that agents have as well', () => {
    const { status, stderr } = spawnSync(process.execPath, [main, 'serve'], {
      env: { PATH: process.env.PATH, MEMORY_BANK_API_KEYS: key, MEMORY_BANK_PERSON_KEYS: key },
      encoding: 'utf8',
    });
    expect([status, stderr.includes(key)]).toEqual([2, false]);
    expect(stderr).toContain('A key of a person is also an API key.');
  });

  deep('tells what hinders it from listening', async () => {
    const program = await HttpProgram.start();
    const { port } = new URL(program.url);
    const second = spawnSync(process.execPath, [main, 'serve', '--port', port], {
      encoding: 'utf8',
    });
    expect(second.status).toBe(10);
    expect(second.stderr).toContain('EADDRINUSE');
    await program.stop();
  });
});

describe('a request of another site', () => {
  const origin = 'http://localhost:5173';
  let served: Served;
  let cookie: string;

  beforeAll(async () => {
    served = await serve({ origins: [origin] });
    const opened = await served.ask('POST', '/session');
    cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  });

  afterAll(() => served.close());

  test.each(['cross-site', 'same-site'])('(%s) cannot use the session cookie', async (site) => {
    const headers = { 'sec-fetch-site': site };
    for (const path of ['/memory-bank/files', '/mcp']) {
      const ridden = await served.ask('GET', path, {
        headers: { ...headers, authorization: '', cookie },
      });
      expect(ridden).toMatchObject({ status: 403, body: failure('unauthorized') });
    }
    expect((await served.ask('GET', '/memory-bank/files', { headers })).status).toBe(200);
  });

  test.each([
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-site', origin },
    {},
  ])('is not what %j says', async (headers) => {
    const answer = await served.ask('GET', '/memory-bank/files', {
      headers: { ...headers, authorization: '', cookie },
    });
    expect(answer.status).toBe(200);
  });
});
