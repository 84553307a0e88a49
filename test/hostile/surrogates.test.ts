import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { jsonText } from '../../src/core/values/json.ts';
import { deep } from '../support/depth.ts';
import { main, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** A text as it arrives from a client that cuts it in the middle of an emoji. */
const cut = 'deploy \ud83d';

let repo: Repo;
let client: RawClient;

describe('half of a surrogate pair', () => {
  beforeEach(() => {
    repo = new Repo(mkdtempSync(join(tmpdir(), 'memory-bank-'))).begin();
    client = new RawClient([main], { cwd: repo.root }).initialize();
  });

  afterEach(async () => {
    await client.end();
    repo.remove();
  });

  test('is refused by every toolset, in its own form, and nothing is written', async () => {
    const calls: [string, object][] = [
      ['memory_write', { category: 'patterns', key: 'k', value: cut }],
      ['memory_write', { category: 'patterns', key: 'k', value: 'v', metadata: { [cut]: 1 } }],
      ['create_features', { features: [{ slug: 'auth', name: cut }] }],
      ['create_tickets', { tickets: [{ key: cut, title: 't' }] }],
      ['write_memory_bank_file', { filename: 'a.md', content: cut }],
      ['log_decision', { title: cut, context: 'c', decision: 'd' }],
      ['search_memory', { query: cut }],
      ['memory_read', { key: cut }],
      ['store_memory', { type: 'design_doc', title: cut, content: 'c' }],
    ];
    await client.call(1, 'activate_project').answer(1);
    const before = repo.git('rev-list', '--all', '--count');
    let id = 1;
    for (const [tool, args] of calls) {
      id += 1;
      const { result } = await client.call(id, tool, args).answer(id);
      expect(result.isError, tool).toBe(true);
      expect(JSON.stringify(result.content), tool).toMatch(/half of a surrogate pair/);
    }
    expect(repo.git('rev-list', '--all', '--count')).toBe(before);
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  deep('in a record or commit made by others leaves the server as a whole character', async () => {
    const stamp = '2026-01-01T00:00:00.000Z';
    repo.write(
      '.memory-bank/knowledge/patterns/old.md',
      `---\ncategory: patterns\nkey: old\nreason: "because \\ud83d"\ncreated_at: ${stamp}\nupdated_at: ${stamp}\n---\nold\n`,
    );
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', 'Write an old record');
    client.call(1, 'memory_read', { category: 'patterns', key: 'old' });
    client.call(2, 'search_memory', { query: 'old' });
    for (const id of [1, 2]) {
      const answer = JSON.stringify((await client.answer(id)).result);
      expect(answer, `${id}`).not.toMatch(/\\\\?ud83d/);
    }
    const { result } = await client
      .call(3, 'memory_write', { category: 'patterns', key: 'old', value: 'new', reason: 'why' })
      .answer(3);
    expect(result.structuredContent).toMatchObject({ success: true });
  });
});

test.each([
  ['a \ud83d b', '"a \ufffd b"'],
  ['\\ud83d', '"\\\\ud83d"'],
  ['\\\\\udc00', '"\\\\\\\\\ufffd"'],
  ['\ud83d\ude00', '"\ud83d\ude00"'],
])('the JSON of %j is %j', (text, json) => {
  expect(jsonText(text)).toBe(json);
  expect(jsonText({ [text]: [text] })).toBe(`{${json}:[${json}]}`);
});
