import type { Change, ChangeKind, CommitInfo, FieldChange } from '../../core/history.ts';
import { counted, type Painter, type Style } from '../../core/painter.ts';

const marks: Record<ChangeKind, readonly [mark: string, style: Style]> = {
  added: ['+', 'good'],
  changed: ['~', 'key'],
  moved: ['>', 'key'],
  removed: ['-', 'bad'],
};

/** A change of a record as one line. */
export function changeLine(
  painter: Painter,
  { change, path, from, fields }: Change & { readonly fields?: readonly (string | FieldChange)[] },
): string {
  const [mark, style] = marks[change];
  const named = (fields ?? []).flatMap((field) => (typeof field === 'string' ? field : []));
  const what = named.length > 0 ? ` (${named.join(', ')})` : '';
  return painter.paint(
    style,
    `${mark} ${path}${from === undefined ? '' : ` (was ${from})`}${what}`,
  );
}

/** Time, author and means of a commit. */
export function provenanceText({ at, author, agent, tool, mode }: CommitInfo): string {
  const means = [agent, tool, mode === undefined ? undefined : `mode ${mode}`];
  return [at.replace('T', ' ').replace(/(\.\d+)?Z$/, 'Z'), author, ...means]
    .filter((part) => part !== undefined)
    .join(' · ');
}

/** Makes the line below a list that was cut off. */
export function restLines(painter: Painter, left: number, total: number, what: string): string[] {
  return left > 0 ? [painter.paint('faint', `${counted(left, what)}: --limit ${total}`)] : [];
}
