import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deep, sample } from '../support/depth.ts';
import { buildProbeServer, newFolder, RawClient, type Start } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { signalled } from '../support/windows.ts';

let program: string;

/** A made-up credential. */
const token = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;
const clients: RawClient[] = [];

beforeAll(async () => {
  program = await buildProbeServer();
});

afterEach(() => {
  for (const client of clients.splice(0)) client.child.kill('SIGKILL');
});

function start(options?: Start): RawClient {
  const client = new RawClient([program], options);
  clients.push(client);
  return client;
}

/** Starts a server and initializes it. */
function greeted(options?: Start): RawClient {
  return start(options).initialize();
}

describe('initialize', () => {
  test.each(sample(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'], 1))(
    'agrees on revision %s',
    async (protocolVersion) => {
      const client = start().request(1, 'initialize', {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: 'raw', version: '1' },
      });
      const { result } = await client.answer(1);
      expect(result).toMatchObject({
        protocolVersion,
        serverInfo: { name: 'memory-bank', version: '0.0.0' },
        capabilities: {
          tools: {},
          resources: { subscribe: true, listChanged: true },
          prompts: {},
          logging: {},
        },
      });
      expect(result.instructions.length).toBeLessThan(800);
    },
  );

  test('offers the latest revision to a client that wants one that it does not know', async () => {
    const client = start().request(1, 'initialize', {
      protocolVersion: '2099-01-01',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    });
    expect((await client.answer(1)).result.protocolVersion).toBe('2025-11-25');
  });
});

describe('tools', () => {
  test('are listed with schema, annotations and guidance, the unlisted ones left out', async () => {
    const { result } = await greeted().request(1, 'tools/list').answer(1);
    const tools = new Map(result.tools.map((tool: { name: string }) => [tool.name, tool]));
    expect(tools.get('note_write')).toEqual({
      name: 'note_write',
      title: 'Write a note',
      description: 'Writes a note.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'Name of the note' },
          text: { type: 'string' },
        },
        required: ['name', 'text'],
      },
      annotations: {
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      _meta: { use_when: 'there is something to note' },
    });
    expect(tools.get('note_read')).toMatchObject({
      annotations: { readOnlyHint: true, openWorldHint: false },
    });
    expect(tools.get('note_drop')).toMatchObject({
      annotations: { destructiveHint: true, openWorldHint: false },
    });
    expect(tools.has('hidden')).toBe(false);
  });

  test('answer with the body as text and as structure, and with the commit', async () => {
    const cwd = Repo.create().root;
    const client = greeted({ cwd }).call(1, 'note_write', { name: 'a', text: 'x' });
    const { result } = await client.answer(1);
    expect(result).toEqual({
      content: [{ type: 'text', text: '{"ok":true,"agent":"raw/1"}' }],
      structuredContent: { ok: true, agent: 'raw/1' },
      _meta: {
        'memory-bank/commit': '0000000000000000000000000000000000000001',
        'memory-bank/branch': 'main',
      },
    });
  });

  test('fail in the words of the toolset, with the note as a second text and no structure', async () => {
    const { result } = await greeted().call(1, 'note_read', { name: 'nothing' }).answer(1);
    expect(result).toEqual({
      content: [
        {
          type: 'text',
          text: '{"ok":false,"code":"not_found","message":"There is no note nothing."}',
        },
        { type: 'text', text: 'It failed.' },
      ],
      isError: true,
    });
  });

  deep.each(sample([[5], ['text'], [[]], [null], [{ name: 1 }], [{}]], 2))(
    'answer wrong arguments themselves: %j',
    async (args) => {
      const { result } = await greeted().call(1, 'note_read', args).answer(1);
      expect(result.isError).toBe(true);
      expect(JSON.parse(result.content[0].text)).toMatchObject({ code: 'invalid_input' });
    },
  );

  test('may be called without arguments and by the name that clients print', async () => {
    const client = greeted().request(1, 'tools/call', { name: 'mcp__memory__steps' });
    expect((await client.answer(1)).result.structuredContent).toMatchObject({ ok: true });
  });

  const similar = 'Unknown tool: mcp__memory__note_reed. Did you mean note_read?';

  deep.each([
    ['an unknown tool', { name: 'nothing' }, 'Unknown tool: nothing'],
    ['a similar name', { name: 'mcp__memory__note_reed' }, similar],
    ['an unlisted tool', { name: 'hidden' }, 'Unknown tool: hidden'],
    // An answer becomes part of a conversation, so it does not repeat a credential.
    ['a credential', { name: token }, 'Unknown tool: [a GitHub token]'],
    ['no name', { arguments: {} }, 'The parameter "name" must be a string.'],
    ['a name that is not a string', { name: 5 }, 'The parameter "name" must be a string.'],
  ])('the protocol answers %s', async (_, params, message) => {
    const client = greeted().request(1, 'tools/call', params);
    expect((await client.answer(1)).error).toEqual({ code: -32602, message });
  });

  test('the client and its version are on one line', async () => {
    const clientInfo = { name: 'evil\nMemory-Tool: x\u2028\u0000', version: '9'.repeat(200) };
    const client = start()
      .initialize({}, clientInfo)
      .call(1, 'note_write', { name: 'a', text: '' });
    const { agent } = (await client.answer(1)).result.structuredContent;
    expect(agent).toMatch(/^evil Memory-Tool: x \/9+$/);
    expect(agent).toHaveLength(100);
  });

  test('report progress to the client that asked, each step further than the one before', async () => {
    const client = greeted().call(1, 'steps', {}, { progressToken: 'p' }).call(2, 'steps');
    await client.answer(2);
    const steps = client.messages.filter(({ method }) => method === 'notifications/progress');
    expect(steps.map(({ params }) => params)).toEqual([
      { progressToken: 'p', progress: 1, total: 2, message: 'half' },
      { progressToken: 'p', progress: 2, total: 2, message: 'done' },
    ]);
  });

  test('stop when they are cancelled, without an answer, and delay no other call', async () => {
    const client = greeted().call(1, 'wait');
    await client.told('notifications/message');
    client.notify('notifications/cancelled', { requestId: 1, reason: 'enough' }).call(2, 'steps');
    await client.answer(2);
    expect(client.messages.some(({ id }) => id === 1)).toBe(false);
    expect(await client.end()).toBe(0);
  });
});

describe('logging', () => {
  test('sends messages of the level that was asked for', async () => {
    const client = greeted().request(1, 'logging/setLevel', { level: 'error' }).call(2, 'wait');
    client.request(3, 'ping');
    await client.answer(3);
    // A call waits for the one before it, so this answer means that the first call has ended.
    client.notify('notifications/cancelled', { requestId: 2 }).call(4, 'note_read', { name: 'a' });
    await client.answer(4);
    client.request(5, 'logging/setLevel', { level: 'debug' });
    await client.answer(5);
    client.call(6, 'wait');
    expect((await client.told('notifications/message')).params).toEqual({
      level: 'notice',
      logger: 'memory-bank',
      data: 'waiting',
    });
    expect(client.messages.filter(({ method }) => method === 'notifications/message')).toHaveLength(
      1,
    );
  });

  test('of an unknown level is refused', async () => {
    const client = greeted().request(1, 'logging/setLevel', { level: 'loud' });
    expect((await client.answer(1)).error.code).toBe(-32602);
  });
});

describe('resources and prompts', () => {
  const write = { name: 'a b', text: 'first' };

  test('are listed, found by template and read', async () => {
    const client = greeted().call(1, 'note_write', write).request(2, 'resources/list');
    const listed = { uri: 'note://a%20b', name: 'a b', mimeType: 'text/markdown' };
    expect((await client.answer(2)).result).toEqual({ resources: [listed] });
    client.request(3, 'resources/read', { uri: 'note://a%20b' });
    expect((await client.answer(3)).result).toEqual({ contents: [{ ...listed, text: 'first' }] });
    client.request(4, 'resources/templates/list');
    expect((await client.answer(4)).result.resourceTemplates).toEqual([
      { uriTemplate: 'note://{+path}', name: 'note' },
    ]);
  });

  deep.each([
    ['note://nothing', -32002],
    ['note://%zz', -32002],
    ['file:///etc/passwd', -32002],
    [5, -32602],
  ])('%j is refused', async (uri, code) => {
    const client = greeted().request(1, 'resources/read', { uri });
    expect((await client.answer(1)).error.code).toBe(code);
  });

  deep(
    'a new record changes the list; only a change of a subscribed record is reported',
    async () => {
      const client = greeted().request(1, 'resources/list');
      await client.answer(1);
      client.call(2, 'note_write', write);
      await client.told('notifications/resources/list_changed');
      client.request(3, 'resources/subscribe', { uri: 'note://a%20b' });
      client.request(4, 'resources/subscribe', { uri: 'note://later' });
      await client.answer(4);
      client.call(5, 'note_write', { name: 'other', text: '' });
      client.call(6, 'note_write', { ...write, text: 'second' });
      const updated = (uri: string) =>
        client.find(
          ({ method, params }) =>
            method === 'notifications/resources/updated' && params.uri === uri,
        );
      await updated('note://a%20b');
      client.call(7, 'note_write', { name: 'later', text: '' });
      await updated('note://later');
      client.request(8, 'resources/unsubscribe', { uri: 'note://a%20b' });
      client.call(9, 'note_write', { ...write, text: 'third' });
      client.call(10, 'note_write', { name: 'later', text: 'again' });
      await client.answer(10);
      await client.end();
      const uris = client.messages
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => params.uri);
      expect(uris.filter((uri) => uri === 'note://a%20b')).toHaveLength(1);
      expect(uris).not.toContain('note://other');
    },
  );

  test('in another workspace all of them have changed', async () => {
    const client = greeted().call(1, 'note_write', write);
    client.request(2, 'resources/subscribe', { uri: 'note://a%20b' });
    await client.answer(2);
    client.call(3, 'where', { path: newFolder() });
    await client.told('notifications/resources/list_changed');
    const { params } = await client.told('notifications/resources/updated');
    expect(params.uri).toBe('note://a%20b');
  });

  deep('without a project there are none', async () => {
    const client = greeted({ cwd: '/' }).request(1, 'resources/list');
    expect((await client.answer(1)).result).toEqual({ resources: [] });
    client.request(2, 'resources/read', { uri: 'note://a' });
    expect((await client.answer(2)).error.message).toContain('--root');
  });

  deep('a prompt is listed and written from the records', async () => {
    const client = greeted().call(1, 'note_write', write).request(2, 'prompts/list');
    expect((await client.answer(2)).result.prompts).toEqual([
      { name: 'recall', title: 'Recall', description: 'Recalls the notes' },
    ]);
    client.request(3, 'prompts/get', { name: 'recall' });
    expect((await client.answer(3)).result).toEqual({
      description: 'Recalls the notes',
      messages: [{ role: 'user', content: { type: 'text', text: 'There are 1 notes.' } }],
    });
    client.request(4, 'prompts/get', { name: 'nothing' });
    expect((await client.answer(4)).error.code).toBe(-32602);
  });
});

describe('roots', () => {
  const capabilities = { roots: { listChanged: true } };

  test('the only root of the client is served, and the next one when it changes', async () => {
    const [one, two] = [newFolder(), newFolder()];
    const client = start({ cwd: '/' }).initialize(capabilities).call(1, 'where');
    const asked = await client.told('roots/list');
    client.send({ jsonrpc: '2.0', id: asked.id, result: { roots: [{ uri: `file://${one}` }] } });
    expect((await client.answer(1)).result.structuredContent.root).toBe(one);
    client.notify('notifications/roots/list_changed').call(2, 'where');
    const again = await client.find(({ id, method }) => method === 'roots/list' && id !== asked.id);
    client.send({ jsonrpc: '2.0', id: again.id, result: { roots: [{ uri: `file://${two}` }] } });
    expect((await client.answer(2)).result.structuredContent.root).toBe(two);
  });

  test('a client that disconnects without naming its roots still gets its answers', async () => {
    const cwd = newFolder();
    const client = start({ cwd }).initialize(capabilities).call(1, 'where');
    await client.told('roots/list');
    expect(await client.end()).toBe(0);
    expect((await client.answer(1)).result.structuredContent.root).toBe(cwd);
  });
});

describe('bad input', () => {
  const lines: [line: string, id: number | null, code: number][] = [
    ['{"jsonrpc":', null, -32700],
    ['nonsense', null, -32700],
    ['5', null, -32600],
    ['[]', null, -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":5}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"nothing"}', 1, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"constructor"}', 1, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"__proto__"}', 1, -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', 1, -32602],
  ];
  test.each(sample(lines, 3))('%s is answered, and the process goes on', async (line, id, code) => {
    const client = greeted().send(line);
    expect((await client.answer(id)).error.code).toBe(code);
    expect((await client.request(2, 'ping').answer(2)).result).toEqual({});
    expect(await client.end()).toBe(0);
  });

  test('a batch is taken apart', async () => {
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const client = greeted().send([ping(1), 7, ping(2)]);
    await Promise.all([client.answer(1), client.answer(2)]);
    expect((await client.answer(null)).error.code).toBe(-32600);
    client.send(Array.from({ length: 1_001 }, () => 7));
    await client.request(3, 'ping').answer(3);
    expect(client.messages.filter(({ id }) => id === null)).toHaveLength(2);
  });

  deep('a line of 50 MB is refused by its id, and the next one is served', async () => {
    const client = greeted();
    client.call(1, 'note_write', { name: 'big', text: 'x'.repeat(50_000_000) }).call(2, 'steps');
    expect((await client.answer(1)).error.code).toBe(-32600);
    expect((await client.answer(2)).result.structuredContent).toMatchObject({ ok: true });
    expect(await client.end()).toBe(0);
  });

  deep('deep nesting and names such as __proto__ do not end the process', async () => {
    const client = greeted();
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    client.send(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note_read","arguments":${deep}}}`,
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"note_read","arguments":{"__proto__":{"name":"a"},"constructor":1}}}',
      `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mcp__${'a__'.repeat(100_000)}"}}`,
    );
    for (const id of [1, 2]) expect((await client.answer(id)).result.isError).toBe(true);
    expect((await client.answer(3)).error.code).toBe(-32602);
    expect(await client.end()).toBe(0);
  });

  test('what a tool throws, prints or does after its answer stays off the wire', async () => {
    const client = greeted().call(1, 'fail').call(2, 'steps');
    expect((await client.answer(1)).result.isError).toBe(true);
    await client.answer(2);
    expect(await client.end()).toBe(0);
    expect(client.out).not.toMatch(/private detail|left behind|by a library/);
    expect(client.err).toContain('printed by a library\nwritten by a library\n');
    expect(client.err).toMatch(/error: fail: Error: private detail\n +at /);
    expect(client.err).toContain('left behind');
  });
});

describe('the end', () => {
  test('every request before the end of stdin is answered', async () => {
    const client = greeted();
    const count = 50;
    for (let i = 0; i < count; i += 1) client.call(i, 'note_write', { name: `n${i}`, text: '' });
    expect(await client.end()).toBe(0);
    expect(client.messages.filter(({ result }) => result?.structuredContent)).toHaveLength(count);
  });

  signalled.each(sample(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 1))(
    '%s lets the call under way finish',
    async (signal) => {
      const client = greeted().call(1, 'wait');
      await client.told('notifications/message');
      client.child.kill(signal);
      client.child.kill('SIGUSR2');
      expect(await client.exit).toBe(0);
      expect((await client.answer(1)).result.structuredContent).toMatchObject({
        ok: true,
        waited: true,
      });
    },
  );

  signalled('a second signal does not wait', async () => {
    const client = greeted().call(1, 'wait');
    await client.told('notifications/message');
    client.child.kill('SIGTERM');
    client.child.kill('SIGINT');
    const code = await client.exit;
    expect([128 + 2, 128 + 15]).toContain(code);
  });

  test('an uncaught exception ends it, after the calls under way', async () => {
    const client = greeted().call(1, 'break');
    expect((await client.answer(1)).result.structuredContent).toMatchObject({ ok: true });
    expect(await client.exit).toBe(1);
    expect(client.err).toMatch(/error: Error: uncaught\n +at /);
  });

  test('a broken stdout ends it with status 0', async () => {
    const client = greeted();
    await client.answer('init');
    client.child.stdout.destroy();
    for (let i = 0; i < 10; i += 1) client.request(i, 'tools/list');
    expect(await client.exit).toBe(0);
  });
});
