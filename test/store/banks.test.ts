import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { App } from '../../src/app/app.ts';
import { program } from '../../src/app/session/workspaces.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { banks } from '../../src/toolsets/banks/toolset.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let repo: Repo;
let homeFolder: string;
const apps: App[] = [];

beforeEach(() => {
  repo = Repo.create();
  homeFolder = join(realpathSync(mkdtempSync(join(tmpdir(), 'home-'))), '.memory-bank');
});

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  repo.remove();
});

/** A new server and one session with it. */
function start(cwd = repo.root): (name: string, args: object) => Promise<JsonObject> {
  const app = new App(
    {
      place: { flag: undefined, env: gitEnv, cwd, home: '/home/somebody' },
      homeFolder,
      durability: 'relaxed',
      log: () => {},
    },
    { ...program, toolsets: async () => [banks] },
  );
  apps.push(app);
  const session: Session = app.connect();
  return async (name, args) => {
    const reply = await app.call(session, name, args);
    expect(reply?.error, JSON.stringify(reply?.body)).toBeUndefined();
    return reply?.body ?? {};
  };
}

const code = { bank_type: 'code', bank_id: 'My Repo' };
const decision = {
  ...code,
  target_file: 'doc/architecture.md',
  operation: 'insert',
  position: 'Decisions',
  trigger_type: 'architecture',
  conversation_id: 'plan',
};

test('a bank outlives its server, and reports how far the code has moved since', async () => {
  const call = start();
  const first = await call('activate', code);
  expect(first).toMatchObject({
    content: { 'source:README.md': '# A project\n' },
    git: { branch: 'main', head: repo.git('rev-parse', 'HEAD').trim(), moved: { commits: 0 } },
  });
  for (const content of ['- Parse in `src/parse.ts`.', '- No cache.', '- One thread.']) {
    await call('update', { ...decision, content });
  }
  repo.write('src/parse.ts', 'export {};\n');
  repo.git('add', 'src');
  repo.git('commit', '-q', '-m', 'Parse');

  const again = await start()('activate', code);
  expect(Object(again.content)['doc/architecture.md']).toContain(
    '## Decisions\n\n- Parse in `src/parse.ts`.\n- No cache.\n- One thread.\n\n## Dependencies\n',
  );
  expect(again.git).toMatchObject({
    moved: { commits: 1, files: ['src/parse.ts'] },
    doubtful: ['doc/architecture.md'],
  });
  expect(repo.git('log', '-4', '--skip=1', '--format=%s').trim().split('\n')).toEqual([
    ...Array(3).fill('memory: update doc/architecture.md of code bank "My Repo"'),
    'memory: create code bank "My Repo"',
  ]);
  expect(repo.git('log', '-1', '--skip=1', '--format=%b')).toMatch(
    /^\/\/ Update #3 for conversation plan\n\n(?:Memory-.*\n)*Memory-Trigger: architecture\n/,
  );
  expect(repo.status()).toEqual([]);
  expect(repo.fsck()).toBe('');
});

test('reading makes no commit, and the next server knows the last use', async () => {
  const call = start();
  await call('activate', code);
  const head = repo.git('rev-parse', 'HEAD');
  await call('activate', code);
  await call('swap', { ...code, temporary: true });
  await call('update', { ...decision, content: 'x' });
  const { code: mine } = await call('list', {});
  const { code: theirs } = await start()('list', {});
  expect(repo.git('rev-parse', 'HEAD')).toBe(head);
  expect(repo.status()).toEqual([]);
  expect(theirs).toEqual([{ ...Object(mine)[0], active: undefined, temporary: undefined }]);
});

test('global banks are served without a project', async () => {
  const call = start('/');
  expect(await call('list', {})).toMatchObject({ global: [], note: expect.any(String) });
  expect(existsSync(homeFolder)).toBe(false);
  const bank = { bank_type: 'global', bank_id: 'general' };
  await call('activate', bank);
  await call('update', {
    ...bank,
    target_file: 'preferences.md',
    operation: 'insert',
    position: 'Answers',
    content: '- Short.',
  });
  const again = await start('/')('swap', bank);
  expect(Object(again.content)['preferences.md']).toContain('## Answers\n\n- Short.\n');
  expect(new Repo(homeFolder).status()).toEqual([]);
});
