/** Limit of the records that one text names. */
const maxLinks = 100;
const maxText = 1024 * 1024;

/** Finds the paths of other records that a text names, relative to `.memory-bank/`. */
export function memoryLinks(path: string, text: string): string[] {
  const folder = path.split('/').slice(0, -1);
  const found = new Set<string>();
  for (const [word] of text
    .slice(0, maxText)
    .matchAll(/(?<![\w./@+-])[\w./@+-]{1,400}\.(?:md|yaml)\b/g)) {
    if (found.size >= maxLinks) break;
    const clean = word.replace(/^(?:\.\/)?\.memory-bank\//, '');
    found.add(clean);
    // A markdown link is relative to the folder of its record.
    const relative = resolved([...folder, ...clean.split('/')]);
    if (relative !== undefined) found.add(relative);
  }
  return [...found];
}

function resolved(parts: readonly string[]): string | undefined {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === '..') {
      if (kept.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') kept.push(part);
  }
  return kept.join('/');
}
