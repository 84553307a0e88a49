import {
  type ExchangeFormat,
  Gathering,
  isoTime,
} from '../../core/declarations/exchange-format.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { normalisePath } from './project-path.ts';
import {
  feature,
  type IdentityField,
  objective,
  path,
  requirement,
  task,
  ticket,
} from './records.ts';
import { type Row, SqliteFile, type SqlValue } from './sqlite.ts';

/** The SQLite database of seed 000. */
const database: ExchangeFormat = {
  name: 'memory-bank-db',
  title: 'SQLite database of features, paths, objectives, tasks and tickets',
  places: ['.claude/memory-bank.db'],
  recognises: (name, entries) => entries.includes(name) && /\.(?:db|sqlite3?)$/.test(name),
  *read(source) {
    const gathering = new Gathering();
    for (const file of source.files) {
      if (file.endsWith('-wal')) continue;
      gathering.attempt(file, () => {
        const log = source.files.find((one) => one === `${file}-wal`);
        const data = new SqliteFile(
          source.bytes(file),
          log === undefined ? undefined : source.bytes(log),
        );
        if (!data.has('features') && !data.has('tickets') && !data.has('paths')) {
          throw new MemoryError('damaged', 'The database has none of the tables of this format.');
        }
        readDatabase(data, gathering);
      });
      yield;
    }
    return gathering;
  },
};

export const formats: readonly ExchangeFormat[] = [database];

function readDatabase(data: SqliteFile, gathering: Gathering): void {
  const tables = new Map(
    ['features', 'paths', 'requirements', 'objectives', 'tasks', 'tickets', ...links].map(
      (name): [string, Row[]] => [name, rowsOf(name)],
    ),
  );
  const keys = {
    features: keysOf('features', (row) => row.get('slug')),
    paths: keysOf('paths', (row) => projectPath(row)),
    objectives: keysOf('objectives', (row) => row.get('slug')),
    tickets: keysOf('tickets', (row) => row.get('key')),
  };
  add(feature, 'features', (row) => ({
    slug: row.get('slug'),
    name: row.get('name'),
    description: text(row, 'description'),
    paths: linked('feature_paths', 'feature_id', 'path_id', row, keys.paths),
  }));
  add(path, 'paths', (row) => ({
    path: projectPath(row),
    type: row.get('type'),
    description: text(row, 'description'),
    use_when: list(row, 'use_when'),
  }));
  add(requirement, 'requirements', (row) => ({
    text: row.get('text'),
    notes: list(row, 'notes'),
    feature: keys.features.get(row.get('feature_id') ?? null),
  }));
  add(objective, 'objectives', (row) => ({
    slug: row.get('slug'),
    name: row.get('name'),
    status: row.get('status'),
    description: text(row, 'description'),
    plan_file_path: text(row, 'plan_file_path'),
    features: linked('objective_features', 'objective_id', 'feature_id', row, keys.features),
    tickets: linked('objective_tickets', 'objective_id', 'ticket_id', row, keys.tickets),
  }));
  add(task, 'tasks', (row) => ({
    text: row.get('text'),
    status: row.get('status'),
    order: row.get('order'),
    objective: keys.objectives.get(row.get('objective_id') ?? null),
  }));
  add(ticket, 'tickets', (row) => ({
    key: row.get('key'),
    title: text(row, 'title'),
    description: text(row, 'description'),
  }));

  function rowsOf(name: string): Row[] {
    let rows: Row[] = [];
    gathering.attempt(`table ${name}`, () => {
      rows = data.rows(name);
    });
    return rows;
  }

  function keysOf(table: string, key: (row: Row) => SqlValue | undefined) {
    return new Map((tables.get(table) ?? []).map((row) => [row.get('id') ?? null, key(row)]));
  }

  /**
   * Adds the rows of a table as records.
   *
   * @param fields every field of the record, undefined where the row has none.
   */
  function add<T extends object>(
    type: RecordType<T>,
    table: string,
    fields: (row: Row) => { readonly [F in Exclude<keyof T, IdentityField>]-?: unknown },
  ): void {
    const rows = tables.get(table) ?? [];
    const times = distinctTimes(rows);
    for (const [i, row] of rows.entries()) {
      const created_at = times[i];
      const updated = row.get('updated_at');
      const updated_at = updated === row.get('created_at') ? created_at : isoTime(updated);
      const id = row.get('id');
      const given = Object.entries(fields(row)).filter(([, value]) => value !== undefined);
      const value = { ...Object.fromEntries(given), id, created_at, updated_at };
      gathering.found.push({ type, value, from: `${table}, id ${String(id)}` });
    }
  }

  /** Returns the sorted targets of a row in a link table; undefined when it has none. */
  function linked(
    table: string,
    from: string,
    to: string,
    row: Row,
    targets: ReadonlyMap<SqlValue, SqlValue | undefined>,
  ): SqlValue[] | undefined {
    const ends = (tables.get(table) ?? [])
      .filter((link) => link.get(from) === row.get('id'))
      .flatMap((link) => targets.get(link.get(to) ?? null) ?? []);
    return ends.length === 0 ? undefined : [...new Set(ends)].sort();
  }

  function projectPath(row: Row): SqlValue | undefined {
    const given = row.get('path');
    const result = typeof given === 'string' ? normalisePath(given) : undefined;
    if (!result || !('path' in result)) return given;
    return result.path;
  }
}

const links = ['feature_paths', 'objective_features', 'objective_tickets'];

function text(row: Row, field: string): SqlValue | undefined {
  return row.get(field) ?? undefined;
}

/** Parses a list, which the database stores as JSON. */
function list(row: Row, field: string): unknown {
  const value = row.get(field);
  let items: unknown;
  try {
    items = JSON.parse(typeof value === 'string' ? value : '[]');
  } catch {
    // The import reports the text that is there instead of a list.
    items = value;
  }
  return Array.isArray(items) && items.length === 0 ? undefined : items;
}

/**
 * Derives a distinct creation time for each row.
 *
 * The database stores whole seconds, so rows of the same second get one millisecond each, in the
 * order of insertion.
 */
function distinctTimes(rows: readonly Row[]): (string | undefined)[] {
  const times = rows.map((row) => isoTime(row.get('created_at')));
  const order = rows
    .map((_, i) => i)
    .sort((a, b) => (times[a] ?? '').localeCompare(times[b] ?? '', 'en'));
  let last = 0;
  for (const i of order) {
    const time = times[i];
    if (time === undefined) continue;
    last = Math.max(Date.parse(time), last + 1);
    times[i] = new Date(last).toISOString();
  }
  return times;
}
