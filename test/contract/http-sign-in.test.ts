import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HttpSettings } from '../../src/server/http/rest/settings.ts';
import { viewFace } from '../../src/server/view/view-face.ts';
import { deep } from '../support/depth.ts';
import { type Answer, personKey, type Served, serve } from '../support/http.ts';
import { endStatus, HttpProgram } from '../support/http-program.ts';
import { type Claims, Issuer } from '../support/issuer.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const publicUrl = 'https://memory.example.com';
const audience = `${publicUrl}/mcp`;
const scope = 'memory:read memory:write memory:review';
const page = { 'x-memory-page': 'a-secret-that-only-the-page-has-of-46-letters_' };
const otherPage = { 'x-memory-page': 'a-secret-of-the-page-of-another-browser-alas_' };
const nobody = { authorization: '' };

let issuer: Issuer;
let served: Served;

const start = (settings: Partial<HttpSettings> = {}, client: object = {}) =>
  serve(
    {
      oauth: { issuer: issuer.url, publicUrl, client: { id: 'window', scope, ...client } },
      ...settings,
    },
    {},
    {},
    viewFace({ folder: newFolder(), version: '0.0.0' }),
  );

beforeEach(async () => {
  issuer = await Issuer.start();
  served = await start();
});

afterEach(async () => {
  vi.useRealTimers();
  await served.close();
  await issuer.close();
});

type Sent = Readonly<Record<string, string>>;

const begin = (headers: Sent = page, server = served) =>
  server.ask('POST', '/sign-in/begin', { headers: { ...nobody, ...headers } });

const finish = (body: Sent, headers: Sent = page, path = '', server = served) =>
  server.ask('POST', `${path}/sign-in/finish`, { headers: { ...nobody, ...headers }, body });

/** Follows the way of a browser to the issuer; returns the parameters with which it comes back. */
async function atIssuer(begun: Answer): Promise<Record<string, string>> {
  const back = await fetch(begun.body.location, { redirect: 'manual' });
  const { origin, pathname, searchParams } = new URL(back.headers.get('location') ?? '');
  expect(origin + pathname).toBe(`${publicUrl}/view/sign-in`);
  return Object.fromEntries(searchParams);
}

/** Signs in; returns the answer, and the headers of the page's requests. */
async function signIn(person: Claims = {}, path = '', server = served) {
  issuer.person = person;
  const answer = await finish(await atIssuer(await begin(page, server)), page, path, server);
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { answer, headers: { ...nobody, ...page, cookie } };
}

const messageOf = ({ body }: Answer): string => body.error.message;
const author = () => served.repo.git('log', '-1', '--format=%an <%ae>').trim();

const note = { filename: 'note.md', content: '# Note\n\nText.\n' };

/** Makes the memory require a review of the changes of agents. */
async function requireReviews(): Promise<void> {
  const { repo } = served;
  const write = (filename: string) =>
    served.ask('POST', '/memory-bank/file', {
      headers: { authorization: `Bearer ${personKey}` },
      body: { filename, content: 'x' },
    });
  await write('first.md');
  const config = '.memory-bank/config.yaml';
  repo.write(config, `${repo.read(config)}review: required\n`);
  repo.git('commit', '-q', '-am', 'Require reviews');
  // With the first change, the memory gets the format that requires a review.
  await write('second.md');
}

/** No session was opened, and nothing secret is in the answer or in the log. */
function expectNothingOpen(answer: Answer): void {
  expect(answer.headers.getSetCookie()).toEqual([]);
  const said = JSON.stringify(answer.body) + served.log.join('\n');
  for (const secret of issuer.grants.secrets) expect(said).not.toContain(secret);
}

test('the way to sign in is open to everybody, and names the issuer', async () => {
  const way = await served.ask('GET', '/sign-in', { headers: nobody });
  expect(way.body).toEqual({
    status: 'success',
    issuer: new URL(issuer.url).host,
    address: publicUrl,
  });
});

test('a server without a client for the window has no such way', async () => {
  const plain = await start({ oauth: { issuer: issuer.url, publicUrl } });
  const way = await plain.ask('GET', '/sign-in', { headers: nobody });
  expect(way.body).toEqual({ status: 'success' });
  const refused = await begin(page, plain);
  expect([refused.status, messageOf(refused)]).toEqual([
    404,
    'Nobody can sign in by an issuer here: --client-id is not set.',
  ]);
  await plain.close();
});

describe('a sign-in', () => {
  test('asks the issuer for a token for this server, by PKCE', async () => {
    await signIn();
    const [asked] = issuer.grants.asked;
    expect(asked).toEqual({
      response_type: 'code',
      client_id: 'window',
      redirect_uri: `${publicUrl}/view/sign-in`,
      scope,
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      resource: audience,
    });
    const [redeemed] = issuer.grants.redeemed;
    expect(redeemed).toMatchObject({ client_id: 'window', resource: audience });
  });

  deep('opens a session of the person, who decides on the changes of agents', async () => {
    await requireReviews();
    const agent = { authorization: `Bearer ${await issuer.token(audience)}` };
    const asked = await served.ask('POST', '/memory-bank/file', { headers: agent, body: note });
    expect(asked.headers.get('x-memory-branch')).toMatch(/^memory-review\//);
    const { answer, headers } = await signIn({ name: 'Ann', email: 'ann@example.com' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'success' } });
    const own = { filename: 'own.md', content: '# Own\n\nText.\n' };
    const written = await served.ask('POST', '/memory-bank/file', { headers, body: own });
    expect(written.headers.get('x-memory-branch')).toBe('main');
    expect(author()).toBe('Ann <ann@example.com>');
    const { body } = await served.ask('GET', '/memory/reviews', { headers });
    const [{ name, tip }] = body.reviews;
    const accepted = await served.ask('POST', '/memory/reviews/accept', {
      headers,
      body: { name, tip },
    });
    expect(accepted.status).toBe(200);
    expect(served.repo.git('show', 'main:.memory-bank/note.md')).toBe(note.content);
    expect(served.repo.git('log', '-1', '--format=%cn <%ce> %an <%ae>%n%B', 'main')).toContain(
      'Ann <ann@example.com>',
    );
  });

  test('without memory:review is not one of a person', async () => {
    await requireReviews();
    const { answer, headers } = await signIn({ scope: 'memory:write' });
    expect(answer.status).toBe(200);
    const written = await served.ask('POST', '/memory-bank/file', { headers, body: note });
    expect(written.headers.get('x-memory-branch')).toMatch(/^memory-review\//);
    for (const path of [
      '/memory/reviewed',
      '/memory/reviews/accept',
      '/memory/reviews/drop',
      '/memory/branches/accept',
    ]) {
      const refused = await served.ask('POST', path, { headers, body: {} });
      expect([refused.status, messageOf(refused)]).toEqual([
        403,
        expect.stringContaining('The access token lacks the scope memory:review'),
      ]);
    }
  });

  test('gives the cookie to the page that began it, and to no other', async () => {
    const { headers } = await signIn();
    const files = (sent: Sent) =>
      served.ask('GET', '/memory-bank/files', { headers: { ...headers, ...sent } });
    expect((await files({})).status).toBe(200);
    expect((await files(otherPage)).status).toBe(401);
    expect((await files({ 'x-memory-page': '' })).status).toBe(401);
  });

  test('ends with the token, and keeps nothing that could renew it', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600;
    const { answer } = await signIn({ exp });
    expect(Date.parse(answer.body.expires)).toBe(exp * 1000);
    expect(Object.keys(answer.body)).toEqual(['status', 'expires']);
    expect(issuer.grants.redeemed).toHaveLength(1);
  });

  test('gets a cookie that is Secure behind a proxy with TLS, and HttpOnly always', async () => {
    const answer = await atIssuer(await begin());
    const finished = await finish(answer, { ...page, 'x-forwarded-proto': 'https' });
    expect(finished.headers.getSetCookie()[0]).toMatch(/HttpOnly; Secure; SameSite=Strict$/);
  });

  test('with openid also checks the ID token', async () => {
    const withId = await start({}, { scope: `openid ${scope}` });
    const { answer } = await signIn({}, '', withId);
    expect(answer.status).toBe(200);
    expect(issuer.grants.asked[0]?.nonce).toMatch(/^[\w-]{43}$/);
    issuer.grants.nonce = 'nonce-of-another-sign-in';
    const refused = (await signIn({}, '', withId)).answer;
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([502, []]);
    await withId.close();
  });

  deep.each([undefined, ['client_secret_basic'], ['client_secret_post', 'none']])(
    'of a confidential client proves its identity by its secret, in the way %j',
    async (ways) => {
      issuer.grants.client = { id: 'window', secret: 'a secret_of-the:window' };
      issuer.grants.ways = ways;
      const refused = (await signIn()).answer;
      expect(refused.status).toBe(502);
      expect(messageOf(refused)).toContain('refuses this server: invalid_client');
      const confidential = await start({}, { secret: 'a secret_of-the:window' });
      const { answer } = await signIn({}, '', confidential);
      expect(answer.status).toBe(200);
      await confidential.close();
    },
  );

  test('names no resource where the audience is not a URL', async () => {
    const other = await start({
      oauth: {
        issuer: issuer.url,
        publicUrl,
        audience: 'memory',
        client: { id: 'window', scope },
      },
    });
    const { answer } = await signIn({ aud: 'memory' }, '', other);
    expect(answer.status).toBe(200);
    expect(issuer.grants.asked[0]).not.toHaveProperty('resource');
    await other.close();
  });
});

describe('a sign-in fails, and nothing is open:', () => {
  test.each<[string, Claims, RegExp]>([
    ['for another audience', { aud: 'https://other.example.com/mcp' }, /audience https:\/\/memory/],
    ['of another issuer', { iss: 'https://other.example.com' }, /not for this server/],
    ['that has expired', { exp: 1_000 }, /not for this server/],
    ['without a scope', { scope: '' }, /lacks the scope memory:read/],
    ['with other scopes', { scope: 'openid profile' }, /lacks the scope memory:read/],
  ])('a token %s', async (_, person, message) => {
    const { answer } = await signIn(person);
    expect([answer.status, messageOf(answer)]).toEqual([403, expect.stringMatching(message)]);
    expectNothingOpen(answer);
  });

  test('a token for another audience, which the log describes to the administrator', async () => {
    await signIn({ aud: 'account' });
    expect(served.log.join('\n')).toContain(`"iss":"${issuer.url}","aud":"account","exp":`);
  });

  test('the person has denied it', async () => {
    issuer.grants.refusal = { error: 'access_denied', error_description: 'Alice said\nno.' };
    const { answer } = await signIn();
    expect(answer.status).toBe(403);
    expect(messageOf(answer)).toMatch(/has refused the sign-in: access_denied \(Alice said no\.\)/);
    expectNothingOpen(answer);
    expect(issuer.grants.redeemed).toEqual([]);
  });

  test('another issuer has answered', async () => {
    issuer.grants.answersAs = 'https://other.example.com';
    const { answer } = await signIn();
    expect(answer.status).toBe(502);
    expectNothingOpen(answer);
    expect(issuer.grants.redeemed).toEqual([]);
  });

  deep.each<[string, number, object, number]>([
    ['is out of order', 500, { error: 'server_error' }, 502],
    ['sends no JSON object', 200, [], 502],
    ['sends no token', 200, { token_type: 'Bearer' }, 502],
    ['sends a token of another type', 200, { token_type: 'mac', access_token: 'a.b.c' }, 502],
    ['sends a token that is not a JWT', 200, { token_type: 'Bearer', access_token: 'opaque' }, 403],
  ])('the token endpoint %s', async (_, status, body, expected) => {
    issuer.grants.failure = { status, body };
    const { answer } = await signIn();
    expect(answer.status).toBe(expected);
    expectNothingOpen(answer);
  });

  test('the issuer cannot be reached at the beginning', async () => {
    await issuer.close();
    const refused = await begin();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(messageOf(refused)).toMatch(/does not answer as expected\. Try again/);
    issuer = await Issuer.start();
  });

  test('the issuer cannot be reached at the end', async () => {
    const answer = await atIssuer(await begin());
    await issuer.close();
    const refused = await finish(answer);
    expect(refused.status).toBe(503);
    expectNothingOpen(refused);
    issuer = await Issuer.start();
  });

  test('the code is refused, and is neither shown nor logged', async () => {
    const answer = await atIssuer(await begin());
    const forged = { ...answer, code: 'code-that-was-guessed' };
    const refused = await finish(forged);
    expect(refused.status).toBe(400);
    expect(messageOf(refused)).toContain('no longer accepts this sign-in');
    expect(messageOf(refused) + served.log.join('\n')).not.toContain('guessed');
    expect(served.log.join('\n')).toContain('warning: A sign-in has failed:');
  });
});

describe('a sign-in cannot be finished', () => {
  test.each<[string, Sent]>([
    ['by another page', otherPage],
    ['without the secret of a page', {}],
    ['with a secret that can be guessed', { 'x-memory-page': '1' }],
  ])('%s', async (_, headers) => {
    const answer = await atIssuer(await begin());
    const refused = await finish(answer, headers);
    expect(refused.status).toBe(400);
    expectNothingOpen(refused);
    // Its own page still can.
    expect((await finish(answer)).status).toBe(200);
  });

  test('twice, nor with a state of nobody', async () => {
    const answer = await atIssuer(await begin());
    expect((await finish(answer)).status).toBe(200);
    for (const again of [answer, { ...answer, state: 'x' }, { code: 'x' }]) {
      const refused = await finish(again);
      expect(refused.status).toBe(400);
      expectNothingOpen(refused);
    }
    expect(issuer.grants.redeemed).toHaveLength(1);
  });

  test('after ten minutes', async () => {
    const answer = await atIssuer(await begin());
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + 10 * 60 * 1000 + 1);
    const refused = await finish(answer);
    expect([refused.status, messageOf(refused)]).toEqual([
      400,
      expect.stringContaining('It took too long'),
    ]);
  });

  test('by a page of another site', async () => {
    const answer = await atIssuer(await begin());
    const foreign = { ...page, origin: 'https://evil.example' };
    expect((await finish(answer, foreign)).status).toBe(403);
    expect((await begin(foreign)).status).toBe(403);
  });

  test('if too many others have begun since, which count for their address', async () => {
    const limited = await start({ limits: { minute: 3, hour: 1_000 } });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await begin(page, limited)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    await limited.close();
  });
});

describe('with several projects, a sign-in', () => {
  let several: Served;
  let apps: ReturnType<typeof projectApp>[];

  beforeEach(async () => {
    const projects = ['api', 'web'].map((name) => ({ name, app: projectApp(Repo.create().root) }));
    apps = projects.map(({ app }) => app);
    several = await start({ projects });
  });

  afterEach(async () => {
    await several.close();
    for (const app of apps) await app.close();
  });

  const statuses = (headers: Sent) =>
    Promise.all(
      ['/p/api/memory-bank/files', '/p/web/memory-bank/files', '/memory-bank/files'].map(
        async (path) => (await several.ask('GET', path, { headers })).status,
      ),
    );

  test('is for all of them', async () => {
    const { headers } = await signIn({}, '/p/web', several);
    expect(await statuses(headers)).toEqual([200, 200, 200]);
  });

  test('is limited by the scopes of the token', async () => {
    const { answer, headers } = await signIn({ scope: 'memory:review:web' }, '/p/web', several);
    expect(answer.status).toBe(200);
    expect(await statuses(headers)).toEqual([403, 200, 200]);
    const elsewhere = await signIn({ scope: 'memory:review:web' }, '/p/api', several);
    expect(elsewhere.answer.status).toBe(403);
    expect(messageOf(elsewhere.answer)).toContain('lacks the scope memory:read:api');
    const anywhere = await signIn({ scope: 'memory:read:web' }, '', several);
    expect(anywhere.answer.status).toBe(200);
  });

  test('needs a token for the server, not for one project', async () => {
    const { answer } = await signIn({ aud: `${publicUrl}/p/web/mcp` }, '/p/web', several);
    expect(answer.status).toBe(403);
    expect(messageOf(answer)).toContain(`audience ${audience}.`);
  });
});

deep('memory-bank serve reads the client of the window from its configuration', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'secret'), 'secret-of-the-window\n');
  const config = {
    issuer: issuer.url,
    'public-url': publicUrl,
    'client-id': 'window',
    'client-secret-file': 'secret',
    'client-scope': ['openid', 'memory:write'],
  };
  writeFileSync(join(folder, 'serve.json'), JSON.stringify(config));
  const program = await HttpProgram.start(['--config', join(folder, 'serve.json')]);
  issuer.grants.client = { id: 'window', secret: 'secret-of-the-window' };
  const headers = { ...nobody, ...page };
  const body = await atIssuer(await program.ask('POST', '/sign-in/begin', { headers }));
  expect(issuer.grants.asked[0]?.scope).toBe('openid memory:write');
  const finished = await program.ask('POST', '/sign-in/finish', { headers, body });
  const cookie = finished.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const written = await program.ask('POST', '/memory-bank/file', {
    headers: { ...headers, cookie },
    body: note,
  });
  expect(written.status).toBe(200);
  expect(program.repo.git('log', '-1', '--format=%an').trim()).toBe('Alice Example');
  expect(await program.stop()).toBe(endStatus);
  for (const secret of [...issuer.grants.secrets, 'secret-of-the-window', page['x-memory-page']]) {
    expect(program.out + program.err).not.toContain(secret);
  }
});
