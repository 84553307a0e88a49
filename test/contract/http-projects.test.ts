import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { viewFace } from '../../src/server/view/view-face.ts';
import { deep, sample } from '../support/depth.ts';
import { failure, key, type Served, serve } from '../support/http.ts';
import { endStatus, HttpProgram } from '../support/http-program.ts';
import { Issuer } from '../support/issuer.ts';
import { modernMeta, revision } from '../support/modern.ts';
import { main } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const publicUrl = 'https://memory.example.com';
const audience = `${publicUrl}/mcp`;

const repos = { api: Repo.create(), web: Repo.create() };
const apps = Object.entries(repos).map(([name, { root }]) => ({ name, app: projectApp(root) }));
let issuer: Issuer;
let served: Served;

beforeAll(async () => {
  issuer = await Issuer.start();
  const face = viewFace({ folder: 'dist', version: '0.0.0' });
  const oauth = { issuer: issuer.url, publicUrl };
  served = await serve({ projects: apps, oauth }, {}, {}, face);
  for (const { name } of apps) {
    const body = { filename: 'note.md', content: `of ${name}` };
    await served.ask('POST', `/p/${name}/memory-bank/file`, { body });
  }
});

afterAll(async () => {
  await served.close();
  for (const { app } of apps) await app.close();
  await issuer.close();
});

const bearer = (token?: string) => (token ? { authorization: `Bearer ${token}` } : {});

/** Sends a request of revision 2026-07-28. */
function rpc(path: string, method: string, params: object = {}, token?: string) {
  const { name: named, uri } = params as { readonly name?: string; readonly uri?: string };
  const name = named ?? uri;
  return served.ask('POST', path, {
    headers: {
      ...bearer(token),
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { _meta: modernMeta(), ...params } },
  });
}

const call = (path: string, name: string, args: object = {}, token?: string) =>
  rpc(path, 'tools/call', { name, arguments: args }, token);

const readNote = (path: string, args: object = {}, token?: string) =>
  call(path, 'read_memory_bank_file', { filename: 'note.md', ...args }, token);

const rest = (path: string, token?: string) =>
  served.ask('GET', `${path}/memory-bank/file/note.md`, { headers: bearer(token) });

describe('a project', () => {
  test.each([
    ['/p/api', 'of api'],
    ['/p/web', 'of web'],
    ['', 'of api'],
  ])('at %j answers its own records', async (path, content) => {
    expect((await rest(path)).body).toMatchObject({ content });
    expect((await readNote(`${path}/mcp`)).body.result.structuredContent).toMatchObject({
      content,
    });
    const found = await served.ask('GET', `${path}/memory/record/note.md`);
    expect(JSON.stringify(found.body)).toContain(content);
    const search = await served.ask('GET', `${path}/memory/search?query=of`);
    for (const other of ['of api', 'of web'].filter((one) => one !== content)) {
      expect(JSON.stringify([found.body, search.body])).not.toContain(other);
    }
    expect((await served.ask('GET', `${path}/openapi.json`)).body.servers).toEqual([
      { url: path || '/p/api' },
    ]);
  });

  test('commits to its own repository', () => {
    for (const [name, repo] of Object.entries(repos)) {
      expect(repo.git('rev-list', '--count', 'HEAD').trim()).toBe('2');
      expect(repo.git('show', 'HEAD:.memory-bank/note.md')).toContain(`of ${name}`);
    }
  });

  test('cannot be left for the folder of another one', async () => {
    const args = { path: repos.web.root };
    const { result } = (await call('/p/api/mcp', 'set_memory_bank_path', args)).body;
    expect(result.isError).toBe(true);
  });

  test('has MCP sessions and handles of its own', async () => {
    const initialize = {
      headers: { accept: 'application/json, text/event-stream' },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'old', version: '1' },
        },
      },
    };
    const begun = await served.ask('POST', '/p/web/mcp', initialize);
    const id = begun.headers.get('mcp-session-id') ?? '';
    const list = {
      headers: { ...initialize.headers, 'mcp-session-id': id },
      body: {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/call',
        params: { name: 'read_memory_bank_file', arguments: { filename: 'note.md' } },
      },
    };
    const own = await served.ask('POST', '/p/web/mcp', list);
    expect(JSON.stringify(own.body)).toContain('of web');
    expect((await served.ask('POST', '/p/api/mcp', list)).status).toBe(404);
    const switched = await call('/p/web/mcp', 'switch_mode', { mode: 'architect' });
    const { session } = switched.body.result.structuredContent;
    expect((await readNote('/p/api/mcp', { session })).body.result.isError).toBe(true);
    const through = await readNote('/mcp', { session });
    expect(through.body.result.structuredContent).toMatchObject({ content: 'of web' });
  });

  test('that does not exist is refused by name', async () => {
    const { status, body } = await served.ask('GET', '/p/wbe/memory-bank/files');
    expect([status, body]).toEqual([404, failure('invalid_request')]);
    expect(body.error.message).toBe('There is no project "wbe". The caller can use: api, web.');
    const stranger = { headers: { authorization: '' } };
    expect((await served.ask('GET', '/p/wbe/status', stranger)).status).toBe(401);
  });
});

describe('at /mcp', () => {
  test('tools take a project, which decides', async () => {
    const { tools } = (await rpc('/mcp', 'tools/list')).body.result;
    const named = (await rpc('/p/api/mcp', 'tools/list')).body.result.tools;
    for (const [i, tool] of tools.entries()) {
      expect(tool.inputSchema.properties.project.description).toContain('Project of this server');
      expect(named[i].inputSchema.properties).not.toHaveProperty('project');
    }
    const { result } = (await readNote('/mcp', { project: 'web' })).body;
    expect(result.structuredContent).toMatchObject({ content: 'of web' });
    const { error } = (await readNote('/mcp', { project: 'wbe' })).body;
    expect(error).toMatchObject({ code: -32602 });
    expect(error.message).toContain('"wbe". The caller can use: api, web.');
  });
});

test('a request to /mcp that waits for permission to send its body gets it once', async () => {
  const { port, host } = new URL(served.url);
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
    params: { _meta: modernMeta() },
  });
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `MCP-Protocol-Version: ${revision}`,
    'Mcp-Method: tools/list',
    'Expect: 100-continue',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const [leave] = await once(socket, 'data');
  expect(leave).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  let rest = '';
  for await (const piece of socket) rest += piece;
  expect(rest).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

describe('a request without arguments of a tool', () => {
  const uri = 'memory-bank://note.md';
  const at = (fields: object) => ({ uri, _meta: { ...modernMeta(), ...fields } });
  const read = (path: string, fields: object, token?: string) =>
    rpc(path, 'resources/read', at(fields), token);

  test('takes a project at /mcp, as a field of _meta or as the argument of a prompt', async () => {
    const { result } = (await read('/mcp', { 'memory-bank/project': 'web' })).body;
    expect(result.contents[0].text).toBe('of web');
    const list = await rpc('/mcp', 'resources/list', at({ 'memory-bank/project': 'wbe' }));
    expect(list.body.error.message).toContain('"wbe". The caller can use: api, web.');
    const body = { filename: 'only-web.md', content: 'x' };
    await served.ask('POST', '/p/web/memory-bank/file', { body });
    for (const [project, listed] of [
      ['api', 'Files: note.md.'],
      ['web', 'Files: note.md, only-web.md.'],
    ]) {
      const args = { name: 'update-memory-bank', arguments: { project } };
      expect(JSON.stringify((await rpc('/mcp', 'prompts/get', args)).body)).toContain(listed);
    }
    const token = await issuer.token(audience, { scope: 'memory:read:web' });
    expect((await read('/mcp', { 'memory-bank/project': 'api' }, token)).status).toBe(403);
  });

  test('takes a handle, whose project and mode it has', async () => {
    const switched = await call('/p/web/mcp', 'switch_mode', { mode: 'architect' });
    const { session } = switched.body.result.structuredContent;
    const { result } = (await read('/mcp', { 'memory-bank/session': session })).body;
    expect(result.contents[0].text).toBe('of web');
    const args = { name: 'update-memory-bank', arguments: { session } };
    const prompt = (await rpc('/p/web/mcp', 'prompts/get', args)).body.result;
    expect(JSON.stringify(prompt)).toContain('new or changed patterns in systemPatterns.md');
    const foreign = await read('/p/api/mcp', { 'memory-bank/session': session });
    expect(foreign.body.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('is not a handle that this server gave to this caller'),
    });
    const { prompts } = (await rpc('/mcp', 'prompts/list')).body.result;
    const names = prompts[0].arguments.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['session', 'project']);
  });
});

describe('an access token', () => {
  test('may be for one project by its scopes', async () => {
    const token = await issuer.token(audience, { scope: 'memory:read:web' });
    expect((await rest('/p/web', token)).body).toMatchObject({ content: 'of web' });
    expect((await rest('', token)).body).toMatchObject({ content: 'of web' });
    const fields = 'error="insufficient_scope", scope="memory:read:api"';
    const status = { headers: bearer(token) };
    for (const [refused, path] of [
      [await rest('/p/api', token), '/p/api'],
      [await rest('/P/API', token), '/p/api'],
      [await served.ask('GET', '/p/api/status', status), '/p/api'],
      [await readNote('/p/api/mcp', {}, token), '/p/api'],
      [await readNote('/mcp', { project: 'api' }, token), ''],
    ] as const) {
      expect(refused.status).toBe(403);
      // The metadata is that of the address which the client uses, whatever the project.
      const metadata = `${publicUrl}/.well-known/oauth-protected-resource${path}/mcp`;
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer ${fields}, resource_metadata="${metadata}"`,
      );
    }
    expect((await served.ask('GET', '/p/web/status', status)).status).toBe(200);
    const write = { headers: bearer(token), body: { filename: 'a.md', content: 'x' } };
    expect((await served.ask('POST', '/p/web/memory-bank/file', write)).status).toBe(403);
    const list = await served.ask('GET', '/projects', { headers: bearer(token) });
    expect(list.body.projects).toEqual([{ name: 'web', path: '/p/web' }]);
    const { error } = (await readNote('/mcp', { project: 'x' }, token)).body;
    expect(error.message).toBe('There is no project "x". The caller can use: web.');
  });

  test('is asked for by the metadata of the address that the client uses', async () => {
    for (const path of ['', '/p/web']) {
      const refused = await served.ask('POST', `${path}/mcp`, { headers: { authorization: '' } });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource${path}/mcp"`,
      ]);
    }
  });

  test('may be for one project by its audience', async () => {
    const token = await issuer.token(`${publicUrl}/p/web/mcp`);
    const statuses = ['/p/web', '/p/api', ''].map(async (path) => (await rest(path, token)).status);
    expect(await Promise.all(statuses)).toEqual([200, 401, 401]);
    const path = '/.well-known/oauth-protected-resource/p/web/mcp';
    const { body } = await served.ask('GET', path, { headers: { authorization: '' } });
    expect(body).toMatchObject({ resource: `${publicUrl}/p/web/mcp` });
    expect(body.scopes_supported).toContain('memory:write:web');
    expect(body.scopes_supported).not.toContain('memory:write:api');
  });
});

describe('the command line', () => {
  const { api, web } = repos;
  const refused: [string[], string][] = [
    [['--project', 'api'], '--project api is not <name>=<folder>'],
    [['--project', `A/b=${api.root}`], 'has a name that is not'],
    [['--project', `a=${api.root}`, '--project', `a=${web.root}`], 'repeats the name a'],
    [['--project', `a=${api.root}/none`], '--project a: '],
    [['--project', `a=${api.root}`, '--project', `b=${api.root}`], 'overlaps with the folder'],
    [['--root', api.root, '--project', `a=${api.root}`], 'exclude each other'],
  ];
  test.each(sample(refused, 1))('%j is refused', (args, message) => {
    const { status, stderr } = spawnSync(process.execPath, [main, 'serve', ...args], {
      encoding: 'utf8',
    });
    expect(stderr).toContain(message);
    expect(status).not.toBe(0);
  });

  deep('serves the projects that it names', async () => {
    const args = ['--project', `one=${api.root}`, '--project', `two=${web.root}`];
    const MEMORY_BANK_API_KEYS = 'key-of-the-tests';
    const program = await HttpProgram.start(args, { MEMORY_BANK_API_KEYS });
    const found = await program.ask('GET', '/p/two/memory-bank/file/note.md');
    expect(found.body).toMatchObject({ content: 'of web' });
    expect(program.err).toContain('project one at');
    expect(await program.stop()).toBe(endStatus);
  });
});
