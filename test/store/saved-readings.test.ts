import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LoadedFile } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { damagedForms } from '../support/damaged-file.ts';
import { letter, note } from '../support/note.ts';
import { open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

/** Counts the record files that are read. */
class CountedFiles extends NodeFiles {
  reads = 0;

  override load(path: string, limit: number): LoadedFile | undefined {
    if (/\/(?:notes|letters)\//.test(path)) this.reads += 1;
    return super.load(path, limit);
  }
}

const count = 40;
/** Looks like a token of GitHub. */
const credential = `ghp${'_'}9aB3kLm7Qx2ZtR5vYw8NcD4eFgH6jP1sUuKo`;
let repo: Repo;

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'one\ntwo\nthree\n');
  for (let i = 0; i < count; i++) {
    write(`notes/n${i}.yaml`, `key: n${i}\ntags: []\ntext: See src/lock.ts:${1 + (i % 3)}\n`);
  }
  write(
    'letters/a.md',
    '---\nid: a\ntitle: A\n---\n# A\n\n## B\n\nIn src/lock.ts:2, notes/n1.yaml.\n',
  );
  repo.commitAll('Begin');
});

afterEach(() => repo.remove());

/** Writes a record as one that was last changed some minutes ago. */
function write(path: string, text: string): void {
  const full = repo.path(`.memory-bank/${path}`);
  repo.write(`.memory-bank/${path}`, text);
  const time = Date.now() / 1000 - 600;
  utimesSync(full, time, time);
}

/** Checks in a new process; returns the report, and the number of files that were read. */
async function check() {
  const files = new CountedFiles();
  const { workspace, call } = await open(repo.root, [note, letter], { files, leastSaved: 0 });
  try {
    return { report: await call.history.evidence({}), reads: files.reads };
  } finally {
    await workspace.close();
  }
}

function savedFile(): string {
  const folder = repo.path('.git/memory-bank');
  const name = readdirSync(folder).find((name) => name.startsWith('checked-'));
  return join(folder, name ?? 'checked');
}

describe('what an earlier check has read', () => {
  test('is not read again while the files are as they were', async () => {
    const first = await check();
    const second = await check();
    expect(second.report).toEqual(first.report);
    expect(second.reads).toBe(0);
    repo.write('src/lock.ts', 'one\nTWO\nthree\n');
    const { report, reads } = await check();
    expect(report.counts).toMatchObject({ changed: 14, fresh: 27 });
    expect(reads).toBeLessThanOrEqual(14);
  });

  test('does not hide a change of a record', async () => {
    await check();
    write('notes/n1.yaml', `key: n1\ntags: []\ntext: ${credential}\n`);
    write('notes/n2.yaml', 'key: n2\ntags: []\ntext: It was last week.\n');
    for (let round = 0; round < 2; round++) {
      const { records, counts } = (await check()).report;
      expect(counts).toMatchObject({ fresh: count - 1, secret: 1, relative_date: 1 });
      const found = records.find(({ path }) => path === 'notes/n1.yaml');
      expect(found?.findings.map(({ kind }) => kind)).toEqual(['secret']);
    }
    expect(readFileSync(savedFile()).includes(credential)).toBe(false);
  });

  test('costs no answer if it is damaged or missing', async () => {
    const { report } = await check();
    const path = savedFile();
    for (const bad of damagedForms(readFileSync(path))) {
      writeFileSync(path, bad);
      expect((await check()).report).toEqual(report);
    }
    expect((await check()).reads).toBe(0);
  });
});

test('a check of a memory that names no code does not index the history', async () => {
  for (let i = 0; i < count; i++) write(`notes/n${i}.yaml`, `key: n${i}\ntags: []\ntext: None\n`);
  repo.git('rm', '-q', '.memory-bank/letters/a.md');
  repo.commitAll('Name nothing');
  await check();
  const names = existsSync(repo.path('.git/memory-bank'))
    ? readdirSync(repo.path('.git/memory-bank'))
    : [];
  expect(names.filter((name) => name.startsWith('history-'))).toEqual([]);
});
