import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { deep } from '../../support/depth.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  app = projectApp(repo.root);
  session = app.connect();
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object): Promise<Answer> {
  return (await app.call(session, tool, args))?.body;
}

const read = (path: string) => repo.read(`.memory-bank/${path}`);
const forget = (record: string, section?: string) =>
  call('forget_memory', { record, section, reason: 'It is wrong.' });

async function decide(title: string, more: object = {}): Promise<void> {
  await call('log_decision', { title, context: 'c', decision: `Do ${title}`, ...more });
}

test('a decision leaves the log with the statements about it, and comes back', async () => {
  await decide('First');
  await decide('Second', { supersedes: ['First'] });
  const before = read('decisionLog.md');
  expect(before).toContain('Superseded by');
  const address = expect.stringMatching(/^decisionLog\.md#Second - /);
  const { success, removed, released, restore, kept } = await forget('decisionLog.md', 'Second');
  expect({ success, removed, restore }).toMatchObject({
    success: true,
    removed: [address],
    restore: { path: address },
  });
  expect(released).toEqual([expect.stringMatching(/^decisionLog\.md#First - /)]);
  expect(kept).toMatch(/history keeps it.*restore_memory.*purged/);
  expect(read('decisionLog.md')).not.toMatch(/Second|Superseded/);
  expect(repo.git('log', '-1', '--format=%s%n%b')).toMatch(/^memory: forget .*\nIt is wrong\./);
  const { revision } = restore;
  expect(await call('restore_memory', { path: 'decisionLog.md', revision })).toMatchObject({
    success: true,
  });
  expect(read('decisionLog.md')).toBe(before);
});

test('a line of progress goes with its copy in the active context, in one commit', async () => {
  for (const description of ['Build the login', 'Build the logout', 'Fix the login page']) {
    await call('track_progress', { action: 'Work', description });
  }
  const commits = repo.git('rev-list', '--count', 'HEAD');
  expect((await forget('progress.md', 'Work: Build the login')).removed).toHaveLength(2);
  expect(Number(repo.git('rev-list', '--count', 'HEAD'))).toBe(Number(commits) + 1);
  for (const path of ['progress.md', 'activeContext.md']) {
    expect(read(path)).not.toContain('Build the login');
    expect(read(path)).toMatch(/- \[.*Fix the login page\n- \[.*Build the logout\n$/);
  }
  const several = await forget('progress.md', 'the log');
  expect(several.message).toMatch(/^2 entries fit: .* Give the whole text of one of them\.$/);
});

test('a record goes as a whole, also one that a person has just written', async () => {
  repo.write('.memory-bank/notes.md', '# Notes\n\nMine.\n');
  const { removed, restore } = await forget('notes.md');
  expect(removed).toEqual(['notes.md']);
  expect(() => read('notes.md')).toThrow();
  await call('restore_memory', restore);
  expect(read('notes.md')).toBe('# Notes\n\nMine.\n');
});

deep.each([
  ['a log as a whole', 'decisionLog.md', undefined, 'is a log of many entries. Give section'],
  ['an entry that is not there', 'decisionLog.md', 'Third', 'has no section "Third"'],
  ['a record that is not there', 'nothing.md', undefined, 'There is no record at "nothing.md"'],
  ['a record of the graph', 'graph/features/auth.yaml', undefined, 'such as delete_feature'],
])('%s is refused', async (_, record, section, message) => {
  await decide('First');
  await call('create_features', { features: [{ slug: 'auth', name: 'Auth' }] });
  const head = repo.git('rev-parse', 'HEAD');
  const answer = await forget(record, section);
  expect(answer).toMatchObject({ success: false, message: expect.stringContaining(message) });
  expect(repo.git('rev-parse', 'HEAD')).toBe(head);
});
