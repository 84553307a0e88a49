import { utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnnotationChanges } from '../../src/core/evidence/annotations.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { deep } from '../support/depth.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { slashed } from '../support/slashed.ts';

let repo: Repo;
let opened: Opened;

beforeEach(async () => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  repo.write('src/bolt.ts', 'four\n');
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
    await put('k', 'A rule of src/lock.ts:1-2.');
    await put('l', 'A rule of src/bolt.ts:1-1.');
    expect(await search('rule')).toEqual(['k', 'l']);
    repo.write('src/lock.ts', 'one\n2\nthree\n');
    expect(await search('rule')).toEqual([
      'l',
      'k | The text of src/lock.ts:1-2 was changed, not committed yet.',
    ]);
    commit('Change the lock');
    expect(await search('rule')).toEqual(['l', 'k | The text of src/lock.ts:1-2 was changed.']);
    repo.git('rm', '-q', 'src/bolt.ts');
    commit('Remove the other');
    expect(await search('rule')).toEqual([
      'k | The text of src/lock.ts:1-2 was changed.',
      'l | src/bolt.ts:1 was removed.',
    ]);
    await put('k', 'The rule of src/lock.ts:1-2 is new.');
    expect(await search('rule')).toContain('k');
    repo.git('checkout', '-q', 'HEAD~3', '--', 'src');
    expect((await search('rule')).filter((hit) => hit.startsWith('l'))).toEqual(['l']);
  });

  deep('looks again only at places that a label can depend on', async () => {
    const looked: string[] = [];
    class Watched extends NodeFiles {
      override lstat(path: string) {
        looked.push(path);
        return super.lstat(path);
      }
    }
    const another = await open(repo.root, [note, letter], { files: new Watched() });
    try {
      await put('k', 'A rule of src/lock.ts:1-2, either/or, `like this` or src/later.ts.');
      utimesSync(repo.path('.memory-bank/notes/k.yaml'), 1e9, 1e9);
      const found = async () => {
        looked.length = 0;
        const { hits } = await another.call.store.search({ query: 'rule' });
        return hits.map(({ caution }) => caution);
      };
      await found();
      expect(await found()).toEqual([undefined]);
      const places = looked.map(slashed).filter((path) => !/\.memory-bank|\.git/.test(path));
      expect(places).toContain(slashed(repo.path('src/lock.ts')));
      expect(places.filter((path) => /either|like|later/.test(path))).toEqual([]);
      // The search itself has brought the record in line with the disk.
      expect(looked.filter((path) => path.endsWith('k.yaml')).length).toBeLessThan(2);
      // The record was written without this file, so nothing can have become of it.
      for (const text of ['one', 'two', 'three']) {
        repo.write('src/later.ts', `${text}\n`);
        expect(await found()).toEqual([undefined]);
        commit(text);
        expect(await found()).toEqual([undefined]);
      }
      repo.git('rm', '-q', 'src/later.ts');
      commit('Remove it');
      expect(await found()).toEqual([undefined]);
      repo.write('src/lock.ts', 'changed\n');
      expect(await found()).toHaveLength(1);
      expect((await found())[0]).toHaveLength(1);
    } finally {
      await another.workspace.close();
    }
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
      'c | Marked as an inference. | Expired on 2025-12-31.',
      'd | It names notes/a.yaml, which notes/b.yaml supersedes.',
    ]);
    await annotate('c', { expires: '2027-12-31', status: 'open question' });
    expect(await search('rule')).toContain('c | Marked as an open question.');
    await annotate('c', { status: 'fact' });
    expect(await search('rule')).toContain('c');
  });

  test('puts a superseded record after the one that replaces it, however well it fits', async () => {
    await put('a', 'The rule of rules: the rule.');
    await put('b', 'One rule, and many words about something else that make it fit less well.');
    expect(await search('rule of rules')).toEqual(['a', 'b']);
    await annotate('a', { supersededBy: 'notes/b.yaml' });
    expect(await search('rule of rules')).toEqual(['b', 'a | Superseded by notes/b.yaml.']);
  });

  test('finds the record that replaces a hit also beyond the limit', async () => {
    await put('a', 'The rule of rules: the rule.');
    for (const key of ['c', 'd', 'e']) await put(key, `Another rule ${key} of rules.`);
    await put('b', 'One rule, and many words about something else that make it fit less well.');
    const search = async (limit: number) =>
      (await opened.call.store.search({ query: 'rule of rules', limit })).hits.map(
        ({ key }) => key,
      );
    expect(await search(2)).not.toContain('b');
    await annotate('a', { supersededBy: 'notes/b.yaml' });
    expect(await search(1)).toEqual(['b']);
    expect(await search(3)).toHaveLength(3);
    const all = await search(5);
    expect(all.slice(-2)).toEqual(['b', 'a']);
  });

  test('answers without verdicts before the first commit', async () => {
    const empty = new Repo();
    empty.write('.memory-bank/notes/a.yaml', 'key: a\ntags: []\ntext: The rule of src/a.ts:1.\n');
    const { workspace, call } = await open(empty.root, [note]);
    expect((await call.store.search({ query: 'rule' })).hits).toHaveLength(1);
    await workspace.close();
    empty.remove();
  });
});
