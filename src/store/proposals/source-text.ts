import { slug } from '../../core/names/name.ts';

/** Limits of the texts of an entry, in characters. */
const maxKey = 80;
const maxSentences = 600;
/** Number of the characters that are read of a longer text, which is cut anyway. */
const maxRead = 5000;

/** A text that its author has not filled in: a template, or an example of one. */
const placeholder =
  /\{[^{}\n]{2,80}\}|\[(?:title|short title|name|decision|option ?\d?|description|date|number|…|\.\.\.)[^\]\n]{0,60}\]|<[a-z][^<>\n]{3,60}(?: [^<>\n]+)>|lorem ipsum|\bT(?:ODO|BD)\b|(?:What is )?the change that we're proposing|What is the issue that we're seeing|What becomes easier or more difficult/i;

/** Whether a text still has the words of its template. */
export function isUnfilled(text: string): boolean {
  return placeholder.test(text);
}

/** The key of an entry: the words of its title. */
export function keyFor(title: string): string {
  const latin = slug(title, maxKey);
  // A title in another script is its own key.
  return /[a-z0-9]/.test(latin) && latin.length * 2 > title.length
    ? latin
    : title.replace(/\s+/g, ' ').slice(0, maxKey).trim();
}

/** A text on one line without the marks of markdown that say nothing outside of their document. */
export function plainLine(markdown: string): string {
  return markdown
    .slice(0, maxRead)
    .replace(/<!--[\s\S]{0,1000}?-->/g, ' ')
    .replace(/!\[[^\]\n]*\]\([^)\n]*\)/g, ' ')
    .replace(/\[([^\]\n]+)\]\([^)\n]*\)/g, '$1')
    .replace(/\[([^\]\n]+)\]\[[^\]\n]*\]/g, '$1')
    .replace(/(\*\*|__)(?=\S)([^*_\n]+?)\1/g, '$2')
    .replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
}

/** The first sentences of a text that fit; it ends at the end of one if possible. */
export function firstSentences(text: string, limit = maxSentences): string {
  const line = plainLine(text);
  if (line.length <= limit) return line;
  const part = line.slice(0, limit);
  const end = Math.max(part.lastIndexOf('. '), part.lastIndexOf('。'), part.lastIndexOf('; '));
  if (end > limit / 3) return part.slice(0, end + 1).replace(/;$/, '.');
  return `${part.slice(0, part.lastIndexOf(' ')).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The first paragraphs of a section, up to a list of options or the next label. */
export function firstParagraphs(text: string, limit = maxSentences): string {
  const found: string[] = [];
  let length = 0;
  for (const one of text.split(/\r?\n[ \t]*\r?\n/)) {
    const line = one.trim();
    if (line === '' || /^(?:#|\||```|<!--)/.test(line)) {
      if (found.length > 0 && line !== '') break;
      continue;
    }
    if (length > limit / 2) break;
    found.push(line);
    length += line.length;
  }
  return firstSentences(found.join('\n'), limit);
}

/** The number of a line in a text, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1))
    line += 1;
  return line;
}

export function wordCount(text: string): number {
  return (
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu)?.length ??
    0
  );
}
