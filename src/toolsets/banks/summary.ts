import { headings } from '../../core/markdown.ts';

/** A sentence, list item or table row of a document. */
interface Unit {
  readonly text: string;
  /** Index of the heading it stands below; -1 above the first. */
  readonly section: number;
  readonly words: ReadonlySet<string>;
  /** Whether it opens its section: what a section is about is mostly said there. */
  readonly opens: boolean;
}

/** Longer units are cut at a word. */
const longestUnit = 300;

/** How many units at the end of a document count as its latest news. */
const latest = 3;

/** The bytes that a text takes in a JSON answer, the measure of every budget here; a token is about 4. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * What a document says, in its own words and at most so many bytes: the openings of its sections, its
 * last lines and the sentences that share most words with the others, in their order and below their
 * headings.
 *
 * The same text gives the same summary; a text that fits is returned as it is. Code blocks are left out.
 */
export function summarize(text: string, limit: number): string {
  if (bytesOf(text) <= limit) return text;
  const titles = headings(text);
  const units = unitsOf(text, titles);
  const score = scores(units);
  const ranked = units.map((_, i) => i).sort((a, b) => score(b) - score(a) || a - b);
  const chosen = new Set<number>();
  const shown = new Set<number>();
  let left = limit - bytesOf('');
  for (const i of ranked) {
    const unit = units[i];
    if (!unit) continue;
    const heading = shown.has(unit.section) ? '' : headingLine(titles[unit.section]);
    const cost = bytesOf(`${heading}\n${unit.text}\n`) - bytesOf('');
    if (cost > left) continue;
    left -= cost;
    chosen.add(i);
    shown.add(unit.section);
  }
  return [...chosen]
    .sort((a, b) => a - b)
    .flatMap((i, at, order) => {
      const unit = units[i];
      if (!unit) return [];
      const opened = at > 0 && units[order[at - 1] ?? -1]?.section === unit.section;
      const heading = opened ? '' : headingLine(titles[unit.section]);
      return heading === '' ? [unit.text] : [heading, unit.text];
    })
    .join('\n');
}

/** The first sentence of a document that is no heading, for a description; empty when there is none. */
export function firstSentence(text: string, limit: number): string {
  const [first] = unitsOf(text, headings(text));
  return first === undefined ? '' : shorten(first.text.replace(/^[-*+] /, ''), limit);
}

function headingLine(heading: { level: number; title: string } | undefined): string {
  return heading === undefined ? '' : `${'#'.repeat(heading.level)} ${heading.title}`;
}

function unitsOf(text: string, titles: ReturnType<typeof headings>): Unit[] {
  const units: Unit[] = [];
  for (let section = -1; section < titles.length; section++) {
    const part = text.slice(titles[section]?.end ?? 0, titles[section + 1]?.start ?? text.length);
    let opens = true;
    for (const sentence of sentencesOf(part)) {
      units.push({ text: sentence, section, words: wordsOf(sentence), opens });
      opens = false;
    }
  }
  return units;
}

function sentencesOf(part: string): string[] {
  const prose = part
    .replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1.*$|$(?![\s\S]))/gm, '\n\n')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '');
  const blocks = prose.split(
    /\r?\n[ \t]*\r?\n|\r?\n(?=[ \t]*(?:[-*+]|\d+[.)]|\||>)[ \t])|\r?\n(?=\|)/,
  );
  return blocks.flatMap((block) => {
    const line = block.replace(/\s+/g, ' ').trim();
    if (!/[\p{L}\p{N}]/u.test(line)) return [];
    const pieces = /^(?:[-*+]|\d+[.)]|\|)/.test(line) ? [line] : line.split(sentenceEnd);
    return pieces.filter((piece) => piece !== '').map((piece) => shorten(piece, longestUnit));
  });
}

/** After a full stop that a capital or another script's letter follows, or one that needs no space. */
const sentenceEnd = /(?<=[.!?…]["'”’)]?) (?=["'“‘(]?[\p{Lu}\p{Lo}\p{N}`*])|(?<=[。！？])/u;

function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
  const space = cut.lastIndexOf(' ');
  return `${space > limit / 2 ? cut.slice(0, space) : cut}…`;
}

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  // Short Latin words are articles and prepositions in most languages.
  return new Set(words.filter((word) => word.length > 3 || /[^\p{Script=Latin}]/u.test(word)));
}

/** How much a unit deserves its place: 0 to 3. */
function scores(units: readonly Unit[]): (index: number) => number {
  const counts = new Map<string, number>();
  for (const { words } of units) {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const shared = units.map(({ words }) => {
    let sum = 0;
    for (const word of words) sum += Math.log(counts.get(word) ?? 1);
    return words.size === 0 ? 0 : sum / Math.sqrt(words.size);
  });
  const most = shared.reduce((a, b) => Math.max(a, b), 1);
  return (i) =>
    (shared[i] ?? 0) / most + (units[i]?.opens ? 1 : 0) + (i >= units.length - latest ? 1 : 0);
}
