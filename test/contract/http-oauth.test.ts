import { createHmac } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AccessTokens } from '../../src/server/http/auth/access-tokens.ts';
import { deep } from '../support/depth.ts';
import { key, type Served, serve } from '../support/http.ts';
import { type Claims, Issuer } from '../support/issuer.ts';
import { modernCall } from '../support/modern.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const publicUrl = 'https://memory.example.com';
const audience = `${publicUrl}/mcp`;
const metadata = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;

let issuer: Issuer;
let served: Served;

beforeEach(async () => {
  issuer = await Issuer.start();
  served = await serve({ oauth: { issuer: issuer.url, publicUrl } });
});

afterEach(async () => {
  await served.close();
  await issuer.close();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

function read(token: string) {
  return served.ask('GET', '/memory-bank/files', { headers: bearer(token) });
}

function write(token: string) {
  const body = { filename: 'a.md', content: 'text' };
  return served.ask('POST', '/memory-bank/file', { headers: bearer(token), body });
}

/** Calls a tool of MCP in revision 2026-07-28. */
function call(token: string, name: string, args: object = {}) {
  const { headers, body } = modernCall(name, args);
  return served.ask('POST', '/mcp', { headers: { ...bearer(token), ...headers }, body });
}

const author = () => served.repo.git('log', '-1', '--format=%an <%ae>').trim();

describe('the metadata', () => {
  test.each(['', '/mcp'])('is open, and named by a refusal: %j', async (path) => {
    const found = await served.ask('GET', `/.well-known/oauth-protected-resource${path}`, {
      headers: { authorization: '' },
    });
    expect(found.body).toEqual({
      resource: audience,
      resource_name: 'Memory Bank',
      authorization_servers: [issuer.url],
      scopes_supported: ['memory:read', 'memory:write', 'memory:admin'],
      bearer_methods_supported: ['header'],
    });
    const refused = await served.ask('POST', '/mcp', { headers: { authorization: '' }, body: {} });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
  });

  test('does not exist without an authorization server', async () => {
    const other = await serve();
    const path = '/.well-known/oauth-protected-resource';
    expect((await other.ask('GET', path)).status).toBe(404);
    await other.close();
  });
});

describe('an access token', () => {
  test('makes its person the author of the commit', async () => {
    const token = await issuer.token(audience);
    expect((await write(token)).status).toBe(200);
    expect(author()).toBe('Alice Example <alice@example.com>');
    const args = { filename: 'b.md', content: 'text' };
    const answer = await call(token, 'write_memory_bank_file', args);
    expect(answer.body.result.isError).toBeUndefined();
    expect(author()).toBe('Alice Example <alice@example.com>');
    expect(served.repo.git('log', '-1', '--format=%B')).toContain('Memory-Agent: raw/1');
    // The next change by key has the configured author.
    await served.ask('POST', '/memory-bank/file', { body: { filename: 'c.md', content: 'x' } });
    expect(author()).not.toContain('Alice');
  });

  test('does not make its person the author of an edit by hand', async () => {
    const token = await issuer.token(audience);
    await write(token);
    served.repo.write('.memory-bank/a.md', 'by hand');
    const body = { filename: 'a.md', content: 'again' };
    await served.ask('POST', '/memory-bank/file', { headers: bearer(token), body });
    const authors = served.repo.git('log', '-2', '--format=%an').trim().split('\n');
    expect(authors[0]).toBe('Alice Example');
    expect(authors[1]).not.toBe('Alice Example');
  });

  deep.each<[string, Claims, string | undefined]>([
    ['line ends and brackets', { name: 'A\nB <x>\u0000' }, 'A B x <alice@example.com>'],
    ['no name', { name: undefined, preferred_username: 'al' }, 'al <alice@example.com>'],
    ['no name at all', { name: undefined }, 'alice <alice@example.com>'],
    ['no e-mail address', { email: undefined }, undefined],
    ['another text as e-mail address', { email: 'a b' }, undefined],
  ])('with %s', async (_, claims, expected) => {
    expect((await write(await issuer.token(audience, claims))).status).toBe(200);
    if (expected === undefined) expect(author()).not.toContain('alice');
    else expect(author()).toBe(expected);
  });

  test('needs the scope of what it does, which the refusal names', async () => {
    const reader = await issuer.token(audience, { scope: 'memory:read' });
    const step = (scope: string) =>
      `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`;
    expect((await read(reader)).status).toBe(200);
    expect((await call(reader, 'list_memory_bank_files')).status).toBe(200);
    for (const refused of [
      await write(reader),
      await call(reader, 'write_memory_bank_file', { filename: 'a.md', content: 'x' }),
      await call(reader, 'mcp__memory__write_memory_bank_file'),
    ]) {
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toBe(step('memory:write'));
    }
    for (const scope of [undefined, '', 'openid memory', 'memory:readx']) {
      const none = await read(await issuer.token(audience, { scope }));
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([
        403,
        step('memory:read'),
      ]);
    }
    const admin = await issuer.token(audience, { scope: undefined, scp: ['memory:admin'] });
    expect((await write(admin)).status).toBe(200);
    expect(served.repo.git('rev-list', '--count', 'HEAD').trim()).not.toBe('0');
  });

  test('needs the scope of administrators for tools that reach a remote repository', async () => {
    const { body } = await served.ask('GET', '/status');
    expect(body.status).toBe('ok');
    const writer = await issuer.token(audience);
    const refused = await call(writer, 'sync_memory');
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('scope="memory:admin"');
  });

  test('and a key are both accepted, and a key needs no scope', async () => {
    expect((await read(key)).status).toBe(200);
    expect((await write(key)).status).toBe(200);
  });

  test('may be limited to a mode, which its sessions cannot leave', async () => {
    const token = await issuer.token(audience, { memory_mode: 'ask' });
    expect((await write(token)).status).toBe(403);
    const written = await call(token, 'write_memory_bank_file', { filename: 'a.md', content: 'x' });
    expect(written.body.result.isError).toBe(true);
    for (const mode of ['none', 'code']) {
      const switched = await call(token, 'switch_mode', { mode });
      expect(switched.body.result.content[0].text).toContain('may use the mode ask only');
    }
    const { body } = await call(token, 'switch_mode', { mode: 'ask' });
    const { session } = body.result.structuredContent;
    // A handle of the limited token is not one of the same person without the limit, or the reverse.
    const free = await issuer.token(audience);
    const mixed = await call(free, 'get_current_mode', { session });
    expect(mixed.body.result.isError).toBe(true);
    expect((await call(free, 'get_current_mode')).body.result.structuredContent.mode).toBeNull();
    const chat = { messages: [{ role: 'user', content: 'status' }], mode: 'code' };
    const asked = await served.ask('POST', '/chat', { headers: bearer(token), body: chat });
    expect(asked.status).toBe(403);
  });

  test.each([5, '', ['ask']])('with the mode %j is refused', async (memory_mode) => {
    expect((await read(await issuer.token(audience, { memory_mode }))).status).toBe(401);
  });

  test('with a mode that the project does not have can do nothing', async () => {
    const token = await issuer.token(audience, { memory_mode: 'unknown' });
    expect((await read(token)).status).toBe(404);
    expect((await write(token)).status).toBe(404);
    const global = { bank_type: 'global', bank_id: 'default' };
    expect((await call(token, 'activate', global)).body.result.isError).toBe(true);
  });

  test('cannot use the MCP session of another person', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      },
    };
    const accept = 'application/json, text/event-stream';
    const alice = { ...bearer(await issuer.token(audience)), accept };
    const opened = await served.ask('POST', '/mcp', { headers: alice, body: initialize });
    const session = opened.headers.get('mcp-session-id') ?? '';
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    const send = (headers: object) =>
      served.ask('POST', '/mcp', {
        headers: { ...headers, 'mcp-session-id': session },
        body: ping,
      });
    expect((await send(alice)).status).toBe(200);
    const bob = await issuer.token(audience, { sub: 'bob' });
    expect((await send({ ...bearer(bob), accept })).status).toBe(404);
  });
});

describe('a bad token', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  test.each<[string, () => Promise<string> | string]>([
    ['for another audience', () => issuer.token('https://other.example.com/mcp')],
    ['of another issuer', () => issuer.token(audience, { iss: 'https://other.example.com' })],
    ['that has expired', () => issuer.token(audience, { exp: now() - 120 })],
    ['that never expires', () => issuer.token(audience, { exp: undefined })],
    ['that is not valid yet', () => issuer.token(audience, { nbf: now() + 600 })],
    ['without a subject', () => issuer.token(audience, { sub: undefined })],
    [
      'signed with a key of nobody',
      async () => {
        const other = await Issuer.start();
        const token = issuer.token(audience, {}, 'first', other.key('first'));
        await other.close();
        return token;
      },
    ],
    [
      'with an unknown key id',
      () => issuer.token(audience, {}, '../../etc/passwd', issuer.key('first')),
    ],
    ['that is too large', () => issuer.token(audience, { padding: 'x'.repeat(9_000) })],
    [
      'without a signature',
      async () => {
        const [, payload] = (await issuer.token(audience)).split('.');
        return `${encode({ alg: 'none' })}.${payload}.`;
      },
    ],
    [
      'signed with the public key as a secret',
      async () => {
        const [, payload] = (await issuer.token(audience)).split('.');
        const text = `${encode({ alg: 'HS256', kid: 'first' })}.${payload}`;
        return `${text}.${createHmac('sha256', 'first').update(text).digest('base64url')}`;
      },
    ],
    [
      'with other claims than those that were signed',
      async () => {
        const [head, , signature] = (await issuer.token(audience)).split('.');
        return `${head}.${encode({ iss: issuer.url, aud: audience, sub: 'root' })}.${signature}`;
      },
    ],
    ['that is not a token', () => 'a.b.c'],
    [
      'that brings its own key, and names where to find it',
      async () => {
        const other = await Issuer.start();
        const jwk = await exportJWK(other.publicKey('first'));
        const header = { alg: 'ES256', kid: 'first', jwk, jku: `${other.url}/keys` };
        const now = Math.floor(Date.now() / 1000);
        const claims = { iss: issuer.url, aud: audience, sub: 'alice', exp: now + 600 };
        const token = await new SignJWT({ ...claims, scope: 'memory:write' })
          .setProtectedHeader(header)
          .sign(other.key('first'));
        await other.close();
        return token;
      },
    ],
  ])('%s is refused', async (_, make) => {
    const refused = await write(await make());
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${metadata}"`,
    );
  });

  test('of a clock that is half a minute off is accepted', async () => {
    expect((await read(await issuer.token(audience, { exp: now() - 30 }))).status).toBe(200);
    expect((await read(await issuer.token(audience, { nbf: now() + 30 }))).status).toBe(200);
  });
});

test.each([
  ['expired', { exp: -50 }, 200],
  ['expired', { exp: -70 }, 401],
  ['is valid', { nbf: 50 }, 200],
  ['is valid', { nbf: 70 }, 401],
])(
  'the clocks may differ by a minute: a token %s %j seconds from now',
  async (_, claims, status) => {
    const now = Math.floor(Date.now() / 1000);
    const times = Object.entries(claims).map(([claim, seconds]) => [claim, now + seconds]);
    const found = await read(await issuer.token(audience, Object.fromEntries(times)));
    expect(found.status).toBe(status);
  },
);

describe('the keys of the issuer', () => {
  test('that were replaced are no longer accepted', async () => {
    const tokens = new AccessTokens(issuer.url, 50);
    const old = await issuer.token(audience);
    const subject = async (token: string) => (await tokens.identify(token, [audience]))?.subject;
    expect(await subject(old)).toBe('alice');
    issuer.removeKey('first');
    await issuer.addKey('second');
    const renewed = await issuer.token(audience, {}, 'second');
    await expect.poll(() => subject(renewed)).toBe('alice');
    expect(await subject(old)).toBeUndefined();
  });

  test('may change; many unknown ones do not become many requests', async () => {
    const tokens = new AccessTokens(issuer.url, 50);
    const identify = async (kid: string, key = issuer.key(kid)) =>
      (await tokens.identify(await issuer.token(audience, {}, kid, key), [audience]))?.subject;
    expect(await identify('first')).toBe('alice');
    await issuer.addKey('second');
    await expect.poll(() => identify('second')).toBe('alice');
    const before = issuer.requests;
    const unknown = Array.from({ length: 100 }, (_, i) => identify(`${i}`, issuer.key('first')));
    expect(new Set(await Promise.all(unknown))).toEqual(new Set([undefined]));
    expect(issuer.requests - before).toBeLessThan(5);
  });

  test.each<[string, () => void]>([
    ['are down', () => (issuer.down = true)],
    ['are not JSON', () => (issuer.instead = '<html>')],
    [
      'are too long',
      () => (issuer.instead = JSON.stringify({ keys: [], pad: 'x'.repeat(300_000) })),
    ],
  ])('that %s are not the fault of the token', async (_, breakKeys) => {
    breakKeys();
    const refused = await read(await issuer.token(audience));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await read(key)).status).toBe(200);
  });

  test('are read again after a failure', async () => {
    const tokens = new AccessTokens(issuer.url, 50);
    issuer.down = true;
    const token = await issuer.token(audience);
    await expect(tokens.identify(token, [audience])).rejects.toThrow('cannot be read');
    issuer.down = false;
    const subject = () =>
      tokens.identify(token, [audience]).then(
        (identity) => identity?.subject,
        () => 'not yet',
      );
    await expect.poll(subject).toBe('alice');
  });

  test('that cannot be read are asked for again only after a pause', async () => {
    const tokens = new AccessTokens(issuer.url);
    issuer.instead = '<html>';
    const token = await issuer.token(audience);
    for (let i = 0; i < 20; i += 1) {
      await expect(tokens.identify(token, [audience])).rejects.toThrow('cannot be read');
    }
    expect(issuer.requests).toBe(1);
  });

  test('are used while the issuer is down', async () => {
    const tokens = new AccessTokens(issuer.url, 0);
    const subject = async (kid: string) => {
      const token = await issuer.token(audience, {}, kid, issuer.key('first'));
      return (await tokens.identify(token, [audience]))?.subject;
    };
    expect(await subject('first')).toBe('alice');
    issuer.down = true;
    await expect(subject('unknown')).rejects.toThrow('cannot be read');
    expect(await subject('first')).toBe('alice');
    issuer.down = false;
    expect(await subject('unknown')).toBeUndefined();
  });

  test('of a document for another issuer are not used', async () => {
    const tokens = new AccessTokens(`${issuer.url}/other`);
    await expect(tokens.identify(await issuer.token(audience), [audience])).rejects.toThrow(
      'cannot be read',
    );
  });
});

describe('a session of an access token', () => {
  const page = { 'x-memory-page': 'a-secret-that-only-the-page-has-of-46-letters_' };

  async function open(scope: string, claims: Claims = {}) {
    const headers = { ...bearer(await issuer.token(audience, { scope, ...claims })), ...page };
    const opened = await served.ask('POST', '/session', { headers });
    const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return { opened, headers: { authorization: '', cookie, ...page } };
  }

  const writeAs = (headers: Record<string, string>) =>
    served.ask('POST', '/memory-bank/file', { headers, body: { filename: 'a.md', content: 'x' } });

  test('commits under the person of the token, and has its scopes', async () => {
    const { headers } = await open('memory:write');
    expect((await writeAs(headers)).status).toBe(200);
    expect(author()).toBe('Alice Example <alice@example.com>');
    const reader = await open('memory:read');
    expect((await writeAs(reader.headers)).status).toBe(403);
  });

  test('ends with the token', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const { opened } = await open('memory:write', { exp });
    expect(Date.parse(opened.body.expires)).toBe(exp * 1000);
  });

  test('cannot open another one, nor does a token that is not valid', async () => {
    const { headers } = await open('memory:write');
    expect((await served.ask('POST', '/session', { headers })).status).toBe(401);
    const other = await issuer.token('https://other.example.com/mcp');
    const refused = await served.ask('POST', '/session', {
      headers: { ...bearer(other), ...page },
    });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []]);
  });
});

test('a session of a token for one project is for that project only', async () => {
  const names = ['api', 'web'];
  const projects = names.map((name) => ({ name, app: projectApp(Repo.create().root) }));
  const several = await serve({ oauth: { issuer: issuer.url, publicUrl }, projects });
  const token = await issuer.token(`${publicUrl}/p/api/mcp`, { scope: 'memory:read' });
  const opened = await several.ask('POST', '/p/api/session', { headers: bearer(token) });
  const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const headers = { authorization: '', cookie };
  const paths = ['/p/api/memory-bank/files', '/p/web/memory-bank/files', '/memory-bank/files'];
  const statuses = paths.map(async (path) => (await several.ask('GET', path, { headers })).status);
  expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
  await several.close();
  for (const { app } of projects) await app.close();
});
