import { MemoryError } from '../../core/error.ts';
import {
  formatPlace,
  type GivenEvidence,
  readAnnotations,
} from '../../core/evidence/annotations.ts';
import {
  type FoundReference,
  findReferences,
  formatReference,
  isProjectPath,
  maxReferences,
} from '../../core/evidence/reference.ts';
import type { AnyRecordType } from '../../core/record-type.ts';

/** Limit of the evidence of all records in one run. */
export const maxEvidence = 100_000;

/** A place that a record rests on: given by a caller, or found in the record. */
export type Ground =
  | (FoundReference & { readonly source: 'found'; readonly symbol?: undefined })
  | (GivenEvidence & { readonly source: 'given'; readonly certain: true });

/** The places that a record rests on: those that it was given, that its fields name, and its text. */
export function evidenceOf(type: AnyRecordType, path: string, text: string): Ground[] {
  const given = readAnnotations(path, text).evidence;
  const cited = citedPaths(type, path, text).filter(isProjectPath).slice(0, maxReferences);
  const fields = cited.map((path): FoundReference => ({ path, certain: true }));
  const grounds = new Map<string, Ground>();
  for (const one of given) {
    grounds.set(formatPlace(one), { ...one, source: 'given', certain: true });
  }
  for (const reference of [...fields, ...findReferences(text)]) {
    const key = formatReference(reference);
    if (!grounds.has(key)) grounds.set(key, { ...reference, source: 'found' });
  }
  return [...grounds.values()].slice(0, maxReferences);
}

function citedPaths(type: AnyRecordType, path: string, text: string): readonly string[] {
  if (!type.cites) return [];
  try {
    return type.cites(type.codec.decode(text, path));
  } catch (error) {
    // A damaged record is reported elsewhere; its text may name places all the same.
    if (error instanceof MemoryError) return [];
    throw error;
  }
}
