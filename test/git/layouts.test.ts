import { expect, test } from 'vitest';
import { isFull } from '../support/depth.ts';
import { hasGit } from '../support/repo.ts';
import { create } from './create.ts';
import { layouts } from './layouts.ts';
import { open, put } from './repository-at.ts';

/** Limit of the short run to the first ones, and to those that only a recent git makes. */
const tried = layouts.filter(({ needs }, i) => isFull || i < 4 || needs !== undefined);

test.for(tried)(
  'a memory in $name',
  async ({ make, refused, needs, follow, ...given }, { skip }) => {
    skip(needs !== undefined && !hasGit(needs), `it needs git ${needs?.join('.')}`);
    const repo = create();
    let place = make(repo) ?? repo;
    let env = given.env ?? {};
    const git = (...args: string[]) => place.gitWith({ env }, ...args);
    const write = async (text: string) => {
      const made = await put(open(place.root, { env }), { 'm/a.md': text }, 'Add');
      follow?.run(git);
      return made;
    };
    if (refused) {
      await expect(write('a')).rejects.toMatchObject({
        text: expect.stringContaining(refused.reason),
        hint: expect.stringContaining(refused.hint),
      });
      if (!refused.remedy) return;
      place = refused.remedy(place) ?? place;
      env = refused.env ?? env;
    }
    const before = git('rev-parse', 'HEAD').trim();
    const status = git('status', '--porcelain=v1', '-uall');
    const made = await write('a');
    expect(git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(git('rev-parse', 'HEAD~1').trim()).toBe(before);
    expect(git('show', '--format=%s', '--name-only', 'HEAD')).toBe('Add\n\nm/a.md\n');
    expect(git('status', '--porcelain=v1', '-uall')).toEqual(status);
    // The next process reads what this one wrote.
    const next = await write('b');
    expect(git('rev-parse', 'HEAD').trim()).toBe(next?.oid);
  },
);
