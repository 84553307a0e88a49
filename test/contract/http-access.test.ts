import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Scope } from '../../src/server/http/auth/access-tokens.ts';
import {
  accessTo,
  type RouteAccess,
  routeAccess,
} from '../../src/server/http/auth/route-access.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { deep } from '../support/depth.ts';
import { key, personKey, type Served, serve } from '../support/http.ts';
import { Issuer } from '../support/issuer.ts';
import { newFolder } from '../support/process.ts';

const publicUrl = 'https://memory.example.com';
const secret = 'secret-of-a-page-with-32-characters';
const everything: readonly Scope[] = ['memory:read', 'memory:write', 'memory:admin'];

type Sent = Record<string, string>;

/** A caller: what it sends with each request, and the rights that it has to get. */
interface Kind {
  readonly headers: () => Promise<Sent>;
  /** Undefined for a caller that nobody knows. */
  readonly rights: readonly Scope[] | undefined;
  readonly isSession?: boolean;
}

let issuer: Issuer;
let served: Served;

const bearer = (token: string): Sent => ({ authorization: `Bearer ${token}` });

const cookieOf = (headers: Headers) => headers.getSetCookie()[0]?.split(';')[0] ?? '';

async function session(opener: Sent, page: Sent): Promise<Sent> {
  const opened = await served.ask('POST', '/session', { headers: { ...opener, ...page } });
  // A change with any cookie needs the header, which other sites cannot send.
  return { authorization: '', cookie: cookieOf(opened.headers), 'x-memory-page': '1', ...page };
}

/** Signs in by the issuer, which grants these scopes. */
async function issuerSession(scope: string): Promise<Sent> {
  issuer.person = { scope };
  const headers = { authorization: '', 'x-memory-page': secret };
  const begun = await served.ask('POST', '/sign-in/begin', { headers });
  const back = await fetch(begun.body.location, { redirect: 'manual' });
  const answer = new URL(back.headers.get('location') ?? '').searchParams;
  const body = Object.fromEntries(answer);
  const finished = await served.ask('POST', '/sign-in/finish', { headers, body });
  return { ...headers, cookie: cookieOf(finished.headers) };
}

const withScope = (scope: string) => async () =>
  bearer(await issuer.token(`${publicUrl}/mcp`, { scope }));

const kinds: { readonly [name: string]: Kind } = {
  nobody: { headers: async () => ({ authorization: '' }), rights: undefined },
  'a wrong key': { headers: async () => bearer('wrong-key-of-nobody'), rights: undefined },
  "an agent's key": { headers: async () => bearer(key), rights: everything },
  "a session of an agent's key": {
    headers: () => session(bearer(key), {}),
    rights: everything,
    isSession: true,
  },
  "a page's session by an agent's key": {
    headers: () => session(bearer(key), { 'x-memory-page': secret }),
    rights: everything,
    isSession: true,
  },
  "the cookie of a person's page": {
    headers: async () => {
      const { cookie = '' } = await session(bearer(personKey), { 'x-memory-page': secret });
      return { authorization: '', cookie };
    },
    rights: undefined,
  },
  "a person's session without a page": {
    headers: () => session(bearer(personKey), {}),
    rights: everything,
    isSession: true,
  },
  "a page's session of a person": {
    headers: () => session(bearer(personKey), { 'x-memory-page': secret }),
    rights: [...everything, 'memory:review'],
    isSession: true,
  },
  "a person's key": {
    headers: async () => bearer(personKey),
    rights: [...everything, 'memory:review'],
  },
  "a page's session by the issuer": {
    headers: () => issuerSession('memory:read memory:write memory:review'),
    rights: ['memory:read', 'memory:write', 'memory:review'],
    isSession: true,
  },
  "a page's session by the issuer, of an agent": {
    headers: () => issuerSession('memory:write'),
    rights: ['memory:read', 'memory:write'],
    isSession: true,
  },
  'a token to read': { headers: withScope('memory:read'), rights: ['memory:read'] },
  'a token to write': {
    headers: withScope('memory:write'),
    rights: ['memory:read', 'memory:write'],
  },
  'a token of an administrator': { headers: withScope('memory:admin'), rights: everything },
  'a token to review': {
    headers: withScope('memory:review'),
    rights: ['memory:read', 'memory:write', 'memory:review'],
  },
};

beforeAll(async () => {
  issuer = await Issuer.start();
  const face = viewFace({ folder: newFolder(), version: '0.0.0' });
  const client = { id: 'window', scope: 'memory:review' };
  const oauth = { issuer: issuer.url, publicUrl, client };
  served = await serve({ oauth, metrics: true }, {}, {}, face);
});

afterAll(async () => {
  await served.close();
  await issuer.close();
});

/** Sends an empty request to a route; returns its status only, because a stream has no end. */
async function statusOf(route: string, headers: Sent): Promise<number> {
  const [method = '', path = ''] = route.split(' ');
  const url = served.url + path.replace(/\{\w+\}/, 'note.md');
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    redirect: 'manual',
    ...(method === 'POST' && { body: '{}' }),
  });
  await response.body?.cancel();
  return response.status;
}

function expected(access: RouteAccess, { rights }: Kind): 'answered' | 401 | 403 {
  if (access === 'anyone') return 'answered';
  if (!rights) return 401;
  return rights.includes(access) ? 'answered' : 403;
}

describe('the table of access', () => {
  test('has every route of the server, and no other', async () => {
    const { body } = await served.ask('GET', '/openapi.json');
    const { paths }: { paths: Record<string, object> } = body;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const others = [...routeAccess.keys()].filter((route) => !operations.includes(route));
    expect(operations.filter((route) => !routeAccess.has(route))).toEqual([]);
    expect(others.sort()).toEqual([
      'DELETE /mcp',
      'GET /',
      'GET /.well-known/oauth-protected-resource',
      'GET /docs',
      'GET /mcp',
      'GET /openapi.json',
      'GET /projects',
      'GET /view',
      'POST /mcp',
    ]);
  });

  test('refuses an operation that it does not have', () => {
    const endpoint = { method: 'get', path: '/new', id: 'new', summary: '', handle() {} } as const;
    expect(() => accessTo({ ...endpoint, answer: Object() }, false)).toThrow('GET /new');
  });

  deep.each(Object.entries(kinds))('decides about %s', async (_, kind) => {
    for (const [route, declared] of routeAccess) {
      const access = typeof declared === 'string' ? declared : declared[0];
      // The file of the page itself is missing here, and the projects have no names.
      if (route === 'GET /view' || route === 'GET /projects') continue;
      const status = await statusOf(route, await kind.headers());
      // A session cannot prolong itself.
      if (route === 'POST /session' && kind.isSession) {
        expect(status).toBe(401);
        continue;
      }
      const seen = status === 401 || status === 403 ? status : 'answered';
      expect([route, seen]).toEqual([route, expected(access, kind)]);
    }
  });
});
