import { bankFolder } from '../../app/root.ts';
import type {
  Change,
  ChangeKind,
  CommitInfo,
  FieldChange,
  LogEntry,
  RecordChange,
} from '../../core/history.ts';
import type { JsonValue } from '../../core/json.ts';
import { type Command, flagNumber, flagText } from '../command.ts';
import { inSession } from '../run-in-session.ts';
import { Screen, type Style } from '../terminal.ts';

const marks: Record<ChangeKind, readonly [mark: string, style: Style]> = {
  added: ['+', 'good'],
  changed: ['~', 'key'],
  moved: ['>', 'key'],
  removed: ['-', 'bad'],
};

const limit = { value: 'number', about: 'at most this many; default: 30' };
const revisions = 'a branch, tag, commit, HEAD~3, 2026-01-31 or "2 days ago"';

/** `memory-bank log [path]`: the commits that changed the memory, the newest first. */
export const log: Command = {
  about: 'show who changed the memory, one record or a folder of it, when and why',
  operands: ['path?'],
  flags: { limit, revision: { value: 'revision', about: `where to begin: ${revisions}` } },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const request = {
      path: operands[0] === undefined ? undefined : inBank(operands[0]),
      revision: flagText(values, 'revision') ?? 'HEAD',
      limit: flagNumber(values, 'limit', 30, 1, 1_000_000),
      skip: 0,
    };
    const { entries, total, shallow } = await inSession(invocation, (session, call) =>
      app.run(session, 'log', call, ({ history }) => history.log(request)),
    );
    const screen = new Screen();
    const left = total - entries.length;
    const rest = left > 0 ? [screen.paint('faint', `${left} older ones: --limit ${total}`)] : [];
    const end = shallow
      ? [screen.paint('faint', 'The clone is shallow: older commits are missing.')]
      : [];
    await screen.show(
      `${[...entries.map((one) => entryText(screen, one)), ...rest, ...end].join('\n')}\n`,
    );
    return 0;
  },
};

/** `memory-bank diff <from> [to]`: what differs between two states of the memory. */
export const diff: Command = {
  about: `compare two states of the memory; a state is ${revisions}`,
  operands: ['from', 'to?'],
  flags: { limit, path: { value: 'path', about: 'only this record or folder' } },
  async run(invocation) {
    const { app, operands, values } = invocation;
    const [from = '', to = 'HEAD'] = operands;
    const path = flagText(values, 'path');
    const request = {
      from,
      to,
      path: path === undefined ? undefined : inBank(path),
      limit: flagNumber(values, 'limit', 30, 1, 1_000_000),
      skip: 0,
    };
    const { changes, counts } = await inSession(invocation, (session, call) =>
      app.run(session, 'diff', call, ({ history }) => history.compare(request)),
    );
    const screen = new Screen();
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const left = total - changes.length;
    const rest = left > 0 ? [screen.paint('faint', `${left} more: --limit ${total}`)] : [];
    const text = [...changes.map((change) => changeText(screen, change)), ...rest].join('\n');
    await screen.show(text === '' ? '' : `${text}\n`);
    return 0;
  },
};

/** A path as people copy it, below `.memory-bank/`. */
export function inBank(path: string): string {
  return path.replace(/^\.\//, '').replace(`${bankFolder}/`, '');
}

function entryText(screen: Screen, { commit, changes }: LogEntry): string {
  const reason = commit.reason?.split('\n').map((line) => `    ${screen.plain(line)}`.trimEnd());
  return [
    `${screen.paint('key', commit.oid.slice(0, 12))}  ${screen.paint('title', commit.subject)}`,
    `    ${screen.paint('faint', provenance(commit))}`,
    ...(reason ?? []),
    ...changes.map((change) => `  ${changeLine(screen, change)}`),
    '',
  ].join('\n');
}

/** When, by whom, with what. */
function provenance({ at, author, agent, tool, mode }: CommitInfo): string {
  const means = [agent, tool, mode === undefined ? undefined : `mode ${mode}`];
  return [at.replace('T', ' ').replace(/(\.\d+)?Z$/, 'Z'), author, ...means]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/** One change of a record, as a line. */
export function changeLine(
  screen: Screen,
  { change, path, from, fields }: Change & { readonly fields?: readonly (string | FieldChange)[] },
): string {
  const [mark, style] = marks[change];
  const named = (fields ?? []).flatMap((field) => (typeof field === 'string' ? field : []));
  const what = named.length > 0 ? ` (${named.join(', ')})` : '';
  return screen.paint(style, `${mark} ${path}${from === undefined ? '' : ` (was ${from})`}${what}`);
}

function changeText(screen: Screen, change: RecordChange): string {
  const lines = change.fields.flatMap((field) => fieldLines(screen, field));
  return [changeLine(screen, change), ...lines.map((line) => `    ${line}`)].join('\n');
}

function fieldLines(
  screen: Screen,
  { field, before, after, added, removed, diff }: FieldChange,
): string[] {
  if (diff !== undefined) {
    const lines = diff.replace(/\n$/, '').split('\n');
    return [screen.paint('faint', field), ...lines.map((line) => paintDiff(screen, line))];
  }
  const told = (mark: string, values: readonly (JsonValue | undefined)[], style: Style) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        return screen.paint(style, `${mark} ${field}: ${screen.fit(text, screen.width - 10)}`);
      });
  return [...told('-', removed ?? [before], 'bad'), ...told('+', added ?? [after], 'good')];
}

/** A line of a unified diff in its colour. */
export function paintDiff(screen: Screen, line: string): string {
  if (line.startsWith('+')) return screen.paint('good', line);
  if (line.startsWith('-')) return screen.paint('bad', line);
  return line.startsWith('@@') ? screen.paint('faint', line) : screen.plain(line);
}
