import { type Context, timestamp } from '../../core/declarations/context.ts';
import type { GivenEvidence } from '../../core/evidence/annotations.ts';
import { afterCommit } from '../../core/memory/after-commit.ts';
import { cautionField } from '../../core/memory/answer-fields.ts';
import { similarField } from '../../core/memory/hit-form.ts';
import type { Listing, Located } from '../../core/memory/listing.ts';
import type { Reader, Store, Transaction } from '../../core/memory/store.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import { describeIssue, type Issue, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { deletion, type Fallout, label, saying } from './provenance.ts';
import type { GraphRecord, OwnedType } from './records.ts';

/** Makes the id and timestamps of a new record. */
export function newIdentity(context: Context): GraphRecord {
  const now = timestamp(context.now());
  return { id: context.shortId(), created_at: now, updated_at: now };
}

/**
 * Returns the record with this key.
 *
 * @throws MemoryError `not_found` in the seed's words.
 */
export async function find<T extends GraphRecord>(
  reader: Reader,
  type: RecordType<T>,
  key: string,
): Promise<T> {
  return (await findRecord(reader, type, key)).value;
}

/**
 * Returns the record with this key, with its path.
 *
 * @throws MemoryError as `find` does.
 */
export async function findRecord<T extends GraphRecord>(
  reader: Reader,
  type: RecordType<T>,
  key: string,
): Promise<Located<T>> {
  const found = await reader.get(type, key);
  if (!found) throw missing(type, `'${key}'`);
  return found;
}

/** Makes the bodies of records in an answer, with what is known against each record. */
export async function bodiesOf<T extends GraphRecord>(
  store: Store,
  records: readonly Located<T>[],
  body: (value: T) => JsonObject,
): Promise<JsonObject[]> {
  const cautions = await store.cautions(records.map(({ path }) => path));
  return records.map(({ path, value }) => ({
    ...body(value),
    ...cautionField(cautions.get(path)),
  }));
}

/** Makes the body of one record in an answer, with what is known against it. */
export async function bodyOf<T extends GraphRecord>(
  store: Store,
  record: Located<T>,
  body: (value: T) => JsonObject,
): Promise<JsonObject> {
  const [made = {}] = await bodiesOf(store, [record], body);
  return made;
}

/** Limit of the records of one call that are compared with the others. */
const maxCompared = 50;

/** Makes the bodies of records that were just written, with the records that say nearly the same. */
export async function writtenBodies<T extends GraphRecord>(
  context: Context,
  type: RecordType<T>,
  written: readonly Located<T>[],
  body: (value: T) => JsonObject,
): Promise<JsonObject[]> {
  const bodies: JsonObject[] = [];
  for (const [at, one] of written.entries()) {
    const read = () => context.store.similar(type, one);
    const similar = at < maxCompared ? await afterCommit(context, read, []) : [];
    bodies.push({ ...body(one.value), ...similarField(similar) });
  }
  return bodies;
}

/** Makes the error about a record that does not exist. */
export function missing<T extends GraphRecord>(type: RecordType<T>, which: string): MemoryError {
  return new MemoryError('not_found', `${capitalised(type.name)} ${which} not found`);
}

/**
 * Returns the id of the record with this key, or null when it is missing or unreadable.
 *
 * One branch may delete a parent while another adds a child: the child stays readable.
 */
export async function idOf<T extends GraphRecord>(
  reader: Reader,
  type: RecordType<T>,
  key: string,
): Promise<string | null> {
  try {
    return (await reader.get(type, key))?.value.id ?? null;
  } catch (error) {
    if (error instanceof MemoryError && unreadable.has(error.code)) return null;
    throw error;
  }
}

const unreadable: ReadonlySet<string> = new Set(['damaged', 'conflict']);

/** Lists the records that belong to the record with the key `owner`. */
export async function listOwned<T extends GraphRecord>(
  reader: Reader,
  type: OwnedType<T>,
  owner: string,
): Promise<Listing<T>> {
  const { records, damaged } = await reader.list(type, { under: type.folderOf(owner) });
  return { records: records.filter(({ value }) => type.owner(value) === owner), damaged };
}

/**
 * Lists the records with these keys.
 *
 * A link may be dangling: one branch adds it while another removes the record.
 */
export async function listLinked<T extends GraphRecord>(
  reader: Reader,
  type: RecordType<T>,
  keys: readonly string[] = [],
): Promise<Listing<T>> {
  return keys.length === 0 ? { records: [], damaged: [] } : reader.list(type, { keys });
}

/**
 * Returns the records of a listing, for a cascade or an order that must include all of them.
 *
 * @throws MemoryError `damaged` or `conflict` when one of them cannot be read.
 */
export function intact<T>({ records, damaged }: Listing<T>): readonly Located<T>[] {
  for (const { error } of damaged) throw error;
  return records;
}

/** Sorts records of one type by slug, path or ticket key. */
export function byKey<T>(records: readonly Located<T>[]): Located<T>[] {
  return records.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/**
 * Writes records whose key the caller chose: all of them in one commit, or none.
 *
 * @param argument path of a record's key in the arguments.
 * @throws MemoryError `already_exists` that names the first key taken by a record or by an earlier
 *   element of the batch; what `add` throws.
 */
export async function create<T extends GraphRecord>(
  context: Context,
  type: RecordType<T>,
  values: readonly T[],
  argument: (index: number) => Issue['path'],
): Promise<readonly Located<T>[]> {
  const keys = values.map((value) => type.key(value));
  return context.store.change(saying('create', type.name, keys), async (draft) => {
    const added: Located<T>[] = [];
    for (const [index, value] of values.entries()) {
      const key = keys[index] ?? '';
      const twice = keys.indexOf(key) < index;
      if (twice || (await draft.get(type, key))) {
        const message = `${capitalised(type.name)} '${key}' ${twice ? 'appears twice in this batch' : 'already exists'}`;
        const issue: Issue = { path: argument(index), kind: 'value', message };
        throw new MemoryError('already_exists', describeIssue(issue), { issues: [issue] });
      }
      added.push(await add(draft, type, value, argument(index).slice(0, -1)));
    }
    return added;
  });
}

/** A record, and the names of its fields that were changed. */
export interface Updated<T> {
  readonly record: Located<T>;
  readonly fields: readonly string[];
}

/** Makes the body of a record that was just changed, as `writtenBodies` does. */
export async function updatedBody<T extends GraphRecord>(
  context: Context,
  type: RecordType<T>,
  { record, fields }: Updated<T>,
  body: (value: T) => JsonObject,
): Promise<JsonObject> {
  // A status says nothing that another record could say.
  if (fields.every((field) => field === 'status')) return body(record.value);
  const [made = {}] = await writtenBodies(context, type, [record], body);
  return made;
}

/** Fields to change; a field that is absent stays as it is. */
export type FieldChanges<T> = { readonly [field in keyof T]?: T[field] | undefined };

/**
 * Changes fields of a record.
 *
 * When every field has its value already, nothing is committed and `updated_at` stays.
 *
 * @returns the record after the change.
 */
export async function update<T extends GraphRecord>(
  context: Context,
  type: RecordType<T>,
  key: string,
  changes: FieldChanges<T>,
): Promise<Updated<T>> {
  return context.store.change<Updated<T>>(
    ({ record: { value }, fields }) => ({
      subject: `update ${fields.join(', ')} of ${label(type, value)}`,
    }),
    async (draft) => {
      const record = await findRecord(draft, type, key);
      const before = record.value;
      const after = compact({ ...before, ...changes });
      const fields = Object.keys(changes).filter((field) => differ(before, after, field));
      if (fields.length === 0) return { record, fields };
      const value = { ...after, updated_at: timestamp(context.now()) };
      return { record: await draft.put(type, compact(value)), fields };
    },
  );
}

/**
 * Removes a record and its dependents in one commit, whose message names them.
 *
 * @param cascade removes or changes the other records, and returns what the message reports.
 */
export async function remove<T extends GraphRecord>(
  context: Context,
  type: RecordType<T>,
  key: string,
  cascade: (draft: Transaction, value: T) => Promise<readonly Fallout[]> = async () => [],
): Promise<{ deleted: true }> {
  await context.store.change<{ value: T; fallout: readonly Fallout[] }>(
    ({ value, fallout }) => deletion(label(type, value), fallout),
    async (draft) => {
      const value = await find(draft, type, key);
      const fallout = await cascade(draft, value);
      await draft.remove(type, key);
      return { value, fallout };
    },
  );
  return { deleted: true };
}

/**
 * Writes an element of a batch.
 *
 * @param argument path of the element in the arguments; empty when it is all of them.
 * @throws MemoryError that names the element, when it is too large or not valid.
 */
export async function add<T extends GraphRecord>(
  draft: Transaction,
  type: RecordType<T>,
  value: T,
  argument: Issue['path'],
  evidence?: readonly GivenEvidence[],
): Promise<Located<T>> {
  try {
    const saved = await draft.put(type, compact(value));
    if (evidence) await draft.annotate(saved.path, { evidence });
    return saved;
  } catch (error) {
    if (!(error instanceof MemoryError) || argument.length === 0) throw error;
    const { code, message, hint, data } = error;
    const kind = code === 'too_large' ? 'size' : 'value';
    const issue: Issue = { path: argument, kind, message };
    throw new MemoryError(code, describeIssue(issue), {
      ...(hint !== undefined && { hint }),
      data,
      issues: [issue],
      cause: error,
    });
  }
}

/** Writes a record, without its empty lists. */
export async function save<T extends GraphRecord>(
  draft: Transaction,
  type: RecordType<T>,
  value: T,
): Promise<T> {
  return (await draft.put(type, compact(value))).value;
}

/** Copies a record without its empty lists, which its file leaves out. */
function compact<T extends GraphRecord>(value: T): T {
  const compacted = { ...value };
  for (const field in compacted) {
    const held: unknown = compacted[field];
    if (Array.isArray(held) && held.length === 0) delete compacted[field];
  }
  return compacted;
}

function differ(before: object, after: object, field: string): boolean {
  const [a, b] = [before, after].map((value) => new Map(Object.entries(value)).get(field));
  return JSON.stringify(a) !== JSON.stringify(b);
}

function capitalised(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}
