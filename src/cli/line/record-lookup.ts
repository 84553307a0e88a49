import type { Toolset } from '../../core/declarations/toolset.ts';
import { outline } from '../../core/markdown/sections.ts';
import type { Reader } from '../../core/memory/store.ts';
import { nearestName } from '../../core/names/nearest-name.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';

/** A record that a person named, or a section of one. */
export interface FoundRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  /** Undefined where the file cannot be read as a record. */
  readonly key: string | undefined;
  readonly value: object | undefined;
  /** Why the file cannot be read as a record. */
  readonly error?: MemoryError | undefined;
  /** The section whose heading was given, such as a decision in the log. */
  readonly section?: { readonly heading: string; readonly start: number; readonly end: number };
}

/** Headings of each text among which a similar one is looked for. */
const maxHeadings = 1000;

/**
 * Finds a record by its path below `.memory-bank/`, its key or its title, or by the heading of a
 * section in it, such as the title of a decision.
 *
 * @throws MemoryError `not_found`, `invalid_input` for a name that more than one record has.
 */
export async function findRecord(
  store: Reader,
  types: readonly AnyRecordType[],
  given: string,
): Promise<FoundRecord> {
  const wanted = pastedPath(given);
  const named: FoundRecord[] = [];
  const sections: FoundRecord[] = [];
  const names: string[] = [];
  const texts: string[] = [];
  for (const type of types) {
    const { records, damaged } = await store.list(type);
    const broken = damaged.find(({ path }) => path === wanted);
    if (broken) return { type, ...broken, key: broken.key, value: undefined };
    for (const record of records) {
      const found = { type, ...record };
      if (record.path === wanted) return found;
      const { title, body } = type.search(record.value);
      names.push(record.path, record.key, title);
      if (record.path.endsWith('.md')) texts.push(body ?? '');
      if (record.key === given || title === given) named.push(found);
      else if (record.path.endsWith('.md') && body?.includes(given)) {
        sections.push(...sectionsOf(found, body, given));
      }
    }
  }
  const [only, ...others] = named.length > 0 ? named : sections;
  if (only === undefined) {
    const headings = texts.flatMap((text) => outline(text).slice(0, maxHeadings));
    names.push(...headings.map(({ heading }) => withoutDate(heading)));
    const nearest = nearestName(given, names);
    const guess = nearest === undefined ? '' : `Did you mean "${nearest}"? `;
    throw new MemoryError('not_found', `There is no record "${given}".`, {
      hint: `${guess}"memory-bank list" lists the records, "memory-bank search" finds them by words.`,
    });
  }
  if (others.length === 0) return only;
  const paths = [only, ...others].map(({ path }) => path);
  throw new MemoryError('invalid_input', `"${given}" can be ${paths.join(' or ')}.`);
}

/**
 * Runs an operation of history on a record, which a person may have named by its key or title.
 *
 * History knows paths only, also those of folders and of records that were removed. Only a name that
 * it does not know is looked up among the records of the present.
 */
export async function withPathOf<T>(
  store: Reader,
  types: readonly AnyRecordType[],
  given: string,
  run: (path: string) => Promise<T>,
): Promise<T> {
  try {
    return await run(given);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'not_found') throw error;
    const found = await findRecord(store, types, given).catch(() => undefined);
    if (found === undefined || found.path === pastedPath(given)) throw error;
    return run(found.path);
  }
}

/**
 * Returns the toolsets with records: all of them, or the one with this name.
 *
 * @throws MemoryError `invalid_input` for a name that none of them has.
 */
export function withRecords(
  toolsets: readonly Toolset[],
  name: string | undefined,
): readonly Toolset[] {
  const kept = toolsets.filter(({ records }) => records.length > 0);
  const named = kept.filter((toolset) => name === undefined || toolset.name === name);
  if (named.length > 0) return named;
  throw new MemoryError('invalid_input', `There is no toolset "${name}" with records.`, {
    hint: `The toolsets with records are: ${kept.map((toolset) => toolset.name).join(', ')}.`,
  });
}

/** Sections below the title of a text whose heading is the given one, with or without its date. */
function sectionsOf(record: FoundRecord, text: string, given: string): FoundRecord[] {
  return outline(text)
    .filter(({ level, heading }) => level > 1 && withoutDate(heading) === withoutDate(given))
    .map((section) => ({ ...record, section }));
}

/** `Use JWT - 2026-01-31` and `[2026-01-31] Use JWT` are `Use JWT`. */
function withoutDate(heading: string): string {
  return heading
    .replace(/^\[\d{4}-[^\]]*\]\s*/, '')
    .replace(/\s+-\s+\d{4}-\d{2}-\d{2}.*$/, '')
    .trim();
}
