import {
  type Annotations,
  formatGiven,
  formatPlace,
  type GivenEvidence,
  inlineEvidence,
} from '../../core/evidence/annotations.ts';
import { memoryLinks } from '../../core/evidence/memory-links.ts';
import {
  type FoundReference,
  findReferences,
  formatReference,
  isProjectPath,
  maxReferences,
} from '../../core/evidence/reference.ts';
import { partsOf, sectionText } from '../../core/evidence/statement.ts';
import { decisionTitle, relativeDate } from '../../core/evidence/text-statements.ts';
import { readStatements } from '../../core/markdown/section-statements.ts';
import type { AnyRecordType, BriefPoint } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';
import type { Stat } from '../../git/disk/file-layer.ts';

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

/** The parts of a record that a check needs, as plain JSON. */
export interface RecordReading {
  readonly annotations: Annotations;
  readonly evidence: readonly Ground[];
  /** Addresses of other records and of sections that its text names. */
  readonly links: readonly string[];
  /** The titles of its decisions. */
  readonly decisions: readonly string[];
  /** A date that depends on the day of reading. */
  readonly relative?: string | undefined;
  readonly bytes: number;
}

/** Where a record is read from. */
export interface RecordSource {
  /** The text, which is read when it is needed. */
  text(): string;
  /** The stat of the file from which the text was read. */
  readonly stat?: Stat | undefined;
  /** Returns the value if it was decoded before. */
  value?(): object | undefined;
  /** The reading of an earlier check. */
  readonly reading?: RecordReading | undefined;
}

/** A record as a check reads it, each part at most once. */
export class CheckedRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly stat: Stat | undefined;
  /** The reading of an earlier check, which found nothing in the record itself. */
  readonly known: RecordReading | undefined;
  readonly #source: RecordSource;
  #text: string | undefined;
  #statements: ReturnType<typeof readStatements> | undefined;
  #value: { readonly decoded: object | undefined } | undefined;
  #evidence: readonly Ground[] | undefined;
  #points: readonly BriefPoint[] | undefined;
  #decisions: readonly string[] | undefined;
  #relative: { readonly found: string | undefined } | undefined;

  constructor(type: AnyRecordType, path: string, source: RecordSource) {
    [this.type, this.path, this.stat, this.known] = [type, path, source.stat, source.reading];
    this.#source = source;
  }

  get text(): string {
    this.#text ??= this.#source.text();
    return this.#text;
  }

  /** Its annotations, with the statements in its text. */
  get statements(): ReturnType<typeof readStatements> {
    const { known } = this;
    this.#statements ??= known
      ? { annotations: known.annotations, sections: undefined }
      : readStatements(this.path, this.text);
    return this.#statements;
  }

  /** Undefined for a damaged record, which is reported elsewhere; its text may name places all the same. */
  get value(): object | undefined {
    this.#value ??= { decoded: this.#source.value?.() ?? this.#decode() };
    return this.#value.decoded;
  }

  /** The places that it rests on. */
  get evidence(): readonly Ground[] {
    this.#evidence ??= this.known?.evidence ?? evidenceOf(this);
    return this.#evidence;
  }

  /** Addresses of other records and of sections that its text names, without superseded sections. */
  get links(): readonly string[] {
    const { path, statements } = this;
    return this.known?.links ?? memoryLinks(path, statements.sections?.live() ?? this.text);
  }

  /** The titles of its decisions. */
  get decisions(): readonly string[] {
    this.#decisions ??= this.known?.decisions ?? this.#findDecisions();
    return this.#decisions;
  }

  /** A date that depends on the day of reading; none in a record about current work. */
  get relative(): string | undefined {
    this.#relative ??= { found: this.known ? this.known.relative : this.#findRelative() };
    return this.#relative.found;
  }

  get bytes(): number {
    return this.known?.bytes ?? Buffer.byteLength(this.text);
  }

  /** All of this, for the next check; undefined if the next one has to read the text again. */
  get reading(): RecordReading | undefined {
    const { annotations, sections } = this.statements;
    if (sections) return undefined;
    const { evidence, links, decisions, relative, bytes } = this;
    return { annotations, evidence, links, decisions, relative, bytes };
  }

  #findDecisions(): readonly string[] {
    return this.#briefPoints.flatMap(({ part, text }) => {
      const title = part === 'decision' ? decisionTitle(text) : '';
      return title === '' ? [] : [title];
    });
  }

  #findRelative(): string | undefined {
    const isCurrentWork = this.#briefPoints.some(({ part }) => part === 'now');
    return isCurrentWork ? undefined : relativeDate(this.text);
  }

  get #briefPoints(): readonly BriefPoint[] {
    const value = this.type.points && this.value;
    this.#points ??= (value && this.type.points?.(value)) ?? [];
    return this.#points;
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
  const naming = new Map<string, string[]>();
  // Most records have no heading.
  if (!/^#{1,6}[ \t]/m.test(text)) return naming;
  const { yaml, sections } = partsOf(path, text);
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
