import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { deep, isFull } from '../support/depth.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** A folder with an empty PATH, so that the server finds no git program. */
const noPath = { PATH: newFolder() };

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', input: '' });
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' });
}

/** A repository with one commit, one staged and one dirty file. */
function repository(): string {
  const top = newFolder();
  git(top, 'init', '--quiet', '--initial-branch=main');
  git(top, 'config', 'user.name', 'Some Body');
  git(top, 'config', 'user.email', 'some@example.com');
  for (const name of ['staged', 'dirty']) writeFileSync(join(top, name), 'old\n');
  git(top, 'add', '.');
  git(top, 'commit', '--quiet', '--message=start');
  for (const name of ['staged', 'dirty']) writeFileSync(join(top, name), 'new\n');
  git(top, 'add', 'staged');
  return top;
}

describe('the command line', () => {
  test('--version and --help print and succeed', () => {
    const build = /builds\/([0-9a-f]{8})/.exec(readFileSync(main, 'utf8'))?.[1];
    expect(run('--version')).toMatchObject({
      status: 0,
      stdout: `${packageJson.version}+${build}\n`,
    });
    expect(run('--help')).toMatchObject({ status: 0, stderr: '' });
    expect(run('--help').stdout).toContain('--toolsets');
  });

  deep.each([
    [['--nonsense'], '--nonsense'],
    [['nonsense'], 'There is no command "nonsense".'],
    [['--root'], '--root'],
    [['--toolsets', 'graph,nonsense'], 'There is no toolset "nonsense".'],
  ])('%j is refused with the usage', (args, message) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('Usage: memory-bank');
  });

  deep.each([
    [
      ['export'],
      /needs a format\. The formats are: markdown .*\nUsage: memory-bank export \[format\] \[folder\] /,
    ],
    [['log-decisions'], /no command "log-decisions"\.\nDid you mean log or log-decision\?\nUsage/],
    [['serach', 'x'], /no command "serach"\.\nDid you mean search\?\nUsage/],
    [['help', 'serach'], /no command "serach"\. Did you mean search\?\nUsage/],
    [['search', '--limt', '2', 'x'], /: There is no option --limt\. Did you mean --limit\?\nUsage/],
    [
      ['log', '--limit', '-1'],
      /: --limit needs a value\. Write one that begins with .*=-….\nUsage/,
    ],
    [['log', '--limit'], /: --limit needs a value\./],
    [['doctor', '--fix=1'], /: --fix takes no value\.\nUsage/],
    [['doctor', 'now'], /: This command takes no arguments, not "now"\.\nUsage/],
    [['list', '--sort', 'size'], /: --sort must be path or age, not "size"\.\nUsage/],
    [['status', '--output', 'xml'], /: --output must be text or json, not "xml"\.\nUsage/],
    [['memory-list', '--output', 'xml'], /: --output must be text or json, not "xml"\.\nUsage/],
    [['log', '--nonsense'], /--nonsense.*\n(?:.*\n)?Usage: memory-bank log \[path\] \[options\]\n/],
  ])('%j is answered in a few lines', (args, text) => {
    const { status, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(text);
    expect(stderr.split('\n').length).toBeLessThan(7);
  });

  deep('--toolsets and MEMORY_BANK_TOOLSETS narrow what is offered', async () => {
    const names = async (client: RawClient): Promise<string[]> => {
      const { result } = await client.initialize().request(1, 'tools/list').answer(1);
      await client.end();
      return result.tools.map(({ name }: { name: string }) => name);
    };
    const six = await names(new RawClient([main, '--toolsets', 'documents']));
    expect(six).toHaveLength(6);
    expect(six).toContain('activate_project');
    const env = { MEMORY_BANK_TOOLSETS: 'documents, knowledge' };
    expect(await names(new RawClient([main], { env }))).toHaveLength(12);
    expect(await names(new RawClient([main, '--toolsets', 'documents'], { env }))).toEqual(six);
    const plugin = { MEMORY_BANK_PROFILE: 'agent' };
    expect(await names(new RawClient([main], { env: { ...plugin, ...env } }))).toHaveLength(12);
  });

  deep('--profile lists what an agent needs, and every other tool stays callable', async () => {
    const repo = Repo.create();
    const client = new RawClient([main, '--profile', 'agent'], { cwd: repo.root }).initialize();
    let id = 0;
    const listed = async (): Promise<string[]> => {
      const { result } = await client.request(++id, 'tools/list').answer(id);
      return result.tools.map(({ name }: { name: string }) => name);
    };
    const call = async (name: string, args: object) => {
      const { result } = await client.call(++id, name, args).answer(id);
      return result.structuredContent;
    };
    const changes = () => client.messages.filter(({ method }) => /tools/.test(method ?? '')).length;
    const before = await listed();
    expect(before).toEqual(expect.arrayContaining(['memory_write', 'diff_memory']));
    for (const other of ['list_branches', 'search_as_of', 'create_tasks', 'sync_memory'])
      expect(before).not.toContain(other);
    const features = [{ slug: 'auth', name: 'Auth' }];
    expect(await call('list_branches', {})).toMatchObject({ success: true });
    expect(changes()).toBe(0);
    // The project uses the graph from now on.
    expect(await call('create_features', { features })).toMatchObject({ success: true });
    await expect.poll(changes).toBe(1);
    const graph = ['create_tasks', 'list_tasks', 'update_task', 'build_context'].sort();
    const added = (now: string[]) => now.filter((name) => !before.includes(name)).sort();
    expect(added(await listed())).toEqual(graph);
    repo.git('remote', 'add', 'origin', newFolder());
    expect(await call('get_feature', { slug: 'auth' })).toMatchObject({ success: true });
    await expect.poll(changes).toBe(2);
    const team = ['claim_task', 'release_task', 'sync_memory'];
    expect(added(await listed())).toEqual([...graph, ...team].sort());
    expect(await client.end()).toBe(0);
  });

  deep.each([
    ['team', ['claim_task', 'release_task', 'sync_memory']],
    // These had its tools once.
    ['documents,history', ['claim_task', 'sync_memory', 'activate_project', 'search_as_of']],
  ])('--toolsets %s offers the tools of the team', async (names, some) => {
    const client = new RawClient([main, '--toolsets', names]).initialize();
    const { result } = await client.request(1, 'tools/list').answer(1);
    const listed = result.tools.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(expect.arrayContaining(some));
    await client.end();
  });

  deep('DEBUG=true logs each call to stderr, and to no client', async () => {
    const client = new RawClient([main], { env: { DEBUG: 'true' } }).initialize();
    client.call(1, 'memory_write', { category: 'patterns', key: 'private', value: 'private' });
    const { result } = await client.answer(1);
    expect(await client.end()).toBe(0);
    const commit = result._meta['memory-bank/commit'];
    // The digest of the brief is renewed after a commit, by no call of the client.
    const [call, ...others] = client.err
      .replace(/\d+ ms/g, '# ms')
      .trim()
      .split('\n');
    expect(call).toBe(`memory-bank: debug: memory_write: ok, # ms, commit ${commit}`);
    expect(others.filter((line) => line !== 'memory-bank: debug: digest: ok, # ms')).toEqual([]);
    expect(client.out).not.toContain('notifications/message');
  });

  test.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/script'))(
    'in a terminal it says what it serves and how to connect a client',
    () => {
      const cwd = newFolder();
      const command = `"${process.execPath}" "${main}" --toolsets documents`;
      const { status, stdout } = spawnSync('/usr/bin/script', ['-qec', command, '/dev/null'], {
        cwd,
        encoding: 'utf8',
        input: '\u0004',
      });
      expect(status).toBe(0);
      expect(stdout).toContain(`${cwd} (cwd)`);
      expect(stdout).toContain('toolsets  documents');
      expect(stdout).toContain(`claude mcp add memory-bank -- node "${main}"`);
    },
  );

  test.runIf(isFull && process.platform === 'linux')(
    'the files of a change go to the medium at once, by as many threads',
    async () => {
      const threads = async (env: { readonly [name: string]: string }) => {
        const client = new RawClient([main], { env }).initialize();
        const note = { category: 'patterns', key: 'threads', value: 'Many' };
        await client.call(1, 'memory_write', note).answer(1);
        const { length } = readdirSync(`/proc/${client.child.pid}/task`);
        expect(await client.end()).toBe(0);
        return length;
      };
      const four = await threads({ UV_THREADPOOL_SIZE: '4' });
      expect(await threads({})).toBe(four + 12);
    },
  );

  test('a client gets nothing on stderr from a start without trouble', async () => {
    const client = new RawClient([main]).initialize();
    await client.answer('init');
    expect(await client.end()).toBe(0);
    expect(client.err).toBe('');
  });
});

describe('with the client of the SDK', () => {
  test('in a repository with a staged and a dirty file, a change is one commit of its own', async () => {
    const cwd = repository();
    const status = git(cwd, 'status', '--porcelain');
    mkdirSync(join(cwd, 'src', 'deep'), { recursive: true });
    const client = new Client({ name: 'claude-code', version: '2.1' });
    const home = newFolder();
    const env = { ...noPath, HOME: home, USERPROFILE: home };
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [main],
        cwd: join(cwd, 'src', 'deep'),
        env,
      }),
    );
    expect(client.getServerVersion()).toMatchObject({ name: 'memory-bank' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('memory_write');
    const answer = await client.callTool({
      name: 'memory_write',
      arguments: { category: 'patterns', key: 'tests', value: 'Ask what a user would notice' },
    });
    expect(answer).toMatchObject({ structuredContent: { success: true } });
    expect(answer._meta).toEqual({
      'memory-bank/commit': git(cwd, 'rev-parse', 'HEAD').trim(),
      'memory-bank/branch': 'main',
    });
    await client.close();
    expect(git(cwd, 'rev-list', '--count', 'HEAD').trim()).toBe('2');
    expect(git(cwd, 'status', '--porcelain')).toBe(status);
    expect(git(cwd, 'log', '-1', '--format=%an %(trailers:key=Memory-Agent)').trim()).toBe(
      'Some Body Memory-Agent: claude-code/2.1',
    );
    const changed = git(cwd, 'show', '--format=', '--name-only', 'HEAD').trim().split('\n');
    expect(changed.every((path) => path.startsWith('.memory-bank/'))).toBe(true);
    git(cwd, 'fsck', '--full', '--strict');
    expect(readdirSync(home)).toEqual([]);
  });
});

describe('the root', () => {
  test('a start and reads create nothing', async () => {
    const cwd = newFolder();
    const client = new RawClient([main], { cwd }).initialize().call(1, 'memory_read', {});
    expect((await client.answer(1)).result.structuredContent).toMatchObject({ entries: [] });
    expect(await client.end()).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  });

  deep.each(['/', 'home'])(
    '%s is refused in the words of the toolset, and the server stays',
    async (at) => {
      const home = newFolder();
      const cwd = at === 'home' ? home : at;
      const client = new RawClient([main], { cwd, env: { HOME: home } }).initialize();
      const entry = { category: 'patterns', key: 'a', value: 'b' };
      const { result } = await client.call(1, 'memory_write', entry).answer(1);
      expect(result.isError).toBe(true);
      expect(JSON.parse(result.content[0].text)).toMatchObject({
        success: false,
        message: expect.stringContaining('MEMORY_BANK_ROOT'),
      });
      const { tools } = (await client.request(2, 'tools/list').answer(2)).result;
      expect(tools.length).toBeGreaterThan(50);
      expect(await client.end()).toBe(0);
      expect(existsSync(join(cwd, '.memory-bank'))).toBe(false);
    },
  );

  deep('an unknown mode of the start fails the calls, a known one is in force', async () => {
    const cwd = newFolder();
    const unknown = new RawClient([main, '--mode', 'nowhere'], { cwd }).initialize();
    const refused = await unknown.call(1, 'memory_read', {}).answer(1);
    expect(refused.result.content[0].text).toContain('nowhere');
    await unknown.end();
    const known = new RawClient([main, '--mode', 'ask'], { cwd }).initialize();
    const answer = await known.call(1, 'memory_list', {}).answer(1);
    expect(answer.result.isError).toBeUndefined();
    await known.end();
  });
});

describe('the files of the memory bank as resources', () => {
  deep('are listed, read as they are, and told of when a person edits one', async () => {
    const cwd = repository();
    const client = new RawClient([main], { cwd, env: { HOME: newFolder() } }).initialize();
    const file = { filename: 'notes/über uns.md', content: '# First\r\n' };
    client.call(1, 'write_memory_bank_file', file).request(2, 'resources/list');
    const uri = 'memory-bank://notes/%C3%BCber%20uns.md';
    const { resources } = (await client.answer(2)).result;
    expect(resources).toContainEqual({
      uri,
      name: 'notes/über uns.md',
      mimeType: 'text/markdown',
    });
    client.request(3, 'resources/read', { uri }).request(4, 'resources/subscribe', { uri });
    expect((await client.answer(3)).result.contents[0].text).toBe('# First\r\n');
    await client.answer(4);
    client.request(5, 'resources/templates/list');
    expect((await client.answer(5)).result.resourceTemplates).toMatchObject([
      { uriTemplate: 'memory-bank://{+path}' },
    ]);
    writeFileSync(join(cwd, '.memory-bank', 'notes', 'über uns.md'), '# Second\n');
    const { params } = await client.told('notifications/resources/updated');
    expect(params).toEqual({ uri });
    client.request(6, 'resources/read', { uri });
    expect((await client.answer(6)).result.contents[0].text).toBe('# Second\n');
    writeFileSync(join(cwd, '.memory-bank', 'by-hand.md'), '# By hand\n');
    await client.told('notifications/resources/list_changed');
    expect(await client.end()).toBe(0);
  });

  deep('the brief is a tool, a prompt and a resource', async () => {
    const cwd = repository();
    const client = new RawClient([main], { cwd, env: { HOME: newFolder() } }).initialize();
    const uri = 'memory-bank://brief';
    client.request(1, 'resources/list');
    expect((await client.answer(1)).result.resources).toEqual([]);
    const decision = { category: 'decisions', key: 'tokens', value: 'Use JWT', confirm: true };
    client.call(2, 'memory_write', decision).call(3, 'brief', {}).request(4, 'resources/list');
    const { brief } = JSON.parse((await client.answer(3)).result.content[0].text);
    expect(brief).toContain('"tokens: Use JWT"');
    const { resources } = (await client.answer(4)).result;
    expect(resources[0]).toMatchObject({ uri, name: 'brief', mimeType: 'text/markdown' });
    client.request(5, 'resources/read', { uri }).request(6, 'prompts/get', { name: 'brief' });
    expect((await client.answer(5)).result.contents[0].text).toBe(brief);
    expect((await client.answer(6)).result.messages[0].content.text).toBe(brief);
    client.request(7, 'resources/subscribe', { uri });
    await client.answer(7);
    writeFileSync(join(cwd, '.memory-bank', 'activeContext.md'), '## Next Steps\n\n- Rotate\n');
    expect((await client.told('notifications/resources/updated')).params).toEqual({ uri });
    await client.end();
  });

  test('the update workflow is a prompt', async () => {
    const client = new RawClient([main]).initialize().request(1, 'prompts/list');
    const [prompt] = (await client.answer(1)).result.prompts;
    client.request(2, 'prompts/get', { name: prompt.name });
    expect((await client.answer(2)).result.messages[0].content.text).toContain(
      'update_active_context',
    );
    await client.end();
  });
});
