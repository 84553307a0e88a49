import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitStatus } from '../../src/cli/line/exit-status.ts';
import { readServeConfig, serveConfig } from '../../src/server/http/rest/config-file.ts';
import { deep } from '../support/depth.ts';
import { key, type Served, serve } from '../support/http.ts';
import { HttpProgram } from '../support/http-program.ts';
import { Issuer } from '../support/issuer.ts';
import { main, newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const publicUrl = 'https://memory.example.com';
const stranger = { headers: { authorization: '' } };

const repos = { api: Repo.create(), web: Repo.create() };
const projects = [
  { name: 'api', app: projectApp(repos.api.root) },
  {
    name: 'web',
    app: projectApp(repos.web.root),
    limits: { minute: 3, body: 2_000 },
  },
];
let issuer: Issuer;
let served: Served;

beforeAll(async () => {
  issuer = await Issuer.start();
  const oauth = { issuer: issuer.url, publicUrl };
  served = await serve({ projects, oauth, metrics: true, limits: { minute: 50, hour: 100 } });
});

afterAll(async () => {
  await served.close();
  for (const { app } of projects) await app.close();
  await issuer.close();
});

const bearer = async (scope: string) => ({
  authorization: `Bearer ${await issuer.token(`${publicUrl}/mcp`, { scope })}`,
});

describe('a probe', () => {
  test.each(['/health', '/ready'])('%s needs no key, no known Host and no quota', async (path) => {
    const answer = await served.ask('GET', path, {
      headers: { authorization: '', host: 'balancer.internal' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull();
    expect((await served.ask('POST', path, stranger)).status).toBe(405);
  });

  test('says that a memory which cannot be read is not ready, but the process alive', async () => {
    const broken = await serve();
    broken.repo.write('.memory-bank/config.yaml', 'format: 999\n');
    const answer = await broken.ask('GET', '/ready', stranger);
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).not.toContain(broken.repo.root);
    expect((await broken.ask('GET', '/health', stranger)).status).toBe(200);
    rmSync(broken.repo.path('.memory-bank/config.yaml'));
    await broken.close();
  });
});

describe('/metrics', () => {
  test('needs a key, or a token of an administrator of all projects', async () => {
    expect((await served.ask('GET', '/metrics', stranger)).status).toBe(401);
    for (const scope of ['memory:write', 'memory:admin:api']) {
      const refused = await served.ask('GET', '/metrics', { headers: await bearer(scope) });
      expect(refused.status).toBe(403);
      expect(refused.headers.get('www-authenticate')).toContain('scope="memory:admin"');
    }
    const headers = await bearer('memory:admin');
    expect((await served.ask('GET', '/metrics', { headers })).status).toBe(200);
  });

  test('counts requests, calls, commits and sessions under names of its own', async () => {
    const body = { filename: 'note.md', content: 'text' };
    const made = await served.ask('POST', '/p/api/memory-bank/file', { body });
    expect(made.status).toBe(200);
    await served.ask('GET', '/p/api/memory-bank/file/note.md');
    await served.ask('GET', '/p/api/memory-bank/file/secret-name.md');
    await served.ask('GET', '/p/api/nothing/secret-name', { headers: { 'user-agent': 'x' } });
    const { body: text, headers } = await served.ask('GET', '/metrics');
    expect(headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const count = 'memory_bank_http_request_duration_seconds_count';
    const file = '/memory-bank/file/{filename}';
    for (const line of [
      `${count}{method="GET",route="${file}",status="200"} 1`,
      `${count}{method="GET",route="${file}",status="404"} 1`,
      `${count}{method="POST",route="/memory-bank/file",status="200"} 1`,
      'memory_bank_call_duration_seconds_count{project="api",call="read_memory_bank_file",outcome="not_found"} 1',
      'memory_bank_commits_total{project="web"} 0',
      'memory_bank_http_requests_in_progress 1',
      'memory_bank_mcp_sessions{project="api"} 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(text).toMatch(/memory_bank_commits_total\{project="api"\} [12]\n/);
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).not.toContain('secret-name');
  });

  test('does not exist where nothing asks for it', async () => {
    const other = await serve();
    expect((await other.ask('GET', '/metrics')).status).toBe(404);
    await other.close();
  });
});

test('a project can have limits of its own', async () => {
  const own = await serve({ projects, limits: { minute: 50, hour: 100 } });
  const write = (name: string) =>
    own.ask('POST', `/p/${name}/memory-bank/file`, {
      body: { filename: 'long.md', content: 'x'.repeat(3_000) },
    });
  const rpc = {
    headers: { accept: 'application/json, text/event-stream' },
    body: { jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(3_000) } },
  };
  expect((await write('api')).status).toBe(200);
  expect((await write('web')).status).toBe(413);
  expect((await own.ask('POST', '/p/web/mcp', rpc)).status).toBe(413);
  const statuses: unknown[] = [];
  for (let i = 0; i < 4; i += 1) {
    const { status, headers } = await own.ask('GET', '/p/web/status');
    statuses.push([status, headers.get('x-ratelimit-limit')]);
  }
  expect(statuses.slice(0, 3)).toEqual([
    [200, '3'],
    [200, '3'],
    [429, '3'],
  ]);
  const other = await own.ask('GET', '/p/api/status');
  expect([other.status, other.headers.get('x-ratelimit-limit')]).toEqual([200, '50']);
  await own.close();
});

describe('the program', () => {
  const folder = newFolder();
  const file = join(folder, 'serve.yaml');

  deep('takes its options from a file, and logs JSON lines', async () => {
    writeFileSync(join(folder, 'keys'), `${key}\n`);
    writeFileSync(
      file,
      `# The server of a team
api-key-file: keys
allow-host: [memory.example.com]
log-format: json
limit-minute: 7
project:
  one: ${repos.api.root}
  two: {folder: ${repos.web.root}, limit-minute: 5}
`,
    );
    const program = await HttpProgram.start(['--config', file, '--limit-minute', '9']);
    const one = await program.ask('GET', '/p/one/status');
    const two = await program.ask('GET', '/p/two/status');
    expect([one, two].map(({ headers }) => headers.get('x-ratelimit-limit'))).toEqual(['9', '5']);
    const slow = await halfSent(program.url);
    const ended = program.stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    // The request under way is answered; a further one on its connection is refused.
    const answers = await slow.finish();
    expect(answers).toMatch(/^HTTP\/1\.1 200 .*HTTP\/1\.1 503 .*The server is stopping/s);
    expect(await ended).toBe(0);
    const lines = program.err.trim().split('\n');
    for (const line of lines) {
      expect(JSON.parse(line)).toEqual({
        time: expect.stringMatching(/^\d{4}-.*Z$/),
        level: 'notice',
        message: expect.stringContaining('memory-bank'),
      });
    }
    expect(lines.length).toBe(3);
  });

  test.each([
    ['limit-minut: 5', 'limit-minut: is not a known field; did you mean limit-minute'],
    ['port: many', 'port: expected number, received string'],
    ['port: 70000\nhost: 5', 'host: expected string, received number; port: must be at most 65535'],
    ['project: {A/b: /srv}', 'project.A/b: is a name of other characters than a-z'],
    ['project: {a: {folder: /srv, limit-hours: 5}}', 'did you mean limit-hour'],
    ['project: {a: {limit-hour: 5}}', 'project.a.folder: is required'],
    ['project: {a: 5}', 'project.a: must be a folder, or an object with a folder'],
    ['log-format: xml', 'log-format: must be one of "text", "json"'],
    ['issuer: login', 'issuer: '],
    ['- a list', 'line 1: expected a map of keys and values'],
    ['a: [', 'line 1: '],
  ])('refuses a file with %j', (text, message) => {
    expect(() => readServeConfig(text)).toThrow(message);
  });

  deep('names the file that it cannot use', () => {
    writeFileSync(file, 'log-format: json\nhosts: a');
    const args = [main, 'serve', '--config', file];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toContain(`${file}: hosts: is not a known field; did you mean host`);
    expect(status).toBe(exitStatus.invalid_input);
  });

  test('names every option of the file as the command line does', async () => {
    const { serveHttp } = await import('../../src/cli/commands/serve-http.ts');
    const { config: _, ...flags } = serveHttp.flags ?? {};
    expect(Object.keys(serveConfig.shape).sort()).toEqual(Object.keys(flags).sort());
  });
});

/** Begins a request, which is complete only after `finish` has sent the rest and another one. */
async function halfSent(url: string) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = (line: string, ...more: string[]) =>
    [`${line} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${key}`, ...more, '', ''].join(
      '\r\n',
    );
  const body = '{"filename":"slow.md","content":"x"}';
  const type = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  socket.write(head('POST /p/one/memory-bank/file', ...type));
  await new Promise((resolve) => setTimeout(resolve, 100));
  return {
    async finish() {
      socket.setEncoding('utf8').write(`${body}${head('GET /health')}`);
      let text = '';
      for await (const piece of socket) text += piece;
      return text;
    },
  };
}
