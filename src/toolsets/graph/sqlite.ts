import { MemoryError } from '../../core/values/error.ts';

/** A value of a row. */
export type SqlValue = string | number | null | Uint8Array;

/** A row, keyed by column name. */
export type Row = ReadonlyMap<string, SqlValue>;

/** Maximum depth of a tree in a valid file. */
const maxDepth = 20;

interface Table {
  readonly root: number;
  /** In the order of the stored values. */
  readonly columns: readonly string[];
  /** The column that is an alias of the row id and is stored as null. */
  readonly rowid: string | undefined;
}

/**
 * The tables of a SQLite 3 database, read from its bytes.
 *
 * The format is described in "Database File Format" (sqlite.org/fileformat2). The committed pages of a
 * write-ahead log next to the file are included.
 */
export class SqliteFile {
  readonly #bytes: Buffer;
  readonly #log: ReadonlyMap<number, Buffer>;
  readonly #pageSize: number;
  /** Usable bytes of a page. */
  readonly #usable: number;
  readonly #encoding: number;
  readonly #tables = new Map<string, Table>();
  /** Bytes that the rows of a table may still take: valid rows never share a byte. */
  #room = 0;

  /**
   * Reads the list of tables.
   *
   * @throws MemoryError `damaged` when the file is not a SQLite database.
   */
  constructor(bytes: Uint8Array, log?: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
    if (this.#bytes.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
      throw new MemoryError('damaged', 'Not a SQLite database.');
    }
    if (this.#bytes.length < 512) throw broken();
    const size = this.#bytes.readUInt16BE(16);
    this.#pageSize = size === 1 ? 65_536 : size;
    this.#usable = this.#pageSize - this.#bytes.readUInt8(20);
    if (this.#pageSize < 512 || this.#usable < 480) throw broken();
    this.#log = log === undefined ? new Map() : readLog(Buffer.from(log), this.#pageSize);
    this.#encoding = guarded(() => this.#page(1).readUInt32BE(56));
    guarded(() => {
      for (const { values } of this.#rows(1)) {
        const [type, name, , root, sql] = values;
        if (type !== 'table' || typeof sql !== 'string') continue;
        this.#tables.set(String(name), { root: Number(root), ...columnsOf(sql) });
      }
    });
  }

  has(table: string): boolean {
    return this.#tables.has(table);
  }

  /**
   * Returns the rows of a table in the order of insertion.
   *
   * @throws MemoryError `damaged` when the file is broken; `not_found` when the table does not exist.
   */
  rows(name: string): Row[] {
    const table = this.#tables.get(name);
    if (!table) throw new MemoryError('not_found', `The database has no table "${name}".`);
    return guarded(() =>
      this.#rows(table.root).map(
        ({ rowid, values }) =>
          new Map(
            table.columns.map((column, i) => [
              column,
              column === table.rowid ? rowid : (values[i] ?? null),
            ]),
          ),
      ),
    );
  }

  #page(number: number): Buffer {
    const logged = this.#log.get(number);
    if (logged) return logged;
    const start = (number - 1) * this.#pageSize;
    if (number < 1 || start + this.#pageSize > this.#bytes.length) {
      throw new RangeError(`there is no page ${number}`);
    }
    return this.#bytes.subarray(start, start + this.#pageSize);
  }

  #rows(root: number): { rowid: number; values: SqlValue[] }[] {
    const rows: { rowid: number; values: SqlValue[] }[] = [];
    const seen = new Set<number>();
    this.#room = this.#bytes.length + this.#log.size * this.#pageSize;
    const visit = (number: number, depth: number): void => {
      if (depth > maxDepth || seen.has(number)) throw new RangeError('the pages form a circle');
      seen.add(number);
      const page = this.#page(number);
      const head = number === 1 ? 100 : 0;
      const kind = page.readUInt8(head);
      if (kind !== 13 && kind !== 5)
        throw new RangeError(`page ${number} does not belong to a table`);
      const cells = page.readUInt16BE(head + 3);
      const first = head + (kind === 5 ? 12 : 8);
      for (let i = 0; i < cells; i++) {
        const at = page.readUInt16BE(first + 2 * i);
        if (kind === 5) visit(page.readUInt32BE(at), depth + 1);
        else rows.push(this.#cell(page, at));
      }
      if (kind === 5) visit(page.readUInt32BE(head + 8), depth + 1);
    };
    visit(root, 0);
    return rows;
  }

  #cell(page: Buffer, at: number): { rowid: number; values: SqlValue[] } {
    const [size, afterSize] = varint(page, at);
    const [rowid, start] = varint(page, afterSize);
    this.#room -= Math.max(size, 0);
    if (this.#room < 0) throw new RangeError('the rows are larger than the file');
    const local = localBytes(size, this.#usable, this.#usable - 35);
    const parts = [page.subarray(start, start + local)];
    let left = size - local;
    let next = left > 0 ? page.readUInt32BE(start + local) : 0;
    while (left > 0) {
      const overflow = this.#page(next);
      const taken = Math.min(left, this.#usable - 4);
      parts.push(overflow.subarray(4, 4 + taken));
      left -= taken;
      next = overflow.readUInt32BE(0);
    }
    return { rowid, values: this.#values(Buffer.concat(parts)) };
  }

  #values(record: Buffer): SqlValue[] {
    const [headSize, begin] = varint(record, 0);
    const values: SqlValue[] = [];
    let at = headSize;
    for (let type = begin; type < headSize; ) {
      const [code, next] = varint(record, type);
      type = next;
      const size = sizeOf(code);
      if (at + size > record.length) throw new RangeError('a row is cut off');
      values.push(this.#value(code, record.subarray(at, at + size)));
      at += size;
    }
    return values;
  }

  #value(code: number, bytes: Buffer): SqlValue {
    if (code === 0) return null;
    if (code === 7) return bytes.readDoubleBE(0);
    if (code === 8 || code === 9) return code - 8;
    if (code === 6) return Number(bytes.readBigInt64BE(0));
    if (code < 6) return bytes.readIntBE(0, bytes.length);
    if (code % 2 === 0) return bytes;
    if (this.#encoding === 1) return bytes.toString('utf8');
    const little = this.#encoding === 2 ? bytes : Buffer.from(bytes).swap16();
    return little.toString('utf16le');
  }
}

/** Returns how many bytes of a record are in the page itself; the rest is in overflow pages. */
function localBytes(size: number, usable: number, most: number): number {
  if (size <= most) return size;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const kept = least + ((size - least) % (usable - 4));
  return kept <= most ? kept : least;
}

function sizeOf(code: number): number {
  if (code >= 12) return (code - 12 - (code % 2)) / 2;
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][code] ?? 0;
}

/** Decodes a varint of one to nine bytes, and returns the offset after it. */
function varint(bytes: Buffer, at: number): [value: number, next: number] {
  let value = 0n;
  for (let i = 0; i < 9; i++) {
    const byte = bytes.readUInt8(at + i);
    if (i === 8) return [Number(BigInt.asIntN(64, (value << 8n) | BigInt(byte))), at + 9];
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return [Number(value), at + i + 1];
  }
  return [Number(value), at + 9];
}

/** Returns the committed pages of a write-ahead log, by page number. */
function readLog(log: Buffer, pageSize: number): Map<number, Buffer> {
  const committed = new Map<number, Buffer>();
  const magic = log.length >= 32 ? log.readUInt32BE(0) : 0;
  if (magic >>> 1 !== 0x377f0682 >>> 1 || log.readUInt32BE(8) !== pageSize) return committed;
  const sum = checksum(magic % 2 === 1);
  sum(log.subarray(0, 24));
  const pending = new Map<number, Buffer>();
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) {
    const page = log.subarray(at + 24, at + 24 + pageSize);
    sum(log.subarray(at, at + 8));
    const [a, b] = sum(page);
    const salted = log.compare(log, 16, 24, at + 8, at + 16) === 0;
    if (!salted || a !== log.readUInt32BE(at + 16) || b !== log.readUInt32BE(at + 20)) break;
    pending.set(log.readUInt32BE(at), page);
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [number, bytes] of pending) committed.set(number, bytes);
    pending.clear();
  }
  return committed;
}

/** The running checksum of a write-ahead log. */
function checksum(bigEndian: boolean): (bytes: Buffer) => [number, number] {
  let a = 0;
  let b = 0;
  return (bytes) => {
    const word = (at: number) => (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
    for (let at = 0; at < bytes.length; at += 8) {
      a = (a + word(at) + b) >>> 0;
      b = (b + word(at + 4) + a) >>> 0;
    }
    return [a, b];
  };
}

/** Parses the columns of a table from its CREATE statement. */
function columnsOf(sql: string): Pick<Table, 'columns' | 'rowid'> {
  if (/\bWITHOUT\s+ROWID\b/i.test(sql)) return { columns: [], rowid: undefined };
  const columns: string[] = [];
  let rowid: string | undefined;
  for (const part of definitions(sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')')))) {
    const [, quoted, bare = '', rest = ''] =
      /^\s*(?:["`[]([^"`\]]+)["`\]]|(\w+))([\s\S]*)$/.exec(part) ?? [];
    if (!quoted && /^(?:CONSTRAINT|PRIMARY|FOREIGN|UNIQUE|CHECK)$/i.test(bare)) continue;
    const name = quoted ?? bare;
    if (/^\s*INTEGER\s+PRIMARY\s+KEY\b/i.test(rest)) rowid = name;
    columns.push(name);
  }
  return { columns, rowid };
}

/** Splits a list at its commas, except commas within parentheses or quotes. */
function definitions(list: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const [piece] of list.matchAll(/'[^']*'|"[^"]*"|--[^\n]*|[\s\S]/g)) {
    if (piece.startsWith('--')) continue;
    if (piece === '(') depth++;
    if (piece === ')') depth--;
    if (piece === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + piece);
  }
  return parts;
}

/** Translates a range error, which a broken file causes, into an error about the file. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw broken(cause);
  }
}

function broken(cause?: unknown): MemoryError {
  return new MemoryError('damaged', 'The database is broken.', { cause });
}
