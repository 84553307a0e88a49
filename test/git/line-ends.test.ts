import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { restyleTo } from '../../src/git/objects/line-ends.ts';
import { litter } from '../faults/place.ts';
import { deep } from '../support/depth.ts';
import { letter, note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import type { Repo } from '../support/repo.ts';
import { create } from './create.ts';

const path = (key: string) => `.memory-bank/notes/${key}.yaml`;
const text = (key: string, words: string) => `key: ${key}\ntags:\n  - one\ntext: ${words}\n`;
const put = ({ call }: Opened, key: string, words: string) =>
  call.store.change({ subject: `put ${key}` }, (tx) =>
    tx.put(note, { key, tags: ['one'], text: words }),
  );

type Conversion = (repo: Repo) => void;
const conversions: [string, Conversion][] = [
  ['core.autocrlf', (repo) => repo.git('config', 'core.autocrlf', 'true')],
  ['eol=crlf', (repo) => repo.write('.git/info/attributes', '* text eol=crlf\n')],
];

/** A memory from before the program, with LF in its blobs and CRLF in the work tree. */
function checkedOut(convert: Conversion): Repo {
  const repo = create();
  for (const key of ['a', 'b']) repo.write(path(key), text(key, 'old'));
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'By hand');
  convert(repo);
  rmSync(repo.path('.memory-bank'), { recursive: true });
  repo.git('checkout', '-q', '--', '.');
  expect(repo.read(path('a'))).toContain('\r\n');
  expect(repo.status()).toEqual([]);
  return repo;
}

/** The status after git has forgotten what it knows of the files. */
function freshStatus(repo: Repo): string[] {
  for (const key of ['a', 'b']) repo.write(path(key), repo.read(path(key)));
  return repo.status();
}

const subjects = (repo: Repo) => repo.git('log', '--format=%s').trim().split('\n');

describe.each(conversions)('a memory that was checked out with CRLF by %s', (_, convert) => {
  test('is not taken for an edit, and only the changed lines change', async () => {
    const repo = checkedOut(convert);
    const opened = await open(repo.root, [note, letter]);
    await put(opened, 'a', 'new');
    await put(opened, 'a', 'newer');
    await put(opened, 'b', 'new');
    await opened.workspace.close();
    expect(subjects(repo)).toEqual([
      'memory: put b',
      'memory: put a',
      'memory: put a',
      'By hand',
      'Begin',
    ]);
    const changed = repo.git('diff', '--numstat', 'HEAD~3', 'HEAD', '--', path('a'), path('b'));
    expect(changed.split('\n').filter(Boolean)).toEqual([
      `1\t1\t${path('a')}`,
      `1\t1\t${path('b')}`,
    ]);
    expect(freshStatus(repo)).toEqual([]);
    expect(repo.fsck()).toBe('');
    expect(litter(repo.root)).toEqual([]);
  });

  deep('keeps the other records as git shows them', async () => {
    const repo = checkedOut(convert);
    const opened = await open(repo.root, [note, letter]);
    await put(opened, 'c', 'new');
    await opened.workspace.close();
    expect(subjects(repo)).toEqual(['memory: put c', 'By hand', 'Begin']);
    expect(repo.git('show', '--format=', '--name-only')).not.toContain('notes/a.yaml');
    expect(freshStatus(repo)).toEqual([]);
  });

  deep('and then edited: the edit is committed with the line ends of the blob', async () => {
    const repo = checkedOut(convert);
    repo.write(path('a'), text('a', 'by hand').replaceAll('\n', '\r\n'));
    const opened = await open(repo.root, [note, letter]);
    await put(opened, 'a', 'new');
    await opened.workspace.close();
    expect(subjects(repo)[1]).toBe('memory: keep edit by hand of a.yaml');
    expect(repo.git('show', `HEAD~1:${path('a')}`)).toBe(text('a', 'by hand'));
    expect(freshStatus(repo)).toEqual([]);
  });

  deep('and staged by the user: the staged file stays as it is', async () => {
    const repo = checkedOut(convert);
    repo.write('.memory-bank/notes/own.yaml', text('own', 'staged').replaceAll('\n', '\r\n'));
    repo.git('add', '.memory-bank/notes/own.yaml');
    const opened = await open(repo.root, [note, letter]);
    await put(opened, 'a', 'new');
    await opened.workspace.close();
    expect(repo.git('show', '--format=', '--name-only')).not.toContain('own.yaml');
    expect(repo.git('show', ':.memory-bank/notes/own.yaml')).toBe(text('own', 'staged'));
  });
});

describe('the line ends of a blob', () => {
  const restyled = (stored: string, file: string) => {
    const bytes = Buffer.from(file);
    return restyleTo(Buffer.from(stored), bytes)?.(bytes).toString();
  };

  test('are given to a file that has others', () => {
    expect(restyled('a\nb\n', 'a\r\nb\r\n')).toBe('a\nb\n');
    expect(restyled('a\nb\n', 'a\r\nb\n')).toBe('a\nb\n');
    expect(restyled('a\r\nb\r\n', 'a\nb\n')).toBe('a\r\nb\r\n');
  });

  test('are not given to an edit in which line ends are mixed, or to what is not text', () => {
    expect(restyled('a\nb\n', 'a\r\nc\n')).toBeUndefined();
    expect(restyled('a\r\nb\n', 'a\nb\n')).toBeUndefined();
    expect(restyled('a\0\n', 'a\0\r\n')).toBeUndefined();
  });
});
