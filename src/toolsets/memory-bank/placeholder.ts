/** An entry of seed 003's templates that nobody has filled in, with the blank lines below it. */
const placeholders = [
  emptyEntry(2, '[Decision Title] - [Date]', [
    'Context',
    'Decision',
    'Alternatives Considered',
    'Consequences',
  ]),
  emptyEntry(3, '[Pattern Name]', ['Usage', 'Implementation']),
];

/**
 * Removes the placeholder entries that older versions wrote into new core files.
 *
 * An entry with any text of its own stays.
 */
export function withoutPlaceholders(text: string): string {
  if (!text.includes('# [')) return text;
  const rest = placeholders.reduce((left, entry) => left.replace(entry, ''), text);
  return rest === text ? text : rest.replace(/(\r?\n)(?:\r?\n)+$/, '$1');
}

/** Blanks the placeholder entries for a search; every line keeps its number. */
export function maskPlaceholders(text: string): string {
  if (!text.includes('# [')) return text;
  return placeholders.reduce(
    (left, entry) => left.replace(entry, (found) => found.replace(/[^\r\n]/g, '')),
    text,
  );
}

function emptyEntry(level: number, title: string, parts: readonly string[]): RegExp {
  const hashes = '#'.repeat(level);
  const headings = [`${hashes} ${title}`, ...parts.map((part) => `${hashes}# ${part}`)];
  const lines = headings.map((heading) => heading.replace(/[[\]]/g, '\\$&'));
  const gap = '[ \\t]*(?:\\r?\\n)+';
  return new RegExp(`^${lines.join(gap)}(?:${gap}(?=#{1,${level}} |$(?![^]))|$(?![^]))`, 'gm');
}
