import type { TextFinding, TextKind } from '../../core/evidence/verdict.ts';
import type { Visit } from '../history/visit.ts';
import type { Steps } from '../records/slices.ts';
import { severities } from './text-findings.ts';

/** Finds the records that are the same as others: files of one key, and copies by their names. */
export function* copyFindings(visit: Visit): Steps<ReadonlyMap<string, readonly TextFinding[]>> {
  const { types, view } = visit.archive.memory;
  const found = new Map<string, readonly TextFinding[]>();
  const add = (path: string, kind: TextKind, original: string, message: string) => {
    if (!visit.mayRead(path) || !visit.mayRead(original)) return;
    found.set(path, [{ kind, severity: severities[kind], records: [original], message }]);
  };
  for (const type of types) {
    for (const file of yield* view.identifying(type)) {
      yield;
      const twin = view.shadowedBy(file);
      if (twin !== undefined) {
        const message = `It has the same key as ${twin}, and only that counts: take over what that lacks, then remove this file, or give it another key.`;
        add(file.path, 'duplicate', twin, message);
      } else {
        const original = file.error ? undefined : view.copyOf(file);
        if (original === undefined) continue;
        const message = `It is a copy of ${original} by its name, and git does not have it: take over what that lacks, then remove this file, or commit it if it is a record of its own.`;
        add(file.path, 'copy', original, message);
      }
    }
  }
  return found;
}
