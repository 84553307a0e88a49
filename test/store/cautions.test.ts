import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnnotationChanges } from '../../src/core/evidence/annotations.ts';
import { deep } from '../support/depth.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  repo.write('src/other.ts', 'four\n');
  commit('Begin');
  opened = await open(repo.root, [note, letter]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

const put = (key: string, text: string) =>
  opened.call.store.change({ subject: `write ${key}` }, (tx) =>
    tx.put(note, { key, text, tags: [] }),
  );

const annotate = (key: string, changes: AnnotationChanges) =>
  opened.call.store.change({ subject: `annotate ${key}` }, (tx) =>
    tx.annotate(`notes/${key}.yaml`, changes),
  );

/** The hits of a search as `key: cautions`. */
async function search(query: string): Promise<string[]> {
  const { hits } = await opened.call.store.search({ query });
  return hits.map(({ key, caution }) => [key, ...(caution ?? [])].join(' | '));
}

describe('a search', () => {
  test('labels a hit whose code was changed, and puts it after an equal one', async () => {
    await put('a', 'A rule of src/lock.ts:1-2.');
    await put('b', 'A rule of src/other.ts:1-1.');
    expect(await search('rule')).toEqual(['a', 'b']);
    repo.write('src/lock.ts', 'one\n2\nthree\n');
    expect(await search('rule')).toEqual([
      'b',
      'a | The text of src/lock.ts:1-2 was changed, not committed yet.',
    ]);
    commit('Change the lock');
    expect(await search('rule')).toEqual(['b', 'a | The text of src/lock.ts:1-2 was changed.']);
    repo.git('rm', '-q', 'src/other.ts');
    commit('Remove the other');
    expect(await search('rule')).toEqual([
      'a | The text of src/lock.ts:1-2 was changed.',
      'b | src/other.ts:1 was removed.',
    ]);
    await put('a', 'The rule of src/lock.ts:1-2 is new.');
    expect(await search('rule')).toContain('a');
    repo.git('checkout', '-q', 'HEAD~3', '--', 'src');
    expect((await search('rule')).filter((hit) => hit.startsWith('b'))).toEqual(['b']);
  });

  deep('labels superseded and expired records, and those that name a superseded one', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, `The rule ${key}.`);
    await put('d', 'The rule of notes/a.yaml.');
    const healthy = await search('rule');
    expect(healthy.toSorted()).toEqual(['a', 'b', 'c', 'd']);
    await annotate('a', { supersededBy: 'notes/b.yaml' });
    await annotate('b', { supersedes: ['notes/a.yaml'] });
    await annotate('c', { expires: '2025-12-31', status: 'inference' });
    expect((await search('rule')).toSorted()).toEqual([
      'a | Superseded by notes/b.yaml.',
      'b',
      'c | Expired on 2025-12-31.',
      'd | It names notes/a.yaml, which notes/b.yaml supersedes.',
    ]);
    await annotate('c', { expires: '2027-12-31' });
    expect(await search('rule')).toContain('c');
  });

  test('puts a superseded record after the one that replaces it, however well it fits', async () => {
    await put('a', 'The rule of rules: the rule.');
    await put('b', 'One rule, and many words about something else that make it fit less well.');
    expect(await search('rule of rules')).toEqual(['a', 'b']);
    await annotate('a', { supersededBy: 'notes/b.yaml' });
    expect(await search('rule of rules')).toEqual(['b', 'a | Superseded by notes/b.yaml.']);
  });

  deep('answers without verdicts before the first commit', async () => {
    const empty = new Repo();
    empty.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: The rule of src/a.ts:1.\n');
    const { workspace, call } = await open(empty.root, [note]);
    expect((await call.store.search({ query: 'rule' })).hits).toHaveLength(1);
    await workspace.close();
    empty.remove();
  });
});
