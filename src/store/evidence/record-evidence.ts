import { MemoryError } from '../../core/error.ts';
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

/** The places that a record rests on: those that its fields with paths name, and its text. */
export function evidenceOf(type: AnyRecordType, path: string, text: string): FoundReference[] {
  const cited = citedPaths(type, path, text).filter(isProjectPath).slice(0, maxReferences);
  const fields = cited.map((path): FoundReference => ({ path, certain: true }));
  const found = new Map<string, FoundReference>();
  for (const reference of [...fields, ...findReferences(text)]) {
    const key = formatReference(reference);
    if (!found.has(key)) found.set(key, reference);
  }
  return [...found.values()];
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
