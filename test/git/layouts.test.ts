import { expect, test } from 'vitest';
import { sample } from '../support/depth.ts';
import { knowsTables } from '../support/repo.ts';
import { create } from './create.ts';
import { layouts } from './layouts.ts';
import { open, put } from './repository-at.ts';

test.for(sample(layouts, 4))(
  'a memory in $name',
  async ({ make, refused, needsTables }, { skip }) => {
    skip(needsTables === true && !knowsTables(), 'this git does not know refs in tables');
    const repo = create();
    const place = make(repo) ?? repo;
    const write = () => put(open(place.root), { 'm/a.md': 'a' }, 'Add');
    if (refused) {
      await expect(write()).rejects.toMatchObject({
        text: expect.stringContaining(refused.reason),
      });
      if (!refused.remedy) return;
      for (const args of refused.remedy) place.git(...args);
    }
    const before = place.git('rev-parse', 'HEAD').trim();
    const status = place.status();
    const made = await write();
    expect(place.git('rev-parse', 'HEAD').trim()).toBe(made?.oid);
    expect(place.git('rev-parse', 'HEAD~1').trim()).toBe(before);
    expect(place.git('show', '--format=%s', '--name-only', 'HEAD')).toBe('Add\n\nm/a.md\n');
    expect(place.status()).toEqual(status);
    // The next process reads what this one wrote.
    const next = await put(open(place.root), { 'm/a.md': 'b' }, 'Change');
    expect(place.git('rev-parse', 'HEAD').trim()).toBe(next?.oid);
  },
);
