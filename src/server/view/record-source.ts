import type { Context } from '../../core/declarations/context.ts';
import type { CopiedRecord, Damaged } from '../../core/memory/listing.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject } from '../../core/values/json.ts';
import { shownTitle } from '../../core/values/shown-title.ts';

/** A record of one state of the memory. */
export interface KnownRecord {
  readonly type: AnyRecordType;
  readonly path: string;
  readonly key: string;
  readonly title: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The records of one state of the memory that can be read, and the other files. */
export interface MemoryState {
  readonly records: readonly KnownRecord[];
  readonly damaged: readonly Pick<Damaged, 'path' | 'error'>[];
  readonly copies: readonly CopiedRecord[];
}

/** Returns all records of the given types, as they are now or as a revision has them. */
export async function readState(
  { store, history }: Pick<Context, 'store' | 'history'>,
  types: readonly AnyRecordType[],
  revision: string | undefined,
): Promise<MemoryState> {
  const records: KnownRecord[] = [];
  const damaged: Pick<Damaged, 'path' | 'error'>[] = [];
  const copies: CopiedRecord[] = [];
  if (revision === undefined) {
    for (const type of types) {
      const listing = await store.list(type);
      damaged.push(...listing.damaged);
      copies.push(...(listing.copies ?? []));
      for (const { key, path, value } of listing.records) {
        records.push(known(type, path, key, value));
      }
    }
    return { records, damaged, copies };
  }
  const names = new Set(types.map(({ name }) => name));
  const past = await (await history.at(revision)).list(undefined, Infinity);
  for (const { type, path, key = '', value, error } of past.records) {
    if (error) damaged.push({ path, error });
    else if (value && names.has(type.name)) records.push(known(type, path, key, value));
  }
  return { records, damaged, copies };
}

/**
 * Returns the title of a record for people: the heading of a text, a name, else its key.
 *
 * The title of a search also has the key in it.
 */
export function titleOf(type: AnyRecordType, value: object, path: string): string {
  const { title: searched, body, markdown } = type.search(value);
  const heading = markdown ? /^#{1,2}[ \t]+(.+?)[ \t]*#*$/m.exec(body ?? '')?.[1] : undefined;
  const fields = isObject(value) ? value : {};
  const named = [fields.title, fields.name].find((one) => typeof one === 'string' && one !== '');
  return shownTitle(String(heading ?? named ?? (searched.trim() || path)));
}

/** Makes a record from its value, which the codec read from a file. */
function known(type: AnyRecordType, path: string, key: string, value: object): KnownRecord {
  if (!isObject(value)) throw new MemoryError('internal', `${path} is not an object.`);
  return { type, path, key, title: titleOf(type, value, path), value };
}
