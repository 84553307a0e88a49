/** The meaning of a piece of text; a terminal shows it as a colour. */
export type Style = 'title' | 'key' | 'faint' | 'good' | 'bad' | 'match';

/** Formats text for people: coloured for a terminal, plain for a pipe. */
export interface Painter {
  /** Number of characters in a line. */
  readonly width: number;
  /** Colours text by its style, and makes control characters visible. */
  paint(style: Style, text: string): string;
  /** Makes control characters visible. */
  plain(text: string): string;
  /** Words a message to agents, such as that of an error, for people. */
  message(text: string): string;
  /** Cuts text to one line of `room` characters, by default the width; makes control characters visible. */
  fit(text: string, room?: number): string;
}

/** Colours a line of a unified diff. */
export function paintDiff(painter: Painter, line: string): string {
  if (line.startsWith('+')) return painter.paint('good', line);
  if (line.startsWith('-')) return painter.paint('bad', line);
  return line.startsWith('@@') ? painter.paint('faint', line) : painter.plain(line);
}

/** Formats a count with its noun: `1 feature`, `2 knowledge entries`. */
export function counted(count: number, name: string): string {
  const noun = name.replaceAll('-', ' ');
  if (count === 1) return `1 ${noun}`;
  if (/[^aeiou]y$/.test(noun)) return `${count} ${noun.slice(0, -1)}ies`;
  return `${count} ${noun}${/(?:ch|sh|s|x)$/.test(noun) ? 'es' : 's'}`;
}
