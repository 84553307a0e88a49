import type { Toolset } from '../../core/declarations/toolset.ts';
import { sectionNamesOf } from '../../core/markdown/section-names.ts';
import { plain } from '../../core/markdown/sections.ts';
import { withoutDate } from '../../core/markdown/title-date.ts';
import type { History, PastRecord, Snapshot } from '../../core/memory/history.ts';
import type { Listing } from '../../core/memory/listing.ts';
import type { Reader } from '../../core/memory/store.ts';
import { nearestName, nearestNames } from '../../core/names/nearest-name.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { formatAddress, parseAddress } from '../../core/names/record-address.ts';
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
  /** The name of the section that was given, such as the title of a decision in the log. */
  readonly section?: string | undefined;
}

/** Headings of each text among which a similar one is looked for. */
const maxHeadings = 1000;
/** Limit of the names that an error suggests. */
const maxSuggested = 5;
/** Limits of the last commits, and of the records that they removed, among which a name is looked for. */
const maxCommits = 2000;
const maxRemoved = 1000;
/** Closeness of a name that is suggested, 0 to 1. */
const leastCloseness = 0.6;

/**
 * Finds a record by its path below `.memory-bank/`, its key or its title, or a section by its address or
 * its title, such as that of a decision, which needs no date if it is the only one.
 *
 * @throws MemoryError `not_found`, `invalid_input` for a name that more than one record has.
 */
export async function findRecord(
  store: Reader,
  types: readonly AnyRecordType[],
  given: string,
): Promise<FoundRecord> {
  const { found, names } = await lookUp(store, types, given);
  if (found) return found;
  throw new MemoryError('not_found', `There is no record "${given}".`, {
    hint: `${suggestion(given, names)}"memory-bank list" lists the records, "memory-bank search" finds them by words.`,
  });
}

/** A record or section, or without one the names of all of them. */
interface LookedUp {
  readonly found?: FoundRecord;
  readonly names: readonly string[];
}

/** The records among which a name is looked up. */
interface Lister {
  list(type: AnyRecordType): Promise<Listing<object>>;
}

/** @throws MemoryError `invalid_input` for a name that more than one record has. */
async function lookUp(
  store: Lister,
  types: readonly AnyRecordType[],
  given: string,
): Promise<LookedUp> {
  const wanted = pastedPath(given);
  const address = parseAddress(wanted);
  const named: FoundRecord[] = [];
  const sections: FoundRecord[] = [];
  const names: string[] = [];
  const texts: string[] = [];
  for (const type of types) {
    const { records, damaged } = await store.list(type);
    for (const { path, key, error } of damaged) {
      const found = { type, path, key, error, value: undefined };
      if (path === wanted) return { found, names };
      if (key === given) named.push(found);
    }
    for (const record of records) {
      const found = { type, ...record };
      if (record.path === wanted) return { found, names };
      const { title, body = '' } = type.search(record.value);
      const isMarkdown = record.path.endsWith('.md');
      if (isMarkdown && address.section !== undefined && record.path === address.path) {
        const all = sectionNamesOf(body);
        const section = all.nameOf(all.at(address.section, 'not_found', address.path));
        return { found: { ...found, section }, names };
      }
      names.push(record.path, record.key, title);
      if (isMarkdown) texts.push(body);
      if (record.key === given || title === given) named.push(found);
      else if (isMarkdown) sections.push(...sectionsOf(found, body, given));
    }
  }
  const [only, ...others] = named.length > 0 ? named : sections;
  if (others.length > 0 && only) {
    const addresses = [only, ...others].map(formatAddress);
    throw new MemoryError('invalid_input', `"${given}" can be ${addresses.join(' or ')}.`);
  }
  if (only) return { found: only, names };
  const headings = texts.flatMap((text) => sectionNamesOf(text).all.slice(0, maxHeadings));
  names.push(...headings.map(({ heading }) => withoutDate(heading)));
  return { names: [...new Set(names)] };
}

function suggestion(given: string, names: readonly string[]): string {
  const nearest = nearestName(given, names);
  const close = nearestNames(given, names, (name) => name, leastCloseness);
  const all = new Set([...(nearest === undefined ? [] : [nearest]), ...close]);
  const shown = [...all].slice(0, maxSuggested).map((name) => JSON.stringify(name));
  return shown.length === 0 ? '' : `Did you mean ${shown.join(' or ')}? `;
}

/**
 * Runs an operation of history on a record or section, which a person may have named by its key or title.
 *
 * History knows paths only, also those of folders and of records that were removed. Only a name that
 * it does not know is looked up among the records of the present, and then among those of the past: a
 * record that cannot be read today, or that was removed, may have said there what it is called.
 *
 * @param past see `pastOf`.
 */
export async function withPathOf<T>(
  store: Reader,
  types: readonly AnyRecordType[],
  given: string,
  run: (path: string) => Promise<T>,
  past?: () => Promise<Lister>,
): Promise<T> {
  try {
    return await run(given);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.code !== 'not_found') throw error;
    const { found: now, names } = await lookUp(store, types, given);
    const found = now ?? (past && (await lookUp(await past(), types, given)).found);
    const address = found && formatAddress(found);
    if (address !== undefined && address !== pastedPath(given)) return run(address);
    const hint = `${found ? '' : suggestion(given, names)}${error.hint ?? ''}`;
    throw new MemoryError(error.code, error.message, { hint, data: error.data, cause: error });
  }
}

/** The records of a revision; without one, those of HEAD and those that its last commits removed. */
export async function pastOf(history: History, revision: string | undefined): Promise<Lister> {
  if (revision !== undefined) return listerOf(await recordsAt(history, revision));
  try {
    const present = await recordsAt(history, 'HEAD');
    const known = new Set(present.map(({ path }) => path));
    const removed = await removedRecords(history);
    return listerOf([...present, ...removed.filter(({ path }) => !known.has(path))]);
  } catch (error) {
    // The repository has no commit yet.
    if (error instanceof MemoryError && error.code === 'not_found') return listerOf([]);
    throw error;
  }
}

async function recordsAt(history: History, revision: string): Promise<readonly PastRecord[]> {
  const state = await history.at(revision);
  return (await state.list(undefined, Number.MAX_SAFE_INTEGER)).records;
}

/** The records that the last commits removed, each once, as they were. */
async function removedRecords(history: History): Promise<PastRecord[]> {
  const { entries } = await history.log({ revision: 'HEAD', limit: maxCommits, skip: 0 });
  const found = new Map<string, PastRecord>();
  for (const { commit, changes } of entries) {
    const paths = changes.filter(({ change }) => change === 'removed').map(({ path }) => path);
    for (const path of paths.slice(0, maxRemoved - found.size)) {
      if (found.has(path)) continue;
      const before: Snapshot = await history.at(`${commit.oid}^`);
      found.set(path, await before.read(path));
    }
  }
  return [...found.values()];
}

/** The records of the past that can be read. */
function listerOf(past: readonly PastRecord[]): Lister {
  return {
    async list(type) {
      const records = past.flatMap(({ type: own, path, key, value }) =>
        own === type && key !== undefined && value ? [{ path, key, value }] : [],
      );
      return { records, damaged: [] };
    },
  };
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

/** The section that a title names in a text; several if they have one title. */
function sectionsOf(record: FoundRecord, text: string, given: string): FoundRecord[] {
  const word =
    plain(withoutDate(given))
      .match(/[\p{L}\p{N}]+/gu)
      ?.reduce(longer, '') ?? '';
  // Few texts have the word, and only they have to be parsed.
  if (word === '' || !text.toLowerCase().includes(word)) return [];
  const names = sectionNamesOf(text);
  return names.titled(given).map((section) => ({ ...record, section: names.nameOf(section) }));
}

function longer(one: string, other: string): string {
  return other.length > one.length ? other : one;
}
