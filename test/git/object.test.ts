import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { stageFiles } from '../../src/git/commit/placement.ts';
import { Disk } from '../../src/git/disk/disk.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { deflateObject, type EncodedObject, encodeObject } from '../../src/git/objects/object.ts';
import { openObjects } from '../../src/git/repository/repository-format.ts';
import { deep } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { Random } from '../support/random.ts';
import { objectFormat, Repo } from '../support/repo.ts';

/** Sizes around a disk block, up to which objects are stored uncompressed, and far beyond it. */
const lengths = [0, 1, 100, 4070, 4071, 4072, 4073, 4074, 4075, 4076, 4077, 4096, 5553, 70_000];

let repo: Repo;
afterEach(() => repo.remove());

deep('objects of every length are read by git and by us', async () => {
  repo = Repo.create();
  const random = new Random(1);
  const contents = lengths.flatMap((length) => [
    Buffer.alloc(length, 'a'),
    // These bytes make the sums of the checksum largest.
    Buffer.alloc(length, 0xff),
    Buffer.from(Array.from({ length }, () => random.below(256))),
  ]);
  const objects = contents.map((content) => encodeObject('blob', content, objectFormat));
  const odb = openObjects(new Disk(new NodeFiles(), 'relaxed'), repo.path('.git'));
  await odb.write(objects);
  expect(repo.fsck()).toBe('');
  for (const content of contents) {
    const object = encodeObject('blob', content, objectFormat);
    const { oid } = object;
    expect(odb.content(oid, 'blob').equals(content)).toBe(true);
    repo.write('content', content);
    expect(repo.git('hash-object', 'content').trim()).toBe(oid);
    expect(repo.git('cat-file', '-s', oid).trim()).toBe(String(content.length));
    // No file takes more disk space than it needs.
    expect(deflateObject(object).length).toBeLessThanOrEqual(Math.max(4096, content.length + 100));
  }
});

/** Makes a commit, so that the next pack has another name, and packs everything into one pack. */
function repack(text: string): string {
  repo.write('README.md', text);
  repo.git('commit', '-qam', text);
  repo.git('repack', '-adq');
  return repo.git('rev-parse', 'HEAD').trim();
}

deep('objects are found while repeated repacks remove the pack that was just listed', () => {
  repo = Repo.create();
  repack('first');
  for (const repacks of [1, 2, 3]) {
    const files = new FaultFiles();
    const odb = openObjects(new Disk(files, 'relaxed'), repo.path('.git'));
    // It knows a pack that no longer exists.
    if (repacks < 3) odb.read(repo.git('rev-parse', 'HEAD').trim());
    const wanted = repack(`wanted ${repacks}`);
    let done = 0;
    files.plan = () => {
      const opens = /^open .*\.(?:idx|pack)$/.test(files.log.at(-1) ?? '');
      if (opens && done < repacks) repack(`${repacks} ${++done}`);
      return undefined;
    };
    expect(odb.read(wanted).type).toBe('commit');
    expect(done).toBe(repacks);
    odb.close();
  }
});

test('a short id is found while a repack removes the pack that was just listed', () => {
  repo = Repo.create();
  const wanted = repack('wanted');
  const files = new FaultFiles();
  const odb = openObjects(new Disk(files, 'relaxed'), repo.path('.git'));
  let done = 0;
  files.plan = () => {
    if (/^open .*\.idx$/.test(files.log.at(-1) ?? '') && done++ === 0) repack('again');
    return undefined;
  };
  expect(odb.startingWith(wanted.slice(0, 8), 2)).toEqual([wanted]);
  odb.close();
});

test('a missing object is reported after the packs are listed once more, also with a truncated pack', () => {
  repo = Repo.create();
  repack('first');
  repo.write('.git/objects/pack/pack-alone.idx', '');
  const files = new FaultFiles();
  const odb = openObjects(new Disk(files, 'relaxed'), repo.path('.git'));
  const lists = () => files.log.filter((one) => /^list .*\/pack$/.test(one)).length;
  expect(odb.has('1'.repeat(objectFormat.digits))).toBe(false);
  expect(lists()).toBe(2);
  expect(() => odb.read('1'.repeat(objectFormat.digits))).toThrow('is not in this repository');
  expect(lists()).toBe(3);
  odb.close();
});

describe('many objects at once', () => {
  /** Counts the files that are open at the same time. */
  class Counting extends NodeFiles {
    most = 0;
    readonly #open = new Set<number>();

    override open(path: string, flags: 'r' | 'wx' | 'a' | 'r+', mode?: number): number {
      const fd = super.open(path, flags, mode);
      this.#open.add(fd);
      this.most = Math.max(this.most, this.#open.size);
      return fd;
    }

    override close(fd: number): void {
      super.close(fd);
      this.#open.delete(fd);
    }
  }

  test('are stored in one pack, which git and we can read', async () => {
    repo = Repo.create();
    const objects = Array.from({ length: 1000 }, (_, i) =>
      encodeObject('blob', Buffer.from(`text ${i} `.repeat(1 + (i % 700))), objectFormat),
    );
    const odb = openObjects(new Disk(new NodeFiles(), 'full'), repo.path('.git'));
    await odb.write(objects);
    expect(repo.git('count-objects', '-v')).toMatch(/in-pack: 1000\npacks: 1\n/);
    expect(repo.fsck()).toBe('');
    const [pack = ''] = readdirSync(repo.path('.git/objects/pack')).filter((name) =>
      name.endsWith('.idx'),
    );
    repo.git('verify-pack', join('.git/objects/pack', pack));
    for (const { oid, content } of objects) {
      expect(odb.content(oid, 'blob').equals(content)).toBe(true);
    }
    odb.close();
  });

  deep('never need more open files than the limit of a process', async () => {
    repo = Repo.create();
    const files = new Counting();
    const disk = new Disk(files, 'full');
    const placements = Array.from({ length: 2000 }, (_, i) => {
      return { path: `${i}.md`, bytes: Buffer.from(`${i}`), seen: undefined, mode: 0o100644 };
    });
    await stageFiles(disk, repo.root, placements, (i) => repo.path(`staged-${i}`));
    expect(readdirSync(repo.root).filter((name) => name.startsWith('staged-'))).toHaveLength(2000);
    expect(files.most).toBeLessThanOrEqual(300);
  });

  async function write(files: Files, objects: readonly EncodedObject[]): Promise<void> {
    await openObjects(new Disk(files, 'full'), repo.path('.git')).write(objects);
  }

  deep('leave nothing that git sees if the process dies while it writes them', async () => {
    repo = Repo.create();
    const objects = Array.from({ length: 300 }, (_, i) =>
      encodeObject('blob', Buffer.from(`text ${i}`), objectFormat),
    );
    for (const kind of ['kill', 'torn'] as const) {
      for (let n = 1; n < 30; n++) {
        const files = new FaultFiles((i, operation) =>
          i === n && (kind === 'kill' || operation === 'write') ? { kind } : undefined,
        );
        await write(files, objects).catch(() => undefined);
        if (!files.dead) continue;
        expect(repo.fsck()).toBe('');
        const names = readdirSync(repo.path('.git/objects/pack'));
        const strange = names.filter(
          (name) => !/^(?:tmp_|pack-[0-9a-f]{40,64}\.(?:pack|idx)$)/.test(name),
        );
        expect(strange).toEqual([]);
        for (const name of names) rmSync(repo.path(`.git/objects/pack/${name}`));
      }
    }
  });
});
