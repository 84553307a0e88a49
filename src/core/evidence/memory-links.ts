/** Limit of the records that one text names. */
const maxLinks = 100;
const maxText = 1024 * 1024;
/** A path of a record, with or without the anchor of a section, or the anchor alone in a link. */
const link =
  /(?<![\w./@+-])([\w./@+-]{1,400}\.(?:md|yaml))\b(#[^\s()<>[\]"'`]{1,300})?|\]\((#[^\s()<>]{1,300})\)/g;

/** Most texts have none. */
const mayHaveLinks = /\.(?:md|yaml)\b|\]\(#/;

/**
 * Finds the records that a text names, by their paths relative to `.memory-bank/`. A link to a section
 * of one has its anchor, after `#`; links to sections of the same text have its own path.
 */
export function memoryLinks(path: string, text: string): string[] {
  const found = new Set<string>();
  if (!mayHaveLinks.test(text)) return [];
  for (const [, word = path, after, own] of text.slice(0, maxText).matchAll(link)) {
    if (found.size >= maxLinks) break;
    const anchor = decoded((after ?? own ?? '').replace(/[.,:;!?]+$/, ''));
    const clean = word.replace(/^(?:\.\/)?\.memory-bank\//, '');
    // A markdown link is relative to the folder of its record.
    const relative = own === undefined ? resolvedPath(path, clean) : undefined;
    for (const one of new Set([clean, relative ?? clean])) {
      if (own === undefined) found.add(one);
      if (anchor.length > 1) found.add(one + anchor);
    }
  }
  return [...found];
}

/** A path that is relative to the folder of a record; undefined for one that leads out of the memory. */
export function resolvedPath(from: string, path: string): string | undefined {
  const parts = from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    return anchor;
  }
}
