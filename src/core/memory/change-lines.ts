import { type Painter, paintDiff, type Style } from '../answers/painter.ts';
import type { JsonValue } from '../values/json.ts';
import type { FieldChange, LoggedChange, RecordChange } from './commit-log.ts';

const marks: Record<LoggedChange['change'], readonly [mark: string, style: Style]> = {
  added: ['+', 'good'],
  changed: ['~', 'key'],
  moved: ['>', 'key'],
  removed: ['-', 'bad'],
  confirmed: ['=', 'good'],
};

/** A change of a record as one line. */
export function changeLine(
  painter: Painter,
  {
    change,
    path,
    from,
    fields,
  }: Omit<LoggedChange, 'fields'> & { readonly fields?: readonly (string | FieldChange)[] },
): string {
  const [mark, style] = marks[change];
  const named = (fields ?? []).flatMap((field) => (typeof field === 'string' ? field : []));
  const what = named.length > 0 ? ` (${named.join(', ')})` : '';
  return painter.paint(
    style,
    `${mark} ${path}${from === undefined ? '' : ` (was ${from})`}${what}`,
  );
}

/** A change of a record as one line, and the changes of its fields below it. */
export function changedRecordLines(painter: Painter, change: RecordChange): string[] {
  const fields = change.fields.flatMap((field) => fieldLines(painter, field));
  return [changeLine(painter, change), ...fields];
}

function fieldLines(
  painter: Painter,
  { field, before, after, added, removed, diff }: FieldChange,
): string[] {
  if (diff !== undefined) {
    const lines = diff.replace(/\n$/, '').split('\n');
    return [
      `    ${painter.paint('faint', field)}`,
      ...lines.map((line) => `    ${paintDiff(painter, line)}`),
    ];
  }
  const valueLines = (mark: string, values: readonly (JsonValue | undefined)[], style: Style) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        const shown = painter.fit(text, painter.width - 10);
        return `    ${painter.paint(style, `${mark} ${field}: ${shown}`)}`;
      });
  return [
    ...valueLines('-', removed ?? [before], 'bad'),
    ...valueLines('+', added ?? [after], 'good'),
  ];
}
