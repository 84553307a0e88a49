import type { RecordType } from '../../core/record-type.ts';
import { byCreation, type Reader } from '../../core/store.ts';
import { type Entry, feature, objective, path, requirement, task, ticket } from './records.ts';
import type { SqlValue } from './sqlite.ts';
import { type NewTable, writeSqlite } from './sqlite-writer.ts';

const identity = 'id TEXT PRIMARY KEY';
const times = `created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now'))`;
const statuses = `status TEXT NOT NULL DEFAULT 'pending' CHECK(status IN ('pending', 'in_progress', 'completed'))`;

/**
 * The records as the SQLite database of seed 000; undefined where there are none.
 *
 * Times stay as they are, to the millisecond. A link to a record that is gone is left out.
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
  return writeSqlite([
    table('features', ['slug TEXT UNIQUE NOT NULL', 'name TEXT NOT NULL', 'description TEXT'], {
      rows: features.map((one) => row(one, one.slug, one.name, one.description ?? null)),
      unique: true,
      indexes: { slug: 1 },
    }),
    table(
      'paths',
      [
        'path TEXT UNIQUE NOT NULL',
        `type TEXT NOT NULL CHECK(type IN ('file', 'directory'))`,
        'description TEXT',
        `use_when TEXT NOT NULL DEFAULT '[]'`,
      ],
      {
        rows: paths.map((one) =>
          row(one, one.path, one.type, one.description ?? null, JSON.stringify(one.use_when ?? [])),
        ),
        unique: true,
        indexes: { path: 1, type: 2 },
      },
    ),
    linkTable('feature_paths', 'feature', 'path', features, ({ paths }) => paths, pathIds),
    table(
      'requirements',
      [references('feature'), 'text TEXT NOT NULL', `notes TEXT NOT NULL DEFAULT '[]'`],
      {
        rows: requirements.flatMap((one) => {
          const owner = featureIds.get(one.feature);
          return owner === undefined
            ? []
            : [row(one, owner, one.text, JSON.stringify(one.notes ?? []))];
        }),
        indexes: { feature: 1 },
      },
    ),
    table(
      'objectives',
      [
        'slug TEXT UNIQUE NOT NULL',
        'name TEXT NOT NULL',
        'description TEXT',
        statuses,
        'plan_file_path TEXT',
      ],
      {
        rows: objectives.map((one) =>
          row(
            one,
            one.slug,
            one.name,
            one.description ?? null,
            one.status,
            one.plan_file_path ?? null,
          ),
        ),
        unique: true,
        indexes: { slug: 1, status: 4 },
      },
    ),
    table(
      'tasks',
      [references('objective'), 'text TEXT NOT NULL', statuses, '"order" INTEGER NOT NULL'],
      {
        rows: tasks.flatMap((one) => {
          const owner = objectiveIds.get(one.objective);
          return owner === undefined ? [] : [row(one, owner, one.text, one.status, one.order)];
        }),
        indexes: { objective: 1 },
      },
    ),
    table('tickets', ['key TEXT UNIQUE NOT NULL', 'title TEXT', 'description TEXT'], {
      rows: tickets.map((one) => row(one, one.key, one.title ?? null, one.description ?? null)),
      unique: true,
      indexes: { key: 1 },
    }),
    linkTable(
      'objective_features',
      'objective',
      'feature',
      objectives,
      (one) => one.features,
      featureIds,
    ),
    linkTable(
      'objective_tickets',
      'objective',
      'ticket',
      objectives,
      (one) => one.tickets,
      ticketIds,
    ),
  ]);
}

/** A table of records: their id, columns of their own, and their times. */
function table(
  name: string,
  columns: readonly string[],
  {
    rows,
    unique = false,
    indexes,
  }: {
    readonly rows: NewTable['rows'];
    readonly unique?: boolean;
    readonly indexes: { readonly [suffix: string]: number };
  },
): NewTable {
  return {
    name,
    sql: `CREATE TABLE ${name} (${[identity, ...columns, times].join(', ')})`,
    rows,
    unique: unique ? [[0], [1]] : [[0]],
    indexes: Object.entries(indexes).map(([suffix, column]) => {
      const index = `idx_${name}_${suffix}`;
      const field = columns[column - 1]?.split(' ', 1)[0] ?? '';
      return { name: index, sql: `CREATE INDEX ${index} ON ${name}(${field})`, columns: [column] };
    }),
  };
}

function row(entry: Entry, ...values: SqlValue[]): SqlValue[] {
  return [entry.id, ...values, entry.created_at, entry.updated_at];
}

function linkTable<T extends Entry>(
  name: string,
  from: string,
  to: string,
  owners: readonly T[],
  keysOf: (owner: T) => readonly string[] | undefined,
  ids: ReadonlyMap<string, string>,
): NewTable {
  const created = `created_at TEXT NOT NULL DEFAULT (datetime('now'))`;
  return {
    name,
    sql: `CREATE TABLE ${name} (${references(from)}, ${references(to)}, ${created}, PRIMARY KEY (${from}_id, ${to}_id))`,
    rows: owners.flatMap((owner) =>
      (keysOf(owner) ?? []).flatMap((key) => {
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

/** The records of a type, the oldest first. */
async function entriesOf<T extends Entry>(reader: Reader, type: RecordType<T>): Promise<T[]> {
  return byCreation((await reader.list(type)).records).map(({ value }) => value);
}
