import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SqliteFile } from '../../../src/toolsets/graph/sqlite.ts';
import { newFolder } from '../../support/process.ts';

const program = spawnSync('sqlite3', ['--version']).status === 0;

function database(sql: string): string {
  const file = join(newFolder(), 'test.db');
  execFileSync('sqlite3', [file], { input: sql, stdio: ['pipe', 'ignore', 'inherit'] });
  return file;
}

describe.skipIf(!program)('a database that SQLite wrote', () => {
  it.each(['UTF-8', 'UTF-16le', 'UTF-16be'])(
    'in %s: many pages, long texts, all kinds of value',
    (encoding) => {
      const file = database(`PRAGMA encoding = '${encoding}'; PRAGMA page_size = 512;
      CREATE TABLE t (id INTEGER PRIMARY KEY, "order" INTEGER, -- a remark, with a comma
        a TEXT DEFAULT 'x,y' CHECK(a IN ('x,y', 'é', '😀')), b, PRIMARYS REAL, UNIQUE (a, id));
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        INSERT INTO t SELECT i, i * -1000003, 'é', printf('%.*c', i, 'x'), i / 4.0 FROM n;
      INSERT INTO t VALUES (9000000000, 1, '😀', x'00ff', NULL), (-5, 0, 'x,y', NULL, 1e300);`);
      const rows = new SqliteFile(readFileSync(file)).rows('t');
      expect(rows).toHaveLength(2002);
      expect(Object.fromEntries(rows[0] ?? [])).toEqual({
        id: -5,
        order: 0,
        a: 'x,y',
        b: null,
        PRIMARYS: 1e300,
      });
      expect(rows[2000]?.get('b')).toBe('x'.repeat(2000));
      expect(rows[2000]?.get('order')).toBe(-2_000_006_000);
      expect(rows[2001]?.get('id')).toBe(9_000_000_000);
      expect(rows[2001]?.get('b')).toEqual(Buffer.from([0, 255]));
    },
  );

  it('with a write-ahead log beside it, as far as that is committed', () => {
    const file = join(newFolder(), 'test.db');
    const copy = join(newFolder(), 'copy.db');
    execFileSync('sqlite3', [file], {
      input: `PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES ('one'), ('two');
.shell cp ${file} ${copy}
.shell cp ${file}-wal ${copy}-wal
`,
    });
    expect(existsSync(`${copy}-wal`)).toBe(true);
    const log = readFileSync(`${copy}-wal`);
    const read = (wal: Buffer) => new SqliteFile(readFileSync(copy), wal);
    expect(
      read(log)
        .rows('t')
        .map((row) => row.get('a')),
    ).toEqual(['one', 'two']);
    // The last frame is cut off: what it belongs to was never committed.
    expect(read(log.subarray(0, -1)).rows('t')).toEqual([]);
  });

  it('is refused when it is cut or scrambled, and never read for ever', () => {
    const bytes = readFileSync(database('CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);'));
    for (let i = 0; i < bytes.length; i += 97) {
      const broken = Buffer.from(bytes);
      broken[i] = (broken[i] ?? 0) ^ 0xff;
      for (const input of [broken, bytes.subarray(0, i)]) {
        try {
          new SqliteFile(input).rows('t');
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/damaged|not_found/) });
        }
      }
    }
  });
});

it('a row without an end is called damage', () => {
  const page = 512;
  // The second page has the only row of the table "lone".
  const whole = readFileSync(join(import.meta.dirname, '../../fixtures/graph/values.db'));
  expect(new SqliteFile(whole).rows('lone')).toEqual([new Map([['a', 'x']])]);
  // Its pages of overflow form a circle, and its size is 2 ** 52 bytes and a little.
  const last = whole.length / page + 1;
  const circle = Buffer.alloc(page);
  circle.writeUInt32BE(last);
  const bytes = Buffer.concat([whole, circle]);
  const size = 139n + 508n * 2n ** 43n;
  const digits = Array.from({ length: 8 }, (_, i) => Number((size >> BigInt(7 * (7 - i))) & 127n));
  const cell = Buffer.from([...digits.map((digit, i) => (i < 7 ? digit | 128 : digit)), 1]);
  cell.copy(bytes, page + 100);
  bytes.writeUInt16BE(100, page + 8);
  bytes.writeUInt32BE(last, page + 100 + cell.length + 139);
  expect(() => new SqliteFile(bytes).rows('lone')).toThrow('The database is broken.');
});
