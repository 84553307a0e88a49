import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import { readEvent } from '../../src/app/hook/client-event.ts';
import { answerHook } from '../../src/app/hook/hook-answer.ts';
import { contextMemory } from '../../src/app/hook/hook-memory.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { ResourceFeed } from '../../src/server/mcp/resources.ts';
import { record } from '../../src/server/view/record-operations.ts';
import { deep } from '../support/depth.ts';
import { serve } from '../support/http.ts';
import { main, newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const asked = 'When do JWT access tokens expire?';
const answered = 'fifteen minutes';
const most = 12;

let repo: Repo;
let app: App;
let session: Session;
let sessions = 0;

beforeEach(async () => {
  repo = Repo.create();
  app = projectApp(repo.root);
  session = app.connect();
  await call('memory_write', {
    category: 'patterns',
    key: 'token-expiry',
    value: 'JWT access tokens expire after fifteen minutes',
  });
  await call('log_decision', {
    title: 'Release notes',
    context: 'Customers ask for them',
    decision: 'Write them by hand, see src/release.ts',
  });
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

async function call(tool: string, args: object): Promise<void> {
  expect((await app.call(session, tool, args, { unlisted: true }))?.error).toBeUndefined();
}

/** What the hook of a new session adds. */
async function hook(event: 'prompt' | 'action', fields: object): Promise<string> {
  const input = { session_id: `s${sessions++}`, cwd: repo.root, ...fields };
  const name = event === 'prompt' ? 'UserPromptSubmit' : 'PreToolUse';
  const read = readEvent(event, JSON.stringify({ hook_event_name: name, ...input }));
  if (!read) throw new Error('The input was not read.');
  const work = app.run(session, 'hook', {}, async (context) => {
    return answerHook(await contextMemory(context), read);
  });
  return JSON.stringify((await work) ?? '');
}

const prompt = () => hook('prompt', { prompt: asked });
const file = () => {
  const tool_input = { file_path: repo.path('src/release.ts') };
  return hook('action', { tool_name: 'Read', tool_input });
};
const counts = () => repo.path('.git/memory-bank/hooks/shown.json');

async function wearOut(show: () => Promise<string>, text: string): Promise<void> {
  for (let i = 0; i < most; i++) expect(await show()).toContain(text);
  expect(await show()).toBe('""');
}

test('a record that twelve sessions were shown and none used is shown no more', async () => {
  await wearOut(prompt, answered);
  const commits = repo.git('rev-list', '--count', 'HEAD');
  expect(await prompt()).toBe('""');
  expect(repo.git('rev-list', '--count', 'HEAD')).toBe(commits);
  // Another record is counted by itself, also at another moment.
  await wearOut(file, 'Write them by hand');
});

test('a text that a session does not take is not counted', async () => {
  const event = { hook_event_name: 'UserPromptSubmit', cwd: repo.root, prompt: asked };
  const read = readEvent('prompt', JSON.stringify(event));
  if (!read) throw new Error('The input was not read.');
  for (let i = 0; i <= most; i++) {
    await app.run(session, 'hook', {}, async (context) => {
      return answerHook(await contextMemory(context), read);
    });
  }
  expect(existsSync(counts())).toBe(false);
});

test.each<[string, () => Promise<unknown>]>([
  ['read by a tool', () => call('memory_read', { category: 'patterns', key: 'token-expiry' })],
  [
    'read in the window',
    async () => {
      const types = (await app.toolsets()).flatMap(({ records }) => records);
      const input = {
        path: 'knowledge/patterns/token-expiry.md',
        at: undefined,
        section: undefined,
      };
      return app.run(session, 'get_record', {}, (context) =>
        record.run(context, input, { types } as never),
      );
    },
  ],
  [
    'cited',
    () =>
      call('memory_write', {
        category: 'patterns',
        key: 'sessions',
        value: 'Sessions end with knowledge/patterns/token-expiry.md',
      }),
  ],
  [
    'changed by a tool',
    () =>
      call('memory_write', {
        category: 'patterns',
        key: 'token-expiry',
        value: 'JWT access tokens expire after about fifteen minutes',
        confirm: true,
      }),
  ],
  [
    'changed by git',
    async () => {
      const path = '.memory-bank/knowledge/patterns/token-expiry.md';
      repo.write(path, repo.read(path).replace('after', 'within'));
      repo.git('add', path);
      // A commit has whole seconds.
      const env = { GIT_COMMITTER_DATE: '2040-01-01T00:00:00Z' };
      repo.gitWith({ env }, 'commit', '-q', '-m', 'Change the expiry');
    },
  ],
])('a record that was %s is shown again', async (_, use) => {
  await wearOut(prompt, answered);
  await use();
  expect(await prompt()).toContain(answered);
});

test.each<[string, () => Promise<unknown>]>([
  [
    'as a resource',
    async () => {
      const { text } = await new ResourceFeed(app, session).read(
        'memory-bank://decisionLog.md',
        {},
      );
      expect(text).toContain('Write them by hand');
    },
  ],
  [
    'by the REST API',
    async () => {
      const place = { flag: repo.root, env: {}, cwd: repo.root, home: newFolder() };
      const served = await serve({}, { place });
      const { status } = await served.ask('GET', '/memory-bank/file/decisionLog.md');
      await served.close();
      served.repo.remove();
      expect(status).toBe(200);
    },
  ],
])('an entry of a log that was read %s is shown again', async (_, read) => {
  await wearOut(file, 'Write them by hand');
  await read();
  expect(await file()).toContain('Write them by hand');
});

test('a damaged or huge file of counts costs nothing', async () => {
  await wearOut(prompt, answered);
  for (const text of ['{', '[]', '{"a":1}', '{"a":{"":["x",2]}}', 'x'.repeat(2 * 1024 * 1024)]) {
    writeFileSync(counts(), text);
    expect(await prompt()).toContain(answered);
  }
  expect(statSync(counts()).size).toBeLessThan(200);
});

deep('ten hooks at once count each session, and show by the command resets the count', async () => {
  const run = async (args: readonly string[], input = '') => {
    const child = spawn(process.execPath, [main, ...args], { cwd: repo.root, stdio: 'pipe' });
    child.stdin.end(input);
    child.stdout.resume();
    await once(child, 'close');
  };
  const input = { hook_event_name: 'UserPromptSubmit', cwd: repo.root, prompt: asked };
  expect(await prompt()).toContain(answered);
  const ids = Array.from({ length: 10 }, (_, i) => `p${i}`);
  await Promise.all(
    ids.map((session_id) => run(['hook', 'prompt'], JSON.stringify({ ...input, session_id }))),
  );
  const count = () =>
    JSON.parse(readFileSync(counts(), 'utf8'))['knowledge/patterns/token-expiry.md'];
  // A hook that waits too long for the others goes on without them, and its count may be lost; on a busy
  // machine it may also give up.
  const [counted] = count()[''];
  expect(counted).toBeGreaterThan(0);
  expect(counted).toBeLessThanOrEqual(1 + ids.length);
  await run(['show', 'knowledge/patterns/token-expiry.md']);
  expect(count()).toBeUndefined();
});
