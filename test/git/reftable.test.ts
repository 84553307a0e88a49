import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MemoryError } from '../../src/core/values/error.ts';
import { underWayIn } from '../../src/git/commit/state.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { Refs } from '../../src/git/refs/refs.ts';
import fixtures from '../fixtures/reftable.json' with { type: 'json' };
import { runs } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import { passing } from './create.ts';

/** Writes the refs of a repository that git 2.55 made, with small blocks, and returns their reader. */
function restore(format: keyof typeof fixtures, files: Files = new NodeFiles()) {
  const repo = passing(new Repo());
  const gitDir = repo.path('.git');
  for (const [path, content] of Object.entries(fixtures[format].files)) {
    mkdirSync(dirname(join(gitDir, path)), { recursive: true });
    writeFileSync(join(gitDir, path), content, path.endsWith('.ref') ? 'base64' : 'utf8');
  }
  const tables = join(gitDir, 'reftable');
  const list = join(tables, 'tables.list');
  const names = readFileSync(list, 'utf8').trim().split('\n');
  return { gitDir, tables, list, names, refs: new Refs(files, gitDir, gitDir) };
}

describe.each(['sha1', 'sha256'] as const)('tables of a %s repository', (format) => {
  const made = fixtures[format];

  test('have the refs that git lists, over all tables of the stack', () => {
    const { refs } = restore(format);
    expect(refs.head()).toEqual({ ref: 'refs/heads/main', oid: made.head });
    expect(refs.list('refs/').map(({ ref, oid }) => `${ref} ${oid}`)).toEqual(made.refs.sort());
    for (const line of made.refs) {
      const [ref = '', oid] = line.split(' ');
      expect(refs.resolve(ref)).toBe(oid);
    }
    expect(refs.resolve('refs/heads/topic-1/ä-1')).toBeUndefined();
    expect(refs.resolve('refs/heads/zz')).toBeUndefined();
    expect(refs.list('refs/heads/topic-2/')).toHaveLength(12);
  });

  test('have the reflog, the newest value first', () => {
    const { refs } = restore(format);
    const values = refs.store.earlierValues('refs/heads/main');
    expect(values).toEqual([...new Set(made.log)]);
    expect(refs.store.earlierValues('refs/heads/topic-2/ä-2')).toEqual([]);
  });

  test('have HEAD of each work tree, and a cherry-pick that is under way', () => {
    const { gitDir, refs } = restore(format);
    const files = new NodeFiles();
    const linked = (name: string) => new Refs(files, join(gitDir, 'worktrees', name), gitDir);
    expect(linked('side').head()).toEqual({ ref: 'refs/heads/side', oid: made.side });
    expect(linked('loose').head()).toEqual({ ref: undefined, oid: made.side });
    expect(refs.others().map(({ name }) => name)).toContain('the work tree loose');
    expect(underWayIn(files, gitDir, refs)).toMatchObject({ file: 'CHERRY_PICK_HEAD' });
    expect(underWayIn(files, join(gitDir, 'worktrees/side'), linked('side'))).toBeUndefined();
  });
});

test('a stack that another process changes while it is read is read again', () => {
  const files = new FaultFiles();
  const { refs, tables, list, names } = restore('sha1', files);
  let changes = 0;
  files.plan = () => {
    if (changes < 3 && /^(?:open|create) .*\.ref$/.test(files.log.at(-1) ?? '')) {
      const moved = names.map((name) => name.replace(/\w\.ref$/, `${changes}.ref`));
      for (const [i, name] of names.entries()) {
        renameSync(join(tables, name), join(tables, moved[i] ?? ''));
      }
      writeFileSync(list, `${moved.join('\n')}\n`);
      names.splice(0, names.length, ...moved);
      changes += 1;
    }
    return undefined;
  };
  expect(refs.head().oid).toBe(fixtures.sha1.head);
  expect(changes).toBe(3);
});

test('a table that is missing, or a name that leads elsewhere, is reported', () => {
  const { refs, tables, list, names } = restore('sha1');
  renameSync(join(tables, names[0] ?? ''), join(tables, 'away'));
  expect(() => refs.list('refs/')).toThrow(/a table is missing/);
  writeFileSync(list, '../../config\n');
  expect(() => refs.head()).toThrow(/not of a table/);
});

test('damaged tables are reported, and nothing else is thrown', () => {
  const random = new Random(7);
  const { refs, gitDir, tables, names } = restore('sha256');
  const path = join(tables, names[0] ?? '');
  const whole = readFileSync(path);
  const look = () => {
    const fresh = new Refs(new NodeFiles(), gitDir, gitDir);
    fresh.list('refs/');
    fresh.resolve('refs/heads/topic-3/ä-3');
    fresh.store.earlierValues('refs/heads/main');
  };
  expect(refs.head().oid).toBe(fixtures.sha256.head);
  for (let run = 0; run < runs(100); run++) {
    const bytes = Buffer.from(whole);
    for (let i = random.below(4); i >= 0; i--) {
      bytes[random.below(bytes.length)] = random.below(256);
    }
    writeFileSync(path, run % 5 === 0 ? bytes.subarray(0, random.below(bytes.length)) : bytes);
    try {
      look();
    } catch (error) {
      expect(error).toBeInstanceOf(MemoryError);
      expect(error).toMatchObject({ code: 'damaged' });
    }
  }
});
