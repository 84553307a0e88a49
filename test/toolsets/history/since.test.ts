import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;

beforeAll(async () => {
  repo = Repo.create();
  app = projectApp(repo.root);
  for (const key of ['first', 'second', 'third']) {
    await call('memory_write', { category: 'patterns', key, value: 'v' });
  }
});

afterAll(async () => {
  await app.close();
  repo.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object): Promise<Answer> {
  const reply = await app.call(app.connect(), tool, args);
  return { ...reply?.body, note: reply?.note };
}

test('a history since a commit or a time has what came after it', async () => {
  const keys = async (args: object) => {
    const { commits } = await call('record_history', args);
    return commits.map(({ subject }: Answer) => /"(.*)"/.exec(subject)?.[1]);
  };
  expect(await keys({ since: 'HEAD~1' })).toEqual(['third']);
  expect(await keys({ since: 'HEAD~2', revision: 'HEAD~1' })).toEqual(['second']);
  expect(await keys({ since: 'HEAD' })).toEqual([]);
  const path = 'knowledge/patterns/second.md';
  expect(await keys({ path, since: 'HEAD~2' })).toEqual(['second']);
  expect(await keys({ path, since: 'HEAD~1' })).toEqual([]);
  const all = await call('record_history', { since: 'yesterday' });
  expect(all).toMatchObject({ total: 3, note: undefined });
});

test('a time before the first commit means that one, and the answer says so', async () => {
  const { note, from, ...counts } = await call('diff_memory', { from: 'yesterday' });
  expect(counts).toMatchObject({ success: true, added: 3 });
  expect(note).toMatch(/^The branch has no commit before .*Z, so its first one is meant: /);
  expect(note).toContain(from.commit);
});
