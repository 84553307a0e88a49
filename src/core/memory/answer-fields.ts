import type { JsonObject } from '../values/json.ts';
import type { Damaged } from './listing.ts';
import type { SearchExplanation, SearchResult } from './search-hit.ts';
import type { CautionsByPath, RecordDoubts } from './store.ts';

/** Makes the field `damaged` of an answer, or nothing if every file can be read. */
export function reportDamaged(damaged: readonly Damaged[]): JsonObject {
  if (damaged.length === 0) return {};
  return { damaged: damaged.map(({ path, error }) => ({ path, message: error.text })) };
}

/** Makes the note of an answer about records that are not in the index, or nothing if all are. */
export function reportLeftOut({ leftOut }: SearchResult): JsonObject {
  if (!leftOut) return {};
  const { records, read, paths } = leftOut;
  const more = records > paths.length ? ` and ${records - paths.length} more` : '';
  const files = `Not in the index: ${paths.join(', ')}${more}.`;
  if (read === 0) return { note: `${files} Search for a literal text to read them.` };
  const rest = read < records ? `, ${records - read} not at all: narrow the search` : '';
  return { note: `${files} Searched for the literal text${rest}.` };
}

/** Makes the field `caution` of an answer about a record, or nothing if nothing is known against it. */
export function cautionField(caution: readonly string[] | undefined): { caution?: string[] } {
  return caution && caution.length > 0 ? { caution: [...caution] } : {};
}

/** The cautions about the records of one answer, each with the path of its record. */
export function namedCautions(cautions: CautionsByPath): string[] {
  return [...cautions].flatMap(([path, reasons]) => reasons.map((reason) => `${path}: ${reason}`));
}

/** Makes a JSON object of the cautions about several records. */
export function cautionsJson(cautions: CautionsByPath): JsonObject {
  return Object.fromEntries([...cautions].map(([path, reasons]) => [path, [...reasons]]));
}

/** The sentences that an answer about a record has as its caution; none if nothing is known of it. */
export function cautionOf(
  doubts: Pick<RecordDoubts, 'status' | 'reasons'> | undefined,
): readonly string[] {
  const { status, reasons = [] } = doubts ?? {};
  if (status === undefined) return reasons;
  return [`Marked as an ${status}.`, ...reasons];
}

/** Makes the explanation of a hit in an answer. */
export function reportExplanation({ words, signals, similar }: SearchExplanation) {
  return {
    words: words.map(({ asked, found, added }) => ({
      asked,
      found: found.map(({ word, how, fields }) => ({ word, how, fields: [...fields] })),
      added,
    })),
    signals: { ...signals },
    ...(similar && { similar: similar.map(({ asked, found }) => ({ asked, found: [...found] })) }),
  };
}
