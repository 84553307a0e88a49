import { byCreation, type Reader } from '../../core/memory/store.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import {
  type Feature,
  feature,
  type GraphRecord,
  type IdentityField,
  type Objective,
  objective,
  type Path,
  path,
  type Requirement,
  requirement,
  type Task,
  type Ticket,
  task,
  ticket,
} from './records.ts';
import type { SqlValue } from './sqlite.ts';
import { type NewTable, writeSqlite } from './sqlite-writer.ts';

const identity = 'id TEXT PRIMARY KEY';
const times = `created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now'))`;
const statuses = `status TEXT NOT NULL DEFAULT 'pending' CHECK(status IN ('pending', 'in_progress', 'completed'))`;

/**
 * Exports the records as the SQLite database of seed 000; undefined when there are none.
 *
 * Timestamps keep their milliseconds. A link to a deleted record is left out.
 */
export async function writeDatabase(reader: Reader): Promise<Buffer | undefined> {
  const features = await entriesOf(reader, feature);
  const paths = await entriesOf(reader, path);
  const objectives = await entriesOf(reader, objective);
  const tickets = await entriesOf(reader, ticket);
  const requirements = await entriesOf(reader, requirement);
  const tasks = await entriesOf(reader, task);
  const count = [features, paths, objectives, tickets].some((list) => list.length > 0);
  if (!count) return undefined;

  const featureIds = new Map(features.map(({ slug, id }) => [slug, id]));
  const pathIds = new Map(paths.map((one) => [one.path, one.id]));
  const objectiveIds = new Map(objectives.map(({ slug, id }) => [slug, id]));
  const ticketIds = new Map(tickets.map(({ key, id }) => [key, id]));
  const [featureTable, ...featureLinks] = tables<Feature>('feature', features, {
    places: {
      slug: column('slug TEXT UNIQUE NOT NULL', ({ slug }) => slug),
      name: column('name TEXT NOT NULL', ({ name }) => name),
      description: column('description TEXT', ({ description = null }) => description),
      paths: { to: 'path', ids: pathIds, keys: ({ paths }) => paths },
    },
    unique: true,
    indexes: ['slug'],
  });
  const [pathTable] = tables<Path>('path', paths, {
    places: {
      path: column('path TEXT UNIQUE NOT NULL', ({ path }) => path),
      type: column(`type TEXT NOT NULL CHECK(type IN ('file', 'directory'))`, ({ type }) => type),
      description: column('description TEXT', ({ description = null }) => description),
      use_when: column(`use_when TEXT NOT NULL DEFAULT '[]'`, ({ use_when = [] }) =>
        JSON.stringify(use_when),
      ),
    },
    unique: true,
    indexes: ['path', 'type'],
  });
  const [requirementTable] = tables<Requirement>('requirement', requirements, {
    places: {
      feature: column(references('feature'), ({ feature }) => featureIds.get(feature)),
      text: column('text TEXT NOT NULL', ({ text }) => text),
      notes: column(`notes TEXT NOT NULL DEFAULT '[]'`, ({ notes = [] }) => JSON.stringify(notes)),
    },
    indexes: ['feature'],
  });
  const [objectiveTable, ...objectiveLinks] = tables<Objective>('objective', objectives, {
    places: {
      slug: column('slug TEXT UNIQUE NOT NULL', ({ slug }) => slug),
      name: column('name TEXT NOT NULL', ({ name }) => name),
      description: column('description TEXT', ({ description = null }) => description),
      status: column(statuses, ({ status }) => status),
      plan_file_path: column('plan_file_path TEXT', (one) => one.plan_file_path ?? null),
      features: { to: 'feature', ids: featureIds, keys: (one) => one.features },
      tickets: { to: 'ticket', ids: ticketIds, keys: (one) => one.tickets },
    },
    unique: true,
    indexes: ['slug', 'status'],
  });
  const [taskTable] = tables<Task>('task', tasks, {
    places: {
      objective: column(references('objective'), (one) => objectiveIds.get(one.objective)),
      text: column('text TEXT NOT NULL', ({ text }) => text),
      status: column(statuses, ({ status }) => status),
      order: column('"order" INTEGER NOT NULL', ({ order }) => order),
    },
    indexes: ['objective'],
  });
  const [ticketTable] = tables<Ticket>('ticket', tickets, {
    places: {
      key: column('key TEXT UNIQUE NOT NULL', ({ key }) => key),
      title: column('title TEXT', ({ title = null }) => title),
      description: column('description TEXT', ({ description = null }) => description),
    },
    unique: true,
    indexes: ['key'],
  });
  return writeSqlite([
    featureTable,
    pathTable,
    ...featureLinks,
    requirementTable,
    objectiveTable,
    taskTable,
    ticketTable,
    ...objectiveLinks,
  ]);
}

/** A field that is a column; an undefined value leaves the record out, because its owner is deleted. */
interface Column<T> {
  readonly sql: string;
  value(record: T): SqlValue | undefined;
}

/** A field that is a link table: keys of other records, looked up to get their ids. */
interface Links<T> {
  readonly to: string;
  readonly ids: ReadonlyMap<string, string>;
  keys(record: T): readonly string[] | undefined;
}

/** The column or link table of every field, in column order; a field without one does not compile. */
type Places<T> = { readonly [F in Exclude<keyof T, IdentityField>]-?: Column<T> | Links<T> };

function column<T>(sql: string, value: Column<T>['value']): Column<T> {
  return { sql, value };
}

/** Makes the table of a record type (id, own columns, timestamps), then its link tables. */
function tables<T extends GraphRecord>(
  noun: string,
  records: readonly T[],
  {
    places,
    unique = false,
    indexes,
  }: {
    readonly places: Places<T>;
    readonly unique?: boolean;
    readonly indexes: readonly (keyof Places<T> & string)[];
  },
): [NewTable, ...NewTable[]] {
  const name = `${noun}s`;
  const all = Object.entries<Column<T> | Links<T>>(places);
  const columns = all.flatMap(([field, place]) => ('sql' in place ? [{ field, ...place }] : []));
  const links = all.flatMap(([, place]) => ('sql' in place ? [] : [place]));
  const rows = records.flatMap((record) => {
    const values = columns.map(({ value }) => value(record));
    const known = values.filter((value) => value !== undefined);
    const row = [record.id, ...known, record.created_at, record.updated_at];
    return known.length < values.length ? [] : [row];
  });
  const main = {
    name,
    sql: `CREATE TABLE ${name} (${[identity, ...columns.map(({ sql }) => sql), times].join(', ')})`,
    rows,
    unique: unique ? [[0], [1]] : [[0]],
    indexes: indexes.map((suffix) => {
      const index = `idx_${name}_${suffix}`;
      const at = columns.findIndex(({ field }) => field === suffix);
      const field = columns[at]?.sql.split(' ', 1)[0] ?? '';
      return { name: index, sql: `CREATE INDEX ${index} ON ${name}(${field})`, columns: [at + 1] };
    }),
  };
  return [main, ...links.map((link) => linkTable(noun, records, link))];
}

function linkTable<T extends GraphRecord>(
  from: string,
  owners: readonly T[],
  { to, ids, keys }: Links<T>,
): NewTable {
  const name = `${from}_${to}s`;
  const created = `created_at TEXT NOT NULL DEFAULT (datetime('now'))`;
  return {
    name,
    sql: `CREATE TABLE ${name} (${references(from)}, ${references(to)}, ${created}, PRIMARY KEY (${from}_id, ${to}_id))`,
    rows: owners.flatMap((owner) =>
      (keys(owner) ?? []).flatMap((key) => {
        const id = ids.get(key);
        return id === undefined ? [] : [[owner.id, id, owner.updated_at]];
      }),
    ),
    unique: [[0, 1]],
    indexes: [],
  };
}

function references(noun: string): string {
  return `${noun}_id TEXT NOT NULL REFERENCES ${noun}s(id) ON DELETE CASCADE`;
}

/** Lists the records of a type, oldest first. */
async function entriesOf<T extends GraphRecord>(reader: Reader, type: RecordType<T>): Promise<T[]> {
  return byCreation((await reader.list(type)).records).map(({ value }) => value);
}
