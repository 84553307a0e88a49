import {
  formatGiven,
  formatPlace,
  type GivenEvidence,
  inlineEvidence,
} from '../../core/evidence/annotations.ts';
import {
  type FoundReference,
  findReferences,
  formatReference,
  isProjectPath,
  maxReferences,
} from '../../core/evidence/reference.ts';
import { partsOf, sectionText } from '../../core/evidence/statement.ts';
import { readStatements } from '../../core/markdown/section-statements.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';

/** Limit of the evidence of all records in one run. */
export const maxEvidence = 100_000;

/** A place that a record rests on: given by a caller, or found in the record. */
export type Ground =
  | (FoundReference & {
      readonly source: 'found';
      readonly symbol?: undefined;
      /** The sections that name it, as `sectionText` writes them; undefined for the record as a whole. */
      readonly sections?: readonly string[] | undefined;
    })
  | (GivenEvidence & { readonly source: 'given'; readonly certain: true });

/** A record with its text, which is decoded at most once. */
export class CheckedRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly text: string;
  #statements: ReturnType<typeof readStatements> | undefined;
  #value: { readonly decoded: object | undefined } | undefined;
  #evidence: readonly Ground[] | undefined;

  constructor(type: AnyRecordType, path: string, text: string) {
    [this.type, this.path, this.text] = [type, path, text];
  }

  /** Its annotations, with the statements in its text. */
  get statements(): ReturnType<typeof readStatements> {
    this.#statements ??= readStatements(this.path, this.text);
    return this.#statements;
  }

  /** Undefined for a damaged record, which is reported elsewhere; its text may name places all the same. */
  get value(): object | undefined {
    this.#value ??= { decoded: this.#decode() };
    return this.#value.decoded;
  }

  /** The places that it rests on. */
  get evidence(): readonly Ground[] {
    this.#evidence ??= evidenceOf(this);
    return this.#evidence;
  }

  #decode(): object | undefined {
    try {
      return this.type.codec.decode(this.text, this.path);
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }
}

/** The places that a record rests on: those that it was given, that its fields name, and its text. */
function evidenceOf(record: CheckedRecord): Ground[] {
  const { type, text, path } = record;
  const given = record.statements.annotations.evidence;
  const value = type.cites && record.value;
  const cited = (value && type.cites?.(value))?.filter(isProjectPath).slice(0, maxReferences) ?? [];
  const fields = cited.map((path): FoundReference => ({ path, certain: true }));
  const grounds = new Map<string, Ground>();
  // Two entries can rest on one place as it was at different times.
  for (const one of given) {
    grounds.set(formatGiven(one), { ...one, source: 'given', certain: true });
  }
  const places = new Set(given.map(formatPlace));
  const sections = sectionsNaming(path, text);
  for (const reference of [...fields, ...findReferences(text)]) {
    const key = formatReference(reference);
    const own = sections.get(key);
    if (grounds.has(key) || (places.has(key) && !own)) continue;
    grounds.set(key, { ...reference, source: 'found', sections: own });
  }
  return [...grounds.values()].slice(0, maxReferences);
}

/**
 * The sections of a record that name each place, without those whose entry has it as evidence; a place
 * that its YAML names is not in the map.
 */
function sectionsNaming(path: string, text: string): ReadonlyMap<string, readonly string[]> {
  const { yaml, sections } = partsOf(path, text);
  const naming = new Map<string, string[]>();
  if (sections.length < 2) return naming;
  for (const entry of entriesOf(sections)) {
    const given = new Set(entry.flatMap(inlineEvidence).map(formatPlace));
    for (const section of entry) {
      const found = findReferences(section).map(formatReference);
      const own = found.length > 0 ? sectionText(section) : '';
      for (const key of found) if (!given.has(key)) addTo(naming, key, own);
    }
  }
  for (const reference of findReferences(yaml)) naming.delete(formatReference(reference));
  return naming;
}

/** Groups sections by entry: a heading of level 1 or 2, with the deeper ones below it. */
function entriesOf(sections: readonly string[]): readonly (readonly string[])[] {
  const entries: string[][] = [];
  for (const section of sections) {
    const last = entries.at(-1);
    if (last && /^###/.test(section)) last.push(section);
    else entries.push([section]);
  }
  return entries;
}
