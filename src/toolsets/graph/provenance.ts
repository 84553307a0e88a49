import type { Provenance } from '../../core/memory/store.ts';
import type { RecordType } from '../../core/record/record-type.ts';
import type { GraphRecord } from './records.ts';

/** Limits of the list in a commit message: its lines, and the characters of a line. */
const maxLines = 100;
const maxLine = 200;

/** Records or links removed together with a record, as lines of the commit message. */
export interface Fallout {
  readonly noun: 'requirement' | 'task' | 'link';
  readonly names: readonly string[];
}

/** Makes `create feature "auth"`, or `create 3 features` with their names as the reason. */
export function saying(
  verb: string,
  noun: string,
  names: readonly string[],
  rest = '',
): Provenance {
  if (names.length === 1) return { subject: `${verb} ${noun} "${names[0]}"${rest}` };
  return { subject: `${verb} ${counted(noun, names.length)}${rest}`, reason: bullets(names) };
}

/** Names a record in a commit message: by its text, or by its key. */
export function label<T extends GraphRecord>(type: RecordType<T>, value: T): string {
  return `${type.name} "${value.text ?? type.key(value)}"`;
}

/** Makes `delete feature "auth" with 2 requirements and 1 link`, with their names as the reason. */
export function deletion(what: string, fallout: readonly Fallout[]): Provenance {
  const gone = fallout.filter(({ names }) => names.length > 0);
  if (gone.length === 0) return { subject: `delete ${what}` };
  const counts = gone.map(({ noun, names }) => counted(noun, names.length));
  const lines = gone.flatMap(({ noun, names }) => names.map((name) => `${noun} ${name}`));
  return { subject: `delete ${what} with ${counts.join(' and ')}`, reason: bullets(lines) };
}

function counted(noun: string, count: number): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function bullets(lines: readonly string[]): string {
  const shown = lines.slice(0, maxLines).map((line) => `- ${cut(line.replace(/\s+/g, ' '))}`);
  const more = lines.length - shown.length;
  return [...shown, ...(more > 0 ? [`- … ${more} more`] : [])].join('\n');
}

function cut(line: string): string {
  const characters = [...line];
  if (characters.length <= maxLine) return line;
  return `${characters.slice(0, maxLine).join('').trimEnd()}…`;
}
