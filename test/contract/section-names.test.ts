import { spawnSync } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { key, type Served, serve } from '../support/http.ts';
import { main, newFolder } from '../support/process.ts';

const titles = ['Tokens', 'Search', 'Retry policy', 'Deployment', 'Colours'];
const decisions = [
  '## Sign-in - 2026-01-31\n\nPasskeys only.',
  ...titles.map((title, at) => `## ${title} - 2026-02-0${at + 1}\n\nText about ${title}.`),
  '## Caching - 2026-03-01\n\nFor a day.',
  '## Caching - 2026-03-02\n\nFor an hour.',
];
const content = `# Decision Log\n\n${decisions.join('\n\n')}\n`;
const nearest = /The nearest of its 9 sections are: "Decision Log > Sign-in - 2026-01-31"/;

let served: Served;
let clients: Record<string, Client>;
/** The commit with which the tests begin. */
let begun: string;

beforeAll(async () => {
  served = await serve();
  const { root } = served.repo;
  clients = { http: await overHttp(), stdio: await overStdio(root) };
  await call('http', 'write_memory_bank_file', { filename: 'decisionLog.md', content });
  const changed = content.replace('Passkeys only', 'Passkeys and links');
  await call('http', 'write_memory_bank_file', { filename: 'decisionLog.md', content: changed });
  const other = changed.replace('about Search', 'about the search');
  await call('http', 'write_memory_bank_file', { filename: 'decisionLog.md', content: other });
  begun = served.repo.git('rev-parse', 'HEAD').trim();
});

afterAll(async () => {
  for (const client of Object.values(clients)) await client.close();
  await served.close();
});

async function connected(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return client;
}

const overHttp = () =>
  connected(
    new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }),
  );

const overStdio = (root: string) =>
  connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [main, '--root', root],
      stderr: 'ignore',
    }),
  );

async function call(door: string, name: string, args: Record<string, unknown>): Promise<string> {
  const answer = await clients[door]?.callTool({ name, arguments: args });
  const [part] = answer?.content ?? [];
  return part?.type === 'text' ? part.text : '';
}

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], {
    cwd: served.repo.root,
    env: { PATH: process.env.PATH, HOME: newFolder() },
    encoding: 'utf8',
  });
}

describe.each(['http', 'stdio'])('over %s, a title without its date names', (door) => {
  test.each([
    ['Decision_Log', {}],
    ['read_memory_bank_file', { filename: 'decisionLog.md' }],
    ['read_as_of', { revision: 'HEAD', path: 'decisionLog.md' }],
  ])('the section that %s returns', async (tool, args) => {
    const text = await call(door, tool, { ...args, section: 'Sign-in' });
    expect(text).toContain('Passkeys and links.');
    expect(text).not.toContain('Tokens');
    const twice = await call(door, tool, { ...args, section: 'caching' });
    expect(twice).toMatch(
      /There are 2 sections.*caching.*Caching - 2026-03-02.*Caching - 2026-03-01/,
    );
    const none = await call(door, tool, { ...args, section: 'Signing in' });
    expect(none.replaceAll('\\"', '"')).toMatch(nearest);
  });

  test('the section whose history and lines are asked for', async () => {
    const path = 'decisionLog.md#sign-in';
    const history = JSON.parse(await call(door, 'record_history', { path }));
    expect(history).toMatchObject({ total: 2 });
    const blame = JSON.parse(await call(door, 'blame_record', { path }));
    expect(blame).toMatchObject({ blame: [{ from: 3, to: 4 }, { from: 5 }, { from: 6 }] });
    expect(JSON.stringify(blame)).not.toContain('Tokens');
    for (const tool of ['record_history', 'blame_record', 'restore_memory']) {
      const wrong = {
        path: 'decisionLog.md#Signing in',
        ...(tool === 'restore_memory' && { revision: 'HEAD' }),
      };
      expect((await call(door, tool, wrong)).replaceAll('\\"', '"')).toMatch(nearest);
    }
    const past = await call(door, 'read_as_of', { revision: 'HEAD~2', path });
    expect(past).toContain('Passkeys only.');
  });

  test('the section whose states are compared', async () => {
    const states = { from: 'HEAD~2', to: 'HEAD' };
    const path = 'decisionLog.md#sign-in';
    const changed = JSON.parse(await call(door, 'diff_memory', { ...states, path }));
    expect(changed).toMatchObject({
      changed: 1,
      changes: [{ path: 'decisionLog.md#Sign-in - 2026-01-31', change: 'changed' }],
    });
    expect(changed.changes[0].fields[0].diff).toContain('+Passkeys and links.');
    expect(JSON.stringify(changed)).not.toContain('the search');
    const other = { ...states, path: 'decisionLog.md#Tokens' };
    expect(JSON.parse(await call(door, 'diff_memory', other))).toMatchObject({ total: 0 });
    const wrong = { ...states, path: 'decisionLog.md#Signing in' };
    expect((await call(door, 'diff_memory', wrong)).replaceAll('\\"', '"')).toMatch(nearest);
    const none = { ...states, path: 'nothing.md' };
    expect(await call(door, 'diff_memory', none)).toContain('has no record nothing.md');
  });

  test('the resource that is read', async () => {
    const uri = 'memory-bank://decisionLog.md?section=Sign-in';
    const read = await clients[door]?.readResource({ uri });
    expect(JSON.stringify(read?.contents)).toContain('Passkeys and links.');
    const wrong = clients[door]?.readResource({ uri: `${uri}gs` });
    await expect(wrong).rejects.toThrow(nearest);
  });
});

test('REST takes it for a section', async () => {
  const path = '/memory-bank/file/decisionLog.md?section=';
  expect((await served.ask('GET', `${path}Sign-in`)).body.content).toContain('Passkeys and links.');
  const { status, body } = await served.ask('GET', `${path}Sign-ins`);
  expect(status).toBe(400);
  expect(JSON.stringify(body).replaceAll('\\"', '"')).toMatch(nearest);
});

test('a section is verified, superseded and restored, and nothing else', async () => {
  const ask = async (tool: string, args: Record<string, unknown>) =>
    (await call('stdio', tool, args)).replaceAll('\\"', '"');
  const tokens = 'decisionLog.md#tokens';
  const replaced = await ask('verify_memory', {
    path: tokens,
    supersedes: ['decisionLog.md#Sign-in'],
  });
  expect(replaced).toContain('decisionLog.md#Sign-in - 2026-01-31');
  const read = await ask('Decision_Log', { section: 'Sign-in' });
  expect(read).toContain('Superseded by [Tokens - 2026-02-01]');
  for (const path of ['decisionLog.md#Signing in', 'Signing in']) {
    expect(await ask('verify_memory', { path })).toMatch(nearest);
    const wrong = { path: tokens, supersedes: [path.replace(/^S/, 'decisionLog.md#S')] };
    expect(await ask('verify_memory', wrong)).toMatch(nearest);
  }
  const twice = await ask('verify_memory', { path: 'decisionLog.md#Caching' });
  expect(twice).toContain('has 2 sections');
  const back = { path: 'decisionLog.md#Sign-in', revision: 'HEAD~3' };
  const restored = JSON.parse(await call('stdio', 'restore_memory', back));
  expect(restored).toMatchObject({
    changed: 1,
    restored: ['decisionLog.md#Sign-in - 2026-01-31'],
    undone_commits: 2,
  });
  const now = served.repo.read('.memory-bank/decisionLog.md');
  expect(now).toContain('## Sign-in - 2026-01-31\n\nPasskeys only.\n');
  expect(now).toContain('Text about the search.');
  const again = JSON.parse(await call('stdio', 'restore_memory', { ...back, revision: 'HEAD' }));
  expect(again).toMatchObject({ changed: 0 });
});

test('a new decision replaces an earlier one of the same title', async () => {
  const decision = { title: 'Colours', context: 'Contrast', decision: 'Dark' };
  await call('stdio', 'log_decision', { ...decision, supersedes: ['colours'] });
  const old = await call('stdio', 'Decision_Log', { section: 'Colours - 2026-02-05' });
  expect(old).toContain('Superseded by [Colours - ');
  const wrong = { ...decision, title: 'More', supersedes: ['Colour'] };
  const refused = await call('stdio', 'log_decision', wrong);
  expect(refused).toMatch(/has no section.*Colours - 2026-02-05/);
  expect(served.repo.read('.memory-bank/decisionLog.md')).not.toContain('## More');
});

describe('on the command line, a title without its date names', () => {
  beforeAll(async () => {
    served.repo.git('reset', '-q', '--hard', begun);
    await call('http', 'write_memory_bank_file', { filename: 'decisionLog.md', content });
  });

  test('the section that is shown', () => {
    expect(run('show', 'sign-in').stdout).toBe('## Sign-in - 2026-01-31\n\nPasskeys only.\n');
    expect(run('show', 'Caching')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/can be decisionLog\.md#Caching - 2026-03-01 or decisionLog/),
    });
  });

  deep('the section that is compared and checked', () => {
    served.repo.write('src/a.ts', 'export const a = 1;\n');
    served.repo.write('src/b.ts', 'export const b = 1;\n');
    served.repo.git('add', 'src');
    served.repo.git('commit', '-q', '-m', 'Add code');
    const path = '.memory-bank/decisionLog.md';
    const text = served.repo.read(path);
    const named = text.replace('about Deployment.', 'about `src/a.ts:1`.');
    served.repo.write(path, named.replace('about Retry policy.', 'about `src/b.ts:1`.'));
    served.repo.git('commit', '-q', '-am', 'Name places');
    const check = (...args: string[]) => run('check', ...args, '--all').stdout;
    expect(check('decisionLog.md')).toMatch(/b\.ts[\s\S]*2 places/);
    for (const name of ['decisionLog.md#Deployment', 'Deployment']) {
      expect(check(name)).toMatch(/src\/a\.ts[\s\S]*1 place /);
      expect(check(name)).not.toContain('b.ts');
    }
    expect(run('check', 'decisionLog.md#Signing in').stderr).toMatch(/The nearest of its/);
    const changes = run('diff', 'HEAD~1', '--path', 'Deployment').stdout;
    expect(changes).toContain('~ decisionLog.md#Deployment - 2026-02-04');
    expect(changes).not.toContain('b.ts');
    served.repo.git('reset', '-q', '--hard', 'HEAD~1');
  });

  deep('the section that is shown by its address, and in the past', () => {
    for (const args of [['decisionLog.md#Sign-in'], ['decisionLog.md', '--section', 'Sign-in']]) {
      expect(run('show', ...args).stdout).toBe('## Sign-in - 2026-01-31\n\nPasskeys only.\n');
    }
    const past = run('show', 'sign-in', '--as-of', 'HEAD~2').stdout;
    expect(past).toContain('Passkeys and links.\n');
    expect(run('show', 'Sign-ins').stderr).toContain('Did you mean "Sign-in"');
    expect(run('show', 'decisionLog.md#Signing in').stderr).toMatch(/The nearest of its/);
  });

  deep('the section of log, blame and restore', () => {
    expect(run('log', 'Retry policy').stdout.match(/memory: /g)).toHaveLength(1);
    const blame = run('blame', 'Sign-in').stdout;
    expect(blame).toMatch(/ 3 ## Sign-in[\s\S]* 5 Passkeys only\.\n.* 6 \n$/);
    expect(run('log', 'Sign-ins').stderr).toContain('Did you mean "Sign-in"');
    const restored = run('restore', 'Sign-in', '--as-of', 'HEAD~2');
    expect(restored).toMatchObject({ status: 0 });
    expect(restored.stdout).toMatch(/restored decisionLog\.md#Sign-in - 2026-01-31\n[\s\S]*undid/);
    expect(run('verify', 'Signing in').stderr).toMatch(/The nearest of its/);
  });
});
