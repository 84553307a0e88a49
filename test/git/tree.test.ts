import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  compareTrees,
  findEntry,
  folderMode,
  listTree,
  spliceTree,
  type TreeEntry,
} from '../../src/git/objects/tree.ts';
import fc from '../support/fc.ts';
import { objectFormat } from '../support/repo.ts';

const entry = fc.record<TreeEntry>({
  mode: fc.constantFrom(folderMode, '100644', '100755', '120000', '160000'),
  oid: fc.stringMatching(new RegExp(`^[0-9a-f]{${objectFormat.digits}}$`)),
});
/** Names that sort before and after the slash by which git sorts folders. */
const name = fc.stringMatching(/^[!.0aé]{1,3}$/);
const edits = fc.array(fc.tuple(name, fc.option(entry, { nil: undefined })), { maxLength: 12 });

/** As git sorts them: by bytes, a folder as if its name ended in a slash. */
function sorted(entries: ReadonlyMap<string, TreeEntry>) {
  const key = ({ name, mode }: { name: string; mode: string }) =>
    Buffer.from(mode === folderMode ? `${name}/` : name);
  return [...entries]
    .map(([name, entry]) => ({ name, ...entry }))
    .sort((a, b) => Buffer.compare(key(a), key(b)));
}

describe('a tree', () => {
  test("has the same entries as a map after any edits, in git's order", () => {
    fc.assert(
      fc.property(fc.array(edits, { maxLength: 4 }), (rounds) => {
        const model = new Map<string, TreeEntry>();
        let tree: Buffer = Buffer.alloc(0);
        for (const round of rounds) {
          const last = new Map(round);
          for (const [name, entry] of last) {
            if (entry) model.set(name, entry);
            else model.delete(name);
          }
          tree = spliceTree(tree, last, objectFormat);
          expect(listTree(tree, objectFormat)).toEqual(sorted(model));
          for (const [name] of last)
            expect(findEntry(tree, name, objectFormat)).toEqual(model.get(name));
        }
      }),
    );
  });

  test("differs from another tree as the maps do, in git's order", () => {
    const common = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{2,40}$/), entry), { maxLength: 60 });
    fc.assert(
      fc.property(common, edits, edits, (common, ours, theirs) => {
        const base = spliceTree(Buffer.alloc(0), new Map(common), objectFormat);
        const [before, after] = [ours, theirs].map((one) =>
          spliceTree(base, new Map(one), objectFormat),
        );
        if (!before || !after) return;
        // A file and a folder of one name are two entries; each exists or not.
        const toMap = (tree: Buffer) =>
          new Map(
            listTree(tree, objectFormat).map(({ name, ...entry }) => [
              entry.mode === folderMode ? `${name}/` : name,
              entry,
            ]),
          );
        const [old, now] = [toMap(before), toMap(after)];
        const expected = [...new Set([...old.keys(), ...now.keys()])]
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          .map((key) => ({
            path: key.replace(/\/$/, ''),
            before: old.get(key),
            after: now.get(key),
          }))
          .filter(({ before, after }) => !isDeepStrictEqual(before, after));
        expect([...compareTrees(before, after, objectFormat)]).toEqual(expected);
      }),
    );
  });

  test('that is truncated is refused', () => {
    const tree = spliceTree(
      Buffer.alloc(0),
      [['a', { mode: '100644', oid: 'f'.repeat(objectFormat.digits) }]],
      objectFormat,
    );
    expect(() => findEntry(tree.subarray(0, -1), 'b', objectFormat)).toThrow('damaged');
  });
});
