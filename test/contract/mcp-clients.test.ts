import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { key, serve } from '../support/http.ts';
import { revision } from '../support/modern.ts';
import { main } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

const top = resolve(import.meta.dirname, '../..');
const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const open of opened.splice(0).reverse()) await open.close();
});

/** The ways in which a client of the second SDK generation chooses a revision. */
const modes = [
  ['legacy', '2025-11-25'],
  ['auto', revision],
  [{ pin: revision }, revision],
] as const;

type Mode = (typeof modes)[number][0];

async function connected(transport: Transport, mode: Mode, capabilities = {}): Promise<Client> {
  const client = new Client(
    { name: 'second-generation', version: '2.0' },
    { versionNegotiation: { mode }, capabilities },
  );
  opened.push(client);
  await client.connect(transport);
  return client;
}

async function overHttp() {
  const served = await serve();
  opened.push(served);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), { requestInit });
  return { repo: served.repo, transport };
}

function overStdio(cwd?: string) {
  const repo = Repo.create();
  const args = cwd === undefined ? [main, '--root', repo.root] : [main];
  const transport = () =>
    new StdioClientTransport({
      command: process.execPath,
      args,
      stderr: 'ignore',
      ...(cwd !== undefined && { cwd }),
    });
  return { repo, transport };
}

/** Uses what every client uses; returns the revision that the two agreed on. */
async function use(client: Client, repo: Repo) {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('write_memory_bank_file');
  const before = Number(repo.git('rev-list', '--count', 'HEAD'));
  const content = '# A\n\ntext\n\n## How we test\n\nwell\n';
  const write = { filename: 'a.md', content };
  const written = await client.callTool({ name: 'write_memory_bank_file', arguments: write });
  expect(written.isError).toBeFalsy();
  expect(written._meta?.['memory-bank/commit']).toBe(repo.git('rev-parse', 'HEAD').trim());
  expect(Number(repo.git('rev-list', '--count', 'HEAD')) - before).toBe(1);
  const trailer = '--format=%(trailers:key=Memory-Agent,valueonly)';
  expect(repo.git('log', '-1', trailer).trim()).toBe('second-generation/2.0');
  const uri = 'memory-bank://a.md';
  const { resources } = await client.listResources();
  expect(resources.map((resource) => resource.uri)).toContain(uri);
  expect((await client.readResource({ uri })).contents).toMatchObject([{ text: content }]);
  for (const part of ['?section=A+%3E+How%20we%20test', '#how%20we%20test']) {
    const { contents } = await client.readResource({ uri: uri + part });
    expect(contents).toMatchObject([{ uri: uri + part, text: '## How we test\n\nwell\n' }]);
  }
  await expect(client.readResource({ uri: `${uri}#none` })).rejects.toThrow('There is no section');
  await expect(client.readResource({ uri: 'memory-bank://b.md' })).rejects.toThrow('no resource');
  const { prompts } = await client.listPrompts();
  expect(prompts.length).toBeGreaterThan(0);
  const refused = await client.callTool({ name: 'read_memory_bank_file', arguments: {} });
  expect(refused.isError).toBe(true);
  await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow('Unknown tool');
  return client.getNegotiatedProtocolVersion();
}

describe.each(modes)('a client in the mode %j', (mode, agreed) => {
  test('works over HTTP', async () => {
    const { repo, transport } = await overHttp();
    expect(await use(await connected(transport(), mode), repo)).toBe(agreed);
  });

  const started = mode === 'auto' ? test : deep;
  started('works over stdio', async () => {
    const { repo, transport } = overStdio();
    expect(await use(await connected(transport(), mode), repo)).toBe(agreed);
  });
});

describe('a pinned client', () => {
  const mode = { pin: revision } as const;

  test('listens to changes over HTTP', async () => {
    const { transport } = await overHttp();
    const client = await connected(transport(), mode);
    const uri = 'memory-bank://a.md';
    await client.callTool({ name: 'initialize_memory_bank', arguments: { path: '.' } });
    const updated = new Promise((resolve) => {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        resolve(params.uri),
      );
    });
    const subscription = await client.listen({ resourceSubscriptions: [uri] });
    const write = { filename: 'a.md', content: 'text' };
    await client.callTool({ name: 'write_memory_bank_file', arguments: write });
    expect(await updated).toBe(uri);
    await subscription.close();
  });

  deep.each([
    ['HTTP', overHttp],
    ['stdio', overStdio],
  ] as const)('gets the skills of the program over %s', async (way, over) => {
    const { transport } = await over();
    const client = await connected(transport(), mode);
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    const { skills: listed, cacheScope } = await skills.list();
    expect(cacheScope).toBe('public');
    const names = listed.map(({ frontmatter }) => frontmatter.name);
    expect(names).toEqual(['recall', 'remember', 'review-memory', 'tend-memory']);
    for (const skill of listed) {
      expect((await skills.get(skill.uri)).skill).toEqual(skill);
      // The client compares the text with the digest and the front matter of the entry.
      const { text, verified } = await skills.read(skill);
      const file = join(top, 'plugins/skills', skill.frontmatter.name, 'SKILL.md');
      expect([text, verified]).toEqual([readFileSync(file, 'utf8'), true]);
      if (way === 'stdio') break;
    }
    for (const uri of ['skill://recall', 'skill://none/SKILL.md', 'memory-bank://a.md']) {
      await expect(skills.get(uri)).rejects.toThrow(`no skill ${uri}`);
    }
    const uri = 'skill://recall/../../package.json';
    await expect(client.readResource({ uri })).rejects.toThrow('no resource');
  });

  test('keeps its mode by the handle that it was given', async () => {
    const { transport } = await overHttp();
    const client = await connected(transport(), mode);
    const call = async (name: string, args: { [name: string]: unknown } = {}) =>
      (await client.callTool({ name, arguments: args })).structuredContent as {
        readonly [name: string]: unknown;
      };
    const { session } = await call('switch_mode', { mode: 'ask' });
    expect((await call('get_current_mode', { session })).mode).toBe('ask');
    expect((await call('get_current_mode')).mode).toBeNull();
  });

  deep('names its roots over stdio when it is asked', async () => {
    const { repo, transport } = overStdio('/');
    const client = await connected(transport(), mode, { roots: {} });
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file://${repo.root}` }] }));
    const { structuredContent } = await client.callTool({ name: 'get_memory_bank_status' });
    expect(structuredContent).toMatchObject({ path: expect.stringContaining(repo.root) });
  });

  deep('listens to changes over stdio', async () => {
    const { transport } = overStdio();
    const client = await connected(transport(), mode);
    await client.callTool({ name: 'initialize_memory_bank', arguments: { path: '.' } });
    const changed = new Promise((resolve) => {
      client.setNotificationHandler('notifications/resources/list_changed', resolve);
    });
    await client.listen({ resourcesListChanged: true });
    const write = { filename: 'a.md', content: 'text' };
    await client.callTool({ name: 'write_memory_bank_file', arguments: write });
    await changed;
  });
});
