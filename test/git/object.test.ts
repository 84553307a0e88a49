import { afterEach, expect, test } from 'vitest';
import { Disk } from '../../src/git/disk.ts';
import { NodeFiles } from '../../src/git/files.ts';
import { encodeObject } from '../../src/git/object.ts';
import { ObjectDatabase } from '../../src/git/odb.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';

/** Around a block of the disk, up to which objects are stored as they are, and far beyond. */
const lengths = [0, 1, 100, 4070, 4071, 4072, 4073, 4074, 4075, 4076, 4077, 4096, 5553, 70_000];

let repo: Repo;
afterEach(() => repo.remove());

test('objects of every length are read by git and by ourselves', async () => {
  repo = Repo.create();
  const random = new Random(1);
  const contents = lengths.flatMap((length) => [
    Buffer.alloc(length, 'a'),
    // With these the sums of the checksum grow most.
    Buffer.alloc(length, 0xff),
    Buffer.from(Array.from({ length }, () => random.below(256))),
  ]);
  const objects = contents.map((content) => encodeObject('blob', content));
  const odb = new ObjectDatabase(new Disk(new NodeFiles(), 'relaxed'), repo.path('.git'));
  await odb.write(objects);
  expect(repo.fsck()).toBe('');
  for (const [i, content] of contents.entries()) {
    const { oid = '', deflated } = objects[i] ?? {};
    expect(odb.content(oid, 'blob').equals(content)).toBe(true);
    repo.write('content', content);
    expect(repo.git('hash-object', 'content').trim()).toBe(oid);
    expect(repo.git('cat-file', '-s', oid).trim()).toBe(String(content.length));
    // No file takes more of the disk than it would have to.
    expect(deflated?.length).toBeLessThanOrEqual(Math.max(4096, content.length + 100));
  }
});
