import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { failure, key, type Served, seedQuestion, serve } from '../support/http.ts';
import { endStatus, HttpProgram } from '../support/http-program.ts';

let api: Served;

beforeAll(async () => {
  api = await serve();
});

afterAll(() => api.close());

const ok = (message: string) => ({ status: 'success', message });

/** The changes that the seed shows: path, body, message, and the subject of the commit. */
const changes: readonly (readonly [string, object, string, string])[] = [
  [
    '/memory-bank/file',
    { filename: 'example.md', content: '# Example File\n\nThis is an example file.' },
    'File written successfully',
    'write example.md',
  ],
  [
    '/memory-bank/trackProgress',
    {
      action: 'Implementation',
      description: 'Implemented feature X',
      updateActiveContext: true,
    },
    'Progress tracked successfully',
    'track progress: Implemented feature X (Implementation)',
  ],
  [
    '/memory-bank/logDecision',
    {
      title: 'Authentication Method',
      context: 'We need to choose an authentication method for our API',
      decision: 'Use JWT for authentication',
      alternatives: ['Session-based authentication', 'OAuth 2.0', 'API keys'],
      consequences: [
        'Stateless authentication',
        'Easy to implement across different platforms',
        'Need to handle token expiration and refresh',
      ],
    },
    'Decision logged successfully',
    'log decision "Authentication Method"',
  ],
  [
    '/memory-bank/updateActiveContext',
    {
      tasks: ['Implement authentication', 'Add error handling', 'Write tests'],
      issues: ['Performance issue in data processing', 'UI not responsive on mobile'],
      nextSteps: [
        'Complete authentication implementation',
        'Fix performance issues',
        'Improve mobile UI',
      ],
    },
    'Active context updated successfully',
    'update active context: ongoing tasks, known issues, next steps',
  ],
];

describe('the examples of the seed, as printed', () => {
  test('GET /status before the memory exists, without a key', async () => {
    const { status, body } = await api.ask('GET', '/status', { headers: { authorization: '' } });
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'ok', version: '1.0.0', memoryBankStatus: 'uninitialized' });
    expect(api.repo.status()).toEqual([]);
  });

  test('GET /memory-bank/files before the memory exists', async () => {
    const { body } = await api.ask('GET', '/memory-bank/files');
    expect(body).toEqual({ status: 'success', files: [] });
  });

  test.each(changes)(
    'POST %s is one commit, which the headers name',
    async (path, body, message, subject) => {
      const before = api.repo.git('rev-parse', 'HEAD').trim();
      const answer = await api.ask('POST', path, { body });
      expect(answer).toMatchObject({ status: 200, body: ok(message) });
      expect(answer.headers.get('x-memory-commit')).toBe(api.repo.git('rev-parse', 'HEAD').trim());
      expect(answer.headers.get('x-memory-branch')).toBe('main');
      expect(api.repo.git('rev-parse', 'HEAD^').trim()).toBe(before);
      expect(api.repo.git('log', '-1', '--format=%s').trim()).toBe(`memory: ${subject}`);
    },
  );

  test('the files contain what was posted', () => {
    const progress = api.repo.read('.memory-bank/progress.md');
    expect(progress).toMatch(/^- \[\d{4}-\d\d-\d\d\] - Implementation: Implemented feature X$/m);
    const decisions = api.repo.read('.memory-bank/decisionLog.md');
    expect(decisions).toMatch(/^## Authentication Method - \d{4}-\d\d-\d\d$/m);
    const context = api.repo.read('.memory-bank/activeContext.md');
    expect(context).toContain('## Known Issues\n\n- Performance issue in data processing\n');
  });

  test('GET /memory-bank/file/:filename', async () => {
    const { body } = await api.ask('GET', '/memory-bank/file/example.md');
    expect(body).toEqual({
      status: 'success',
      content: '# Example File\n\nThis is an example file.',
    });
  });

  test('GET /memory-bank/file/:filename with a section', async () => {
    const path = '/memory-bank/file/decisionLog.md?unknown=1&section=';
    const named = await api.ask('GET', `${path}${encodeURIComponent('Nothing > here')}`);
    expect(named.status).toBe(400);
    expect(JSON.stringify(named.body)).toContain('Authentication Method');
    const { body } = await api.ask('GET', '/memory-bank/file/example.md?section=Example%20File');
    expect(body).toMatchObject({ content: '# Example File\n\nThis is an example file.' });
  });

  test('GET /memory-bank/files, the core files first', async () => {
    const { body } = await api.ask('GET', '/memory-bank/files');
    const core = ['activeContext.md', 'progress.md', 'decisionLog.md'];
    expect(body).toEqual({
      status: 'success',
      files: [...core, 'example.md'],
    });
  });

  test('GET /memory-bank/modes', async () => {
    const { body } = await api.ask('GET', '/memory-bank/modes');
    const modes = ['architect', 'code', 'ask', 'debug', 'test'];
    expect(body).toEqual({ status: 'success', modes });
  });

  test('GET /memory-bank/brief, within the budget of the query', async () => {
    const { body } = await api.ask('GET', '/memory-bank/brief?budget=600&prompt=authentication');
    expect(body).toEqual({ status: 'success', brief: expect.stringContaining('activeContext.md') });
    expect(body.brief.length).toBeLessThanOrEqual(600);
    const refused = await api.ask('GET', '/memory-bank/brief?budget=many');
    expect(refused).toMatchObject({ status: 400, body: failure('invalid_request') });
    const { paths } = (await api.ask('GET', '/openapi.json')).body;
    const { parameters, operationId } = paths['/memory-bank/brief'].get;
    expect(operationId).toBe('brief');
    const named = parameters.map(({ name }: { name: string }) => name);
    expect(named).toEqual(expect.arrayContaining(['budget', 'prompt']));
  });

  test('DELETE /memory-bank/file/:filename', async () => {
    const answer = await api.ask('DELETE', '/memory-bank/file/example.md');
    expect(answer).toMatchObject({ status: 200, body: ok('File deleted successfully') });
    expect(answer.headers.get('x-memory-commit')).toBe(api.repo.git('rev-parse', 'HEAD').trim());
    expect((await api.ask('GET', '/memory-bank/file/example.md')).status).toBe(404);
  });

  test('GET /status of a memory that exists', async () => {
    const { body } = await api.ask('GET', '/status');
    expect(body.memoryBankStatus).toBe('initialized');
  });

  test('the commits name the program that sent the request', () => {
    const log = api.repo.git('log', '--format=%(trailers:key=Memory-Agent,valueonly)');
    expect(new Set(log.split('\n').filter(Boolean))).toEqual(new Set(['node']));
  });
});

test.skipIf(spawnSync('curl', ['--version']).error)(
  'the examples of the seed run with curl, against localhost and within the limits',
  async () => {
    const program = await HttpProgram.start([], { MEMORY_BANK_API_KEYS: key });
    const base = program.url.replace('127.0.0.1', 'localhost');
    const run = promisify(execFile);
    const curl = async (path: string, ...args: string[]) => {
      const bearer = ['-H', `Authorization: Bearer ${key}`];
      const { stdout } = await run('curl', ['-sS', '-i', ...bearer, ...args, `${base}${path}`]);
      const [head = '', body = ''] = stdout.split('\r\n\r\n');
      return { head, body: JSON.parse(body) };
    };
    const json = ['-H', 'Content-Type: application/json'];
    const first = await curl('/status');
    expect(first.body).toEqual({
      status: 'ok',
      version: '1.0.0',
      memoryBankStatus: 'uninitialized',
    });
    expect(first.head).toMatch(/^X-RateLimit-Limit: 60\r?$/m);
    expect(first.head).toMatch(/^X-RateLimit-Remaining: 59\r?$/m);
    expect(first.head).toMatch(/^X-RateLimit-Reset: \d{10}\r?$/m);
    for (const [path, body, message] of changes) {
      expect((await curl(path, ...json, '-d', JSON.stringify(body))).body).toEqual(ok(message));
    }
    expect((await curl('/memory-bank/file/example.md')).body).toEqual({
      content: '# Example File\n\nThis is an example file.',
      status: 'success',
    });
    expect((await curl('/memory-bank/files')).body.files).toContain('example.md');
    expect((await curl('/memory-bank/modes')).body.modes.slice(0, 2)).toEqual([
      'architect',
      'code',
    ]);
    expect((await curl('/chat', ...json, '-d', JSON.stringify(seedQuestion))).body).toMatchObject({
      response: expect.stringMatching(/^Based on the Memory Bank, /),
      status: 'success',
    });
    expect((await curl('/memory-bank/file/example.md', '-X', 'DELETE')).body).toEqual(
      ok('File deleted successfully'),
    );
    expect((await curl('/status')).body.memoryBankStatus).toBe('initialized');
    expect(await program.stop()).toBe(endStatus);
  },
);

describe('files', () => {
  test.each(['docs/api.md', 'docs%2Fapi.md', 'docs%2fapi.md'])(
    'in folders are found as %s',
    async (path) => {
      const written = { filename: 'docs/api.md', content: 'of the API\r\n' };
      await api.ask('POST', '/memory-bank/file', { body: written });
      const { body } = await api.ask('GET', `/memory-bank/file/${path}`);
      expect(body.content).toBe('of the API\r\n');
    },
  );

  test('have names and texts of any language', async () => {
    const filename = 'notes/größe 漢字.md';
    const content = '☃ "quoted" \\ \u0000 \u2028 end';
    expect(
      (await api.ask('POST', '/memory-bank/file', { body: { filename, content } })).status,
    ).toBe(200);
    const path = `/memory-bank/file/${encodeURIComponent(filename)}`;
    expect((await api.ask('GET', path)).body.content).toBe(content);
    expect((await api.ask('DELETE', path)).status).toBe(200);
  });

  test('take a list as JSON text, as clients send it', async () => {
    const body = { tasks: '["Read JSON text"]', issues: null, nextSteps: [] };
    const { status } = await api.ask('POST', '/memory-bank/updateActiveContext', { body });
    expect(status).toBe(200);
    expect(api.repo.read('.memory-bank/activeContext.md')).toContain('- Read JSON text\n');
  });

  test('that do not change make no commit', async () => {
    const body = { filename: 'same.md', content: 'same' };
    expect(
      (await api.ask('POST', '/memory-bank/file', { body })).headers.get('x-memory-commit'),
    ).toMatch(/^[0-9a-f]{40,64}$/);
    const again = await api.ask('POST', '/memory-bank/file', { body });
    expect(again.body).toEqual(ok('File written successfully'));
    expect(again.headers.has('x-memory-commit')).toBe(false);
  });

  test('of a mode of the project are reported when they cannot be used', async () => {
    api.repo.write('.clinerules-broken', 'just prose');
    const { body } = await api.ask('GET', '/memory-bank/modes');
    expect(body.modes).not.toContain('broken');
    expect(body.skipped).toEqual([
      { source: '.clinerules-broken', reason: expect.stringMatching(/./) },
    ]);
  });
});

describe('the headers of an answer', () => {
  test('name a branch of any name', async () => {
    api.repo.git('checkout', '-q', '-b', 'größe/50%');
    const body = { filename: 'branch.md', content: 'x' };
    const { headers } = await api.ask('POST', '/memory-bank/file', { body });
    expect(decodeURIComponent(headers.get('x-memory-branch') ?? '')).toBe('größe/50%');
    api.repo.git('checkout', '-q', 'main');
  });

  test('warn when no branch holds the commit', async () => {
    api.repo.git('checkout', '-q', '--detach');
    const body = { filename: 'detached.md', content: 'x' };
    const { headers } = await api.ask('POST', '/memory-bank/file', { body });
    expect(headers.has('x-memory-branch')).toBe(false);
    expect(headers.get('x-memory-warning')).toContain('HEAD is detached');
    api.repo.git('checkout', '-q', 'main');
  });

  test.each([
    [undefined, '1.0.0'],
    ['1.0.0', '1.0.0'],
    ['1.7.3', '1.7.3'],
  ])('version %s is accepted and echoed', async (asked, echoed) => {
    const headers = asked === undefined ? {} : { 'x-api-version': asked };
    const answer = await api.ask('GET', '/memory-bank/files', { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-api-version')).toBe(echoed);
  });

  test.each(['2.0.0', '0.9.0', '1', '1.0', 'v1.0.0', '1.0.0, 1.0.0', 'one', '1.0.0-x', ''])(
    'version %j is refused',
    async (version) => {
      const headers = { 'x-api-version': version };
      const answer = await api.ask('GET', '/memory-bank/files', { headers });
      expect(answer).toMatchObject({ status: 400, body: failure('invalid_request') });
      expect(answer.headers.get('x-api-version')).toBe('1.0.0');
    },
  );

  test('restrict browsers and proxies', async () => {
    const { headers } = await api.ask('GET', '/status');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('x-powered-by')).toBe(false);
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('failures', () => {
  const write = { filename: 'a.md', content: 'x' };

  test.each([
    ['GET', '/memory-bank/file/nothing.md', undefined, 404, 'file_not_found'],
    ['DELETE', '/memory-bank/file/nothing.md', undefined, 404, 'file_not_found'],
    ['GET', '/memory-bank/file/secret.txt', undefined, 400, 'invalid_request'],
    ['POST', '/memory-bank/file', { filename: 'a.md' }, 400, 'invalid_request'],
    ['POST', '/memory-bank/file', { ...write, content: null }, 400, 'invalid_request'],
    ['POST', '/memory-bank/file', { ...write, content: 5 }, 400, 'invalid_request'],
    ['POST', '/memory-bank/file', [write], 400, 'invalid_request'],
    ['POST', '/memory-bank/file', undefined, 400, 'invalid_request'],
    ['POST', '/memory-bank/trackProgress', {}, 400, 'invalid_request'],
    ['POST', '/memory-bank/logDecision', { title: 'x' }, 400, 'invalid_request'],
    ['POST', '/memory-bank/updateActiveContext', { tasks: 'x' }, 400, 'invalid_request'],
    ['POST', '/', {}, 404, 'invalid_request'],
    ['GET', '/memory-bank', undefined, 404, 'invalid_request'],
    ['GET', '/memory-bank/nothing', undefined, 404, 'invalid_request'],
    ['GET', '/memory-bank/file', undefined, 405, 'invalid_request'],
    ['PUT', '/memory-bank/file/a.md', write, 405, 'invalid_request'],
    ['DELETE', '/status', undefined, 405, 'invalid_request'],
    ['POST', '/memory-bank/files', {}, 405, 'invalid_request'],
    ['OPTIONS', '/memory-bank/files', undefined, 405, 'invalid_request'],
    ['GET', '/chat', undefined, 405, 'invalid_request'],
  ])('%s %s with %j is %i %s', async (method, path, body, status, code) => {
    const head = api.repo.git('rev-parse', 'HEAD');
    const answer = await api.ask(method, path, { body });
    expect(answer).toMatchObject({ status, body: failure(code) });
    expect(answer.headers.has('x-memory-commit')).toBe(false);
    expect(api.repo.git('rev-parse', 'HEAD')).toBe(head);
  });

  test('name the methods that a path allows', async () => {
    const { headers } = await api.ask('PATCH', '/memory-bank/file/a.md');
    expect(headers.get('allow')).toBe('GET, DELETE');
  });

  test('of a mode are 403', async () => {
    const strict = await serve({}, { mode: 'ask' });
    const body = { filename: 'plan.md', content: 'x' };
    const answer = await strict.ask('POST', '/memory-bank/file', { body });
    expect(answer).toMatchObject({ status: 403, body: failure('unauthorized') });
    await strict.close();
  });

  test('of a file that cannot be stored are 500, without a path of the server', async () => {
    api.repo.write('.gitignore', '.memory-bank/\n');
    const body = { filename: 'ignored.md', content: 'x' };
    const answer = await api.ask('POST', '/memory-bank/file', { body });
    expect(answer).toMatchObject({ status: 500, body: failure('server_error') });
    expect(JSON.stringify(answer.body)).not.toContain(api.repo.root);
    api.repo.git('rm', '-q', '--cached', '--ignore-unmatch', '.gitignore');
    api.repo.write('.gitignore', '');
  });

  test('list no operation of a toolset that is not enabled', async () => {
    const narrow = await serve({}, { enabled: ['graph'] });
    expect((await narrow.ask('GET', '/status')).status).toBe(200);
    expect(await narrow.ask('GET', '/memory-bank/files')).toMatchObject({
      status: 404,
      body: failure('invalid_request'),
    });
    expect((await narrow.ask('POST', '/chat', { body: {} })).status).toBe(404);
    await narrow.close();
  });
});

describe('the description of the API', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of which the tests assert the parts
  let description: any;

  beforeEach(async () => {
    description = (await api.ask('GET', '/openapi.json', { headers: { authorization: '' } })).body;
  });

  test('is OpenAPI 3.1 and names every operation of the seed', () => {
    expect(description.openapi).toBe('3.1.0');
    const operations = Object.entries<object>(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'DELETE /memory-bank/file/{filename}',
      'DELETE /session',
      'GET /health',
      'GET /memory-bank/brief',
      'GET /memory-bank/file/{filename}',
      'GET /memory-bank/files',
      'GET /memory-bank/modes',
      'GET /ready',
      'GET /status',
      'POST /chat',
      'POST /memory-bank/file',
      'POST /memory-bank/logDecision',
      'POST /memory-bank/trackProgress',
      'POST /memory-bank/updateActiveContext',
      'POST /session',
    ]);
  });

  test('describes parameters and bodies as the tools do', () => {
    const { get } = description.paths['/memory-bank/file/{filename}'];
    expect(get.operationId).toBe('read_memory_bank_file');
    expect(get.requestBody).toBeUndefined();
    expect(get.parameters[0]).toMatchObject({ name: 'filename', in: 'path', required: true });
    const { post } = description.paths['/memory-bank/logDecision'];
    const { schema } = post.requestBody.content['application/json'];
    expect(schema.required).toEqual(['title', 'context', 'decision']);
    expect(post.responses[200].headers).toHaveProperty('X-Memory-Commit');
    expect(description.paths['/status'].get.security).toEqual([]);
  });

  test.each([
    ['get', '/status', '/status'],
    ['get', '/health', '/health'],
    ['get', '/ready', '/ready'],
    ['get', '/memory-bank/files', '/memory-bank/files'],
    ['get', '/memory-bank/modes', '/memory-bank/modes'],
    ['get', '/memory-bank/file/{filename}', '/memory-bank/file/progress.md'],
  ])('%s %s is answered as described', async (method, template, path) => {
    const described = description.paths[template][method].responses[200];
    const schema = z.fromJSONSchema(described.content['application/json'].schema);
    const { body } = await api.ask(method.toUpperCase(), path);
    expect(schema.parse(body)).toEqual(body);
  });

  test('is also a page, which loads no other file', async () => {
    const { body, headers } = await api.ask('GET', '/docs', { headers: { authorization: '' } });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const path of Object.keys(description.paths)) expect(body).toContain(`</span> ${path}<`);
    expect(body).not.toMatch(/<script|<img|(?:src|href)="(?!openapi\.json")/);
    // A person who opens the address of the server finds the page, also without a key.
    const start = await fetch(`${api.url}/`, { redirect: 'manual' });
    expect([start.status, start.headers.get('location')]).toEqual([302, '/docs']);
  });
});
