import { counted } from '../../core/answers/painter.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import type { History } from '../../core/memory/history.ts';
import type { Damaged } from '../../core/memory/listing.ts';
import type { Store } from '../../core/memory/store.ts';
import { pastedPath } from '../../core/names/pasted-path.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagNumber, flagText } from '../line/command.ts';
import { wordingFor } from '../line/error-wording.ts';
import { withRecords } from '../line/record-lookup.ts';
import { outputFlag, showResult } from '../line/result.ts';
import { inReadingSession } from '../line/run-in-session.ts';
import { printable, type Screen } from '../screen/terminal.ts';

/** Commits of one page of history, and pages read to find the last change of each record. */
const pageSize = 1000;
const maxPages = 10;

interface ListedRecord {
  readonly toolset: string;
  readonly record: string;
  readonly key: string;
  readonly title: string;
  readonly path: string;
  /** Time of the last commit that changed it, ISO 8601; undefined where no such commit is found. */
  readonly changed?: string | undefined;
}

/** `memory-bank list [path]`: lists the records with the time of their last change. */
export const list: Command = {
  about: 'list the records by toolset, folder and age; with a path, those below it',
  operands: ['path?'],
  flags: {
    toolset: { value: 'toolset', about: 'only records of this toolset' },
    sort: {
      value: 'path|age',
      choices: ['path', 'age'],
      about: 'the order; age: last changed first',
      default: 'path',
    },
    limit: { value: 'number', about: 'at most this many', default: '200' },
    ...outputFlag,
  },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const toolset = flagText(values, 'toolset');
    const limit = flagNumber(values, 'limit', 200, 1, 100_000);
    const listed = withRecords(await app.toolsets(), toolset);
    const under = operands[0] === undefined ? '' : pastedPath(operands[0]).replace(/\/$/, '');
    const { records, damaged } = await inReadingSession(invocation, (session, call) =>
      app.run(session, 'list', call, async ({ store, history }) => {
        const found = await readRecords(store, listed, under);
        const times = await lastChanges(history, new Set(found.records.map(({ path }) => path)));
        const records = found.records.map((record) => ({
          ...record,
          changed: times.get(record.path),
        }));
        return { records, damaged: found.damaged };
      }),
    );
    const age = ({ changed }: ListedRecord) => (changed === undefined ? 0 : Date.parse(changed));
    if (values.sort === 'age') records.sort((a, b) => age(b) - age(a));
    const shown = records.slice(0, limit);
    const word = await wordingFor();
    const result = {
      records: shown.map(({ changed = null, ...record }) => ({ ...record, changed })),
      total: records.length,
      damaged: damaged.map(({ path, error }) => ({ path, message: word(error.text) })),
    };
    await showResult(values, result, (screen) => [
      ...(values.sort === 'age' ? flat(screen, shown) : grouped(screen, shown)),
      ...rest(screen, records.length - shown.length, records.length),
      ...damaged.map(({ error }) => screen.paint('bad', `cannot be read: ${word(error.text)}`)),
    ]);
    if (records.length > 0) return 0;
    const where = under === '' ? '' : ` at or below "${printable(under)}"`;
    process.stderr.write(`There are no records${where}.\n`);
    return 3;
  },
};

/** The records of toolsets at a path or below it, by toolset and path. */
async function readRecords(store: Store, toolsets: readonly Toolset[], under: string) {
  const records: ListedRecord[] = [];
  const damaged: Damaged[] = [];
  const isWanted = ({ path }: { readonly path: string }) =>
    under === '' || path === under || path.startsWith(`${under}/`);
  for (const { name, records: types } of toolsets) {
    const found: ListedRecord[] = [];
    for (const type of types) {
      const listing = await store.list(type);
      damaged.push(...listing.damaged.filter(isWanted));
      for (const { key, path, value } of listing.records.filter(isWanted)) {
        const { title } = type.search(value);
        found.push({ toolset: name, record: type.name, key, title, path });
      }
    }
    records.push(...found.sort((a, b) => (a.path < b.path ? -1 : 1)));
  }
  return { records, damaged };
}

/** The times of the last commits that changed records; a repository without history has none. */
async function lastChanges(
  history: History,
  paths: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const times = new Map<string, string>();
  try {
    for (let page = 0; page < maxPages && times.size < paths.size; page++) {
      const request = { revision: 'HEAD', limit: pageSize, skip: page * pageSize };
      const { entries, total } = await history.log(request);
      for (const { commit, changes } of entries) {
        for (const { change, path } of changes) {
          if (change !== 'confirmed' && paths.has(path) && !times.has(path))
            times.set(path, commit.at);
        }
      }
      if (total <= (page + 1) * pageSize) break;
    }
  } catch (error) {
    // Records can be listed where git has no commit yet, or where its history cannot be read.
    if (!(error instanceof MemoryError)) throw error;
  }
  return times;
}

/** Records below the headings of their toolset and folder. */
function grouped(screen: Screen, records: readonly ListedRecord[]): string[] {
  const lines: string[] = [];
  let heading = '';
  for (const record of records) {
    const folder = record.path.includes('/') ? record.path.replace(/\/[^/]*$/, '/') : '';
    const next = `${record.toolset}${folder === '' ? '' : `  ${folder}`}`;
    if (next !== heading) {
      if (heading !== '') lines.push('');
      lines.push(screen.paint('key', next));
      heading = next;
    }
    lines.push(line(screen, record, record.path.slice(folder.length)));
  }
  return lines;
}

function flat(screen: Screen, records: readonly ListedRecord[]): string[] {
  return records.map((record) => line(screen, record, record.path));
}

const ageWidth = 16;

function line(screen: Screen, { title, changed }: ListedRecord, name: string): string {
  const room = Math.floor((screen.width - ageWidth - 6) / 2);
  const cells = [
    screen.fit(title, room).padEnd(room),
    screen.paint('faint', screen.fit(name, room).padEnd(room)),
    changed === undefined ? 'not committed' : ageOf(changed, Date.now()),
  ];
  return `  ${cells.join('  ')}`.trimEnd();
}

function rest(screen: Screen, left: number, total: number): string[] {
  if (left === 0) return [];
  return ['', screen.paint('faint', `${counted(left, 'more record')}: --limit ${total}`)];
}

const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How long ago a time was: `3 days ago`. */
export function ageOf(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  for (const [unit, length] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${counted(count, unit)} ago`;
  }
  return 'just now';
}
