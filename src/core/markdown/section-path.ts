import { outline, type Section } from './sections.ts';

/** A section with the name by which a reader is asked for it. */
export interface NamedSection extends Section {
  /** The headings from the top to this one, joined; a number follows a path that occurred before. */
  readonly path: string;
  /** The section that contains this one. */
  readonly parent?: NamedSection;
}

/** Stands between the headings of a path. */
export const joint = ' > ';
/** Limit of a heading in a path, in UTF-16 code units. */
const longestHeading = 120;

/** Returns the sections of a markdown text in order, each with a path that no other section has. */
export function namedSections(text: string): NamedSection[] {
  const open: NamedSection[] = [];
  const uses = new Map<string, number>();
  return outline(text).map((section) => {
    while ((open.at(-1)?.level ?? 0) >= section.level) open.pop();
    const parent = open.at(-1);
    const heading = shown(section.heading);
    const plain = parent ? `${parent.path}${joint}${heading}` : heading;
    const key = folded(plain);
    let use = uses.get(key) ?? 0;
    let path = plain;
    do {
      use += 1;
      path = use === 1 ? plain : `${plain} (${use})`;
    } while (use > 1 && uses.has(folded(path)));
    uses.set(key, use);
    if (use > 1) uses.set(folded(path), 1);
    const named = { ...section, path, ...(parent && { parent }) };
    open.push(named);
    return named;
  });
}

function shown(heading: string): string {
  const line = heading.replace(/\s+/g, ' ').trim();
  if (line.length <= longestHeading) return line;
  return `${line.slice(0, longestHeading).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Returns a path for comparison: without case and repeated spaces. */
export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();
}
