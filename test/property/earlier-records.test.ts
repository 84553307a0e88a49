import { expect, test } from 'vitest';
import { NameIndex } from '../../src/store/records/name-index.ts';
import { OwnedPaths } from '../../src/store/records/owned-paths.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { note } from '../support/note.ts';

/** Records of an earlier process that are looked up one by one have to answer like a list of them. */

const paths = Array.from({ length: 40 }, (_, at) => `p${at}`);
const names = Array.from({ length: 24 }, (_, at) => `n${at}`);
const path = fc.constantFrom(...paths);
const name = fc.option(fc.constantFrom(...names), { nil: undefined });
const files = fc.dictionary(path, fc.constantFrom(...names));
const steps = fc.array(fc.tuple(path, name), { maxLength: 12 });

/** Gives a path another name, in an index and in the model of it. */
function apply(index: NameIndex, model: Map<string, string>, [path, name]: Step): unknown {
  const moved = index.set(note, path, model.get(path), name);
  if (name === undefined) model.delete(path);
  else model.set(path, name);
  return [...moved].sort();
}
type Step = readonly [path: string, name: string | undefined];

test('names', () => {
  fc.assert(
    fc.property(files, steps, steps, (saved, before, after) => {
      const index = new NameIndex();
      const known = new Map<string, string>();
      for (const step of before) apply(index, known, step);
      const earlier = Object.entries(saved).filter(([path]) => !known.has(path));
      const values = earlier.map(([, name]) => name);
      index.preload(note, new Set(values).size < values.length, {
        find: (name) => earlier.find(([, other]) => other === name)?.[0],
        list: () => earlier,
      });
      const model = new Map([...earlier, ...known]);
      const listed = new NameIndex();
      for (const [path, name] of model) listed.set(note, path, undefined, name);
      const other = new Map(model);
      const check = () => {
        expect([...index.sharedNames(note)].sort()).toEqual([...listed.sharedNames(note)].sort());
        for (const name of names) {
          expect(index.shared(note, name)).toEqual(listed.shared(note, name));
        }
      };
      check();
      for (const step of after) {
        expect(apply(index, model, step)).toEqual(apply(listed, other, step));
        check();
      }
      for (const name of names) expect(index.paths(note, name)).toEqual(listed.paths(note, name));
      check();
    }),
    { numRuns: runs(300) },
  );
});

test('paths', () => {
  const changes = fc.array(fc.tuple(path, fc.constantFrom('add', 'delete', 'all', 'sorted')));
  fc.assert(
    fc.property(fc.uniqueArray(path), changes, changes, (saved, before, after) => {
      const owned = new OwnedPaths();
      const model = new Set<string>();
      const apply = (path: string, change: string) => {
        if (change === 'add') {
          expect(owned.add(path)).toBe(!model.has(path));
          model.add(path);
        } else if (change === 'delete') {
          owned.delete(path);
          model.delete(path);
        } else if (change === 'all') expect(new Set(owned.all)).toEqual(model);
        else expect(owned.sorted()).toEqual([...model].sort());
        expect(owned.size).toBe(model.size);
        for (const one of paths) expect(owned.has(one)).toBe(model.has(one));
      };
      for (const [path, change] of before) apply(path, change);
      owned.preload(saved.filter((path) => !model.has(path)).length, {
        has: (path) => saved.includes(path),
        list: () => [...saved].sort(),
      });
      for (const path of saved) model.add(path);
      for (const [path, change] of after) apply(path, change);
      apply('', 'all');
      apply('', 'sorted');
    }),
    { numRuns: runs(300) },
  );
});
