import { localBytes, type SqlValue } from './sqlite.ts';

/** A table to write. */
export interface NewTable {
  readonly name: string;
  /** Its CREATE statement. */
  readonly sql: string;
  readonly rows: readonly (readonly SqlValue[])[];
  /** Column positions of each PRIMARY KEY and UNIQUE constraint, in the order of the statement. */
  readonly unique: readonly (readonly number[])[];
  readonly indexes: readonly {
    readonly name: string;
    readonly sql: string;
    readonly columns: readonly number[];
  }[];
}

const pageSize = 4096;
/** Size of the file header, which is on the first page. */
const fileHeader = 100;

/** A SQLite 3 database with these tables ("Database File Format", sqlite.org/fileformat2). */
export function writeSqlite(tables: readonly NewTable[]): Buffer {
  const pages = new Pages();
  const schema: SqlValue[][] = [];
  for (const { name, sql, rows, unique, indexes } of tables) {
    schema.push(['table', name, name, pages.table(rows), sql]);
    for (const [i, columns] of unique.entries()) {
      const root = pages.index(rows, columns);
      schema.push(['index', `sqlite_autoindex_${name}_${i + 1}`, name, root, null]);
    }
    for (const index of indexes) {
      schema.push(['index', index.name, name, pages.index(rows, index.columns), index.sql]);
    }
  }
  pages.table(schema, true);
  return pages.file();
}

/** A page of a tree, and the divider between it and the next page. */
interface Branch {
  readonly page: number;
  /** Number of the last row, or the entry between this page and the next. */
  readonly divider: Buffer | undefined;
}

class Pages {
  /** The first page is filled last, when the position of every tree is known. */
  readonly #pages: Buffer[] = [Buffer.alloc(pageSize)];

  /** Writes the rows of a table and returns the root of its tree. */
  table(rows: readonly (readonly SqlValue[])[], first = false): number {
    const head = first ? fileHeader : 0;
    const cells = rows.map((row, i) => {
      const record = encodeRecord(row);
      const lead = Buffer.concat([varint(record.length), varint(i + 1)]);
      return { number: varint(i + 1), bytes: this.#cell(lead, record, pageSize - 35) };
    });
    const leaves = pack(cells, ({ bytes }) => bytes.length, pageSize - head - 8);
    let level = leaves.map((group): Branch & { draw(at: number): void } => ({
      page: 0,
      divider: group.at(-1)?.number,
      draw: (page) =>
        this.#draw(
          page,
          13,
          group.map(({ bytes }) => bytes),
        ),
    }));
    while (level.length > 1) {
      const placed = level.map((one) => ({ page: this.#place(one.draw), divider: one.divider }));
      const size = ({ divider }: Branch) => 4 + (divider?.length ?? 0);
      level = pack(placed, size, pageSize - head - 12).map((group) => ({
        page: 0,
        divider: group.at(-1)?.divider,
        draw: (page) => this.#drawInner(page, 5, group),
      }));
    }
    const [root] = level;
    if (!first) return this.#place(root?.draw ?? ((page) => this.#draw(page, 13, [])));
    (root?.draw ?? ((page) => this.#draw(page, 13, [])))(1);
    return 1;
  }

  /** Writes an index over some columns and returns the root of its tree. */
  index(rows: readonly (readonly SqlValue[])[], columns: readonly number[]): number {
    const most = Math.floor(((pageSize - 12) * 64) / 255) - 23;
    const cells = rows
      .map((row, i) => [...columns.map((column) => row[column] ?? null), i + 1])
      .sort(compareRows)
      .map((entry) => {
        const record = encodeRecord(entry);
        return this.#cell(varint(record.length), record, most);
      });
    const leaves = divide(cells, ({ length }) => length, pageSize - 8);
    let { dividers } = leaves;
    let level = leaves.groups.map((group) => this.#place((page) => this.#draw(page, 10, group)));
    while (level.length > 1) {
      const branches = level.map((page, i): Branch => ({ page, divider: dividers[i] }));
      const size = ({ divider }: Branch) => 4 + (divider?.length ?? 0);
      const upper = pack(branches, size, pageSize - 12);
      // The last entry of each page moves up; the page keeps the child before it as its last child.
      dividers = upper.slice(0, -1).flatMap((group) => group.at(-1)?.divider ?? []);
      level = upper.map((group) => this.#place((page) => this.#drawInner(page, 2, group)));
    }
    return level[0] ?? 0;
  }

  /** Returns the pages, with the file header on the first. */
  file(): Buffer {
    const head = this.#pages[0] ?? Buffer.alloc(pageSize);
    head.write('SQLite format 3\0', 'latin1');
    head.writeUInt16BE(pageSize, 16);
    head.set([1, 1, 0, 64, 32, 32], 18);
    for (const [at, value] of [
      [24, 1],
      [28, this.#pages.length],
      [40, 1],
      [44, 4],
      [56, 1],
      [92, 1],
      [96, 3_045_000],
    ] as const) {
      head.writeUInt32BE(value, at);
    }
    return Buffer.concat(this.#pages);
  }

  #place(draw: (page: number) => void): number {
    this.#pages.push(Buffer.alloc(pageSize));
    const page = this.#pages.length;
    draw(page);
    return page;
  }

  /** Returns a cell with as much of the record as fits; overflow pages take the rest. */
  #cell(lead: Buffer, record: Buffer, most: number): Buffer {
    const local = localBytes(record.length, pageSize, most);
    if (local === record.length) return Buffer.concat([lead, record]);
    const parts: Buffer[] = [];
    for (let at = local; at < record.length; at += pageSize - 4) {
      parts.push(record.subarray(at, at + pageSize - 4));
    }
    const firstPage = this.#pages.length + 1;
    for (const [i, part] of parts.entries()) {
      this.#place((page) => {
        const bytes = this.#bytes(page);
        bytes.writeUInt32BE(i + 1 < parts.length ? page + 1 : 0, 0);
        bytes.set(part, 4);
      });
    }
    const link = Buffer.alloc(4);
    link.writeUInt32BE(firstPage);
    return Buffer.concat([lead, record.subarray(0, local), link]);
  }

  #drawInner(page: number, kind: number, branches: readonly Branch[]): void {
    const cells = branches.slice(0, -1).map(({ page: child, divider }) => {
      const link = Buffer.alloc(4);
      link.writeUInt32BE(child);
      return Buffer.concat([link, divider ?? Buffer.alloc(0)]);
    });
    this.#draw(page, kind, cells, branches.at(-1)?.page);
  }

  #draw(page: number, kind: number, cells: readonly Buffer[], last?: number): void {
    const bytes = this.#bytes(page);
    const head = page === 1 ? fileHeader : 0;
    let end = pageSize;
    let slot = head + (last === undefined ? 8 : 12);
    for (const cell of cells) {
      end -= cell.length;
      bytes.set(cell, end);
      bytes.writeUInt16BE(end, slot);
      slot += 2;
    }
    bytes.writeUInt8(kind, head);
    bytes.writeUInt16BE(cells.length, head + 3);
    bytes.writeUInt16BE(end, head + 5);
    if (last !== undefined) bytes.writeUInt32BE(last, head + 8);
  }

  #bytes(page: number): Buffer {
    const bytes = this.#pages[page - 1];
    if (!bytes) throw new RangeError(`there is no page ${page}`);
    return bytes;
  }
}

/** Groups items so that each group fits on a page, with a two-byte pointer for each item. */
function pack<T>(items: readonly T[], size: (item: T) => number, room: number): T[][] {
  const groups: T[][] = [];
  let left = 0;
  for (const item of items) {
    const needed = size(item) + 2;
    if (groups.length === 0 || needed > left) {
      groups.push([]);
      left = room;
    }
    groups.at(-1)?.push(item);
    left -= needed;
  }
  // An inner page with a single child is not valid.
  const [before, lone] = groups.slice(-2);
  if (before && lone?.length === 1 && before.length > 2) lone.unshift(...before.splice(-1));
  return groups;
}

/** Groups items like `pack`, with one dividing item between two groups. */
function divide<T>(items: readonly T[], size: (item: T) => number, room: number) {
  const groups: T[][] = [[]];
  const dividers: T[] = [];
  let left = room;
  for (const [i, item] of items.entries()) {
    const needed = size(item) + 2;
    if (needed <= left) {
      groups.at(-1)?.push(item);
      left -= needed;
      continue;
    }
    // The last item needs a page of its own, so the item before it becomes the divider.
    const final = i === items.length - 1;
    const between = final ? groups.at(-1)?.pop() : item;
    if (between !== undefined) dividers.push(between);
    groups.push(final ? [item] : []);
    left = room;
  }
  return { groups, dividers };
}

function compareRows(a: readonly SqlValue[], b: readonly SqlValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compare(value, b[i] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares two values of an index: null, then numbers, then texts by their bytes. */
function compare(a: SqlValue, b: SqlValue): number {
  const rank = (value: SqlValue) => (value === null ? 0 : typeof value === 'number' ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'string' && typeof b === 'string'
    ? Buffer.compare(Buffer.from(a), Buffer.from(b))
    : 0;
}

/** Encodes a row as a record: the types of its values, then the values. */
function encodeRecord(row: readonly SqlValue[]): Buffer {
  const parts = row.map(encodeValue);
  const kinds = Buffer.concat(parts.map(({ kind }) => varint(kind)));
  const size = varint(kinds.length + (kinds.length + 1 < 128 ? 1 : 2));
  return Buffer.concat([size, kinds, ...parts.map(({ bytes }) => bytes)]);
}

function encodeValue(value: SqlValue): { kind: number; bytes: Buffer } {
  const none = Buffer.alloc(0);
  if (value === null) return { kind: 0, bytes: none };
  if (value === 0 || value === 1) return { kind: 8 + value, bytes: none };
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    return { kind: 13 + 2 * bytes.length, bytes };
  }
  if (typeof value !== 'number') {
    return { kind: 12 + 2 * value.length, bytes: Buffer.from(value) };
  }
  const whole = Number.isInteger(value) && Math.abs(value) < 2 ** 47;
  const bytes = Buffer.alloc(whole ? 6 : 8);
  if (whole) bytes.writeIntBE(value, 0, 6);
  else bytes.writeDoubleBE(value);
  return { kind: whole ? 5 : 7, bytes };
}

/** Encodes a number as a varint of one to five bytes. */
function varint(value: number): Buffer {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift((rest % 128) + 128);
  }
  return Buffer.from(bytes);
}
