import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EvidenceFinding } from '../../src/core/evidence/verdict.ts';
import { deep } from '../support/depth.ts';
import { aboutCode } from '../support/findings.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

let repo: Repo;
let opened: Opened;

const code = Array.from({ length: 12 }, (_, i) => `step ${i + 1};`);
const lines = (list: readonly string[]) => `${list.join('\n')}\n`;

beforeEach(async () => {
  repo = Repo.create();
  change('src/lock.ts', code, 'Add the lock');
  opened = await open(repo.root, [note]);
});

afterEach(async () => {
  await opened.workspace.close();
  repo.remove();
});

/** Commits a new content of a file, and returns the commit. */
function change(path: string, content: readonly string[], message: string): string {
  repo.write(path, lines(content));
  return repo.commitAll(message);
}

async function put(text: string, places: readonly string[] = []): Promise<void> {
  const { store, project } = opened.call;
  const evidence = await project.cite(places);
  await store.change({ subject: 'write' }, async (tx) => {
    const { path } = await tx.put(note, { key: 'a', text, tags: [] });
    if (evidence.length > 0) await tx.annotate(path, { evidence });
  });
}

async function finding(): Promise<EvidenceFinding | undefined> {
  const { records } = await opened.call.history.evidence({});
  return records.flatMap(({ findings }) => aboutCode(findings))[0];
}

/** The same span, found in the text and given. */
const ways = [
  ['found', () => put('See src/lock.ts:4-6.')],
  ['given', () => put('A rule.', ['src/lock.ts:4-6'])],
] as const;

describe.each(ways)('a changed span that is %s', (_, write) => {
  test('names the commit that changed it, and not a later one of its file', async () => {
    await write();
    const changed = code.with(4, 'another step;');
    const oid = change('src/lock.ts', changed, 'Change step 5');
    change('src/lock.ts', ['// new', ...changed.with(10, 'x')], 'Change other steps');
    const found = await finding();
    expect(found).toMatchObject({ verdict: 'changed', commit: oid });
    expect(found?.message).toMatch(
      /^The text of src\/lock\.ts:4-6 was changed, last by \w{12} \(Ada .*: Change step 5\)\.$/,
    );
    expect(found?.diff).toBe(
      '@@ -3,5 +4,5 @@\n step 3;\n step 4;\n-step 5;\n+another step;\n step 6;\n step 7;\n',
    );
  });

  deep('has a difference before the change is committed', async () => {
    await write();
    repo.write('src/lock.ts', lines(code.toSpliced(5, 0, 'one more;')));
    expect(await finding()).toMatchObject({
      verdict: 'changed',
      commit: undefined,
      diff: '@@ -4,4 +4,5 @@\n step 4;\n step 5;\n+one more;\n step 6;\n step 7;\n',
    });
  });

  deep('names the commit of a branch that was merged', async () => {
    await write();
    repo.git('checkout', '-q', '-b', 'topic');
    const oid = change('src/lock.ts', code.with(5, 'x'), 'Change step 6');
    change('src/lock.ts', code.with(5, 'x').with(0, 'y'), 'Change step 1');
    repo.git('checkout', '-q', 'main');
    change('README.md', ['x'], 'Go on');
    repo.git('merge', '-q', '--no-ff', '-m', 'Merge', 'topic');
    expect(await finding()).toMatchObject({ verdict: 'changed', commit: oid });
  });

  deep('follows the file to its new name', async () => {
    await write();
    const oid = change('src/lock.ts', code.with(5, 'x'), 'Change step 6');
    repo.git('mv', 'src/lock.ts', 'src/mutex.ts');
    change('README.md', ['x'], 'Rename');
    expect(await finding()).toMatchObject({
      verdict: 'changed',
      commit: oid,
      diff: expect.stringContaining('-step 6;\n+x\n'),
    });
  });

  deep('has a short difference of long lines and of many', async () => {
    await write();
    const many = Array.from({ length: 500 }, (_, i) => `${i} ${'x'.repeat(500)}`);
    change('src/lock.ts', many, 'Replace it');
    const { diff = '' } = (await finding()) ?? {};
    expect(diff).toContain('-step 5;\n');
    expect(diff.split('\n')).toHaveLength(42);
    expect(diff.split('\n').at(-2)).toMatch(/^… \d+ more lines$/);
    expect(Math.max(...diff.split('\n').map(({ length }) => length))).toBeLessThan(300);
  });
});

test('given evidence that was never committed has no difference, and its file no commit', async () => {
  repo.write('src/new.ts', 'draft\n');
  await put('A rule.', ['src/new.ts:1']);
  const oid = change('src/new.ts', ['final'], 'Add it');
  const found = await finding();
  expect(found).toMatchObject({ verdict: 'changed', commit: oid });
  expect(found).not.toHaveProperty('diff');
});
