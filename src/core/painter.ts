/** What a piece of text means to its reader; a terminal shows it as a colour. */
export type Style = 'title' | 'key' | 'faint' | 'good' | 'bad' | 'match';

/** Formats text for a person: for a terminal of some width, or plain for a pipe. */
export interface Painter {
  /** Characters of a line. */
  readonly width: number;
  /** Text in the colour of its style, with control characters made visible. */
  paint(style: Style, text: string): string;
  /** Text with control characters made visible. */
  plain(text: string): string;
  /** Text as one line, cut to the room or else to the width, with control characters made visible. */
  fit(text: string, room?: number): string;
}

/** Colours a line of a unified diff. */
export function paintDiff(painter: Painter, line: string): string {
  if (line.startsWith('+')) return painter.paint('good', line);
  if (line.startsWith('-')) return painter.paint('bad', line);
  return line.startsWith('@@') ? painter.paint('faint', line) : painter.plain(line);
}

/** A count with its noun: `1 feature`, `2 knowledge entries`. */
export function counted(count: number, name: string): string {
  const noun = name.replaceAll('-', ' ');
  if (count === 1) return `1 ${noun}`;
  if (/[^aeiou]y$/.test(noun)) return `${count} ${noun.slice(0, -1)}ies`;
  return `${count} ${noun}${/(?:ch|sh|s|x)$/.test(noun) ? 'es' : 's'}`;
}
