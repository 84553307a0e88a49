import { type Block, parseBlocks } from '../../core/markdown/blocks.ts';
import { saysNothing } from '../../core/markdown/empty-sections.ts';
import { contentStart } from '../../core/markdown/sections.ts';

/** A sentence, list item or table row of a document. */
interface Unit {
  readonly text: string;
  /** The heading above it; undefined above the first heading. */
  readonly heading: Block | undefined;
  readonly words: ReadonlySet<string>;
  /** Whether it opens its section, where the subject of a section is usually stated. */
  readonly opens: boolean;
}

/** Maximum length of a unit, in characters; longer ones are cut at a word. */
const maxUnit = 300;

/** Number of units at the end of a document that count as its latest news. */
const latest = 3;

/** Returns the size of a value as JSON, in bytes; a token is about 4 bytes. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * Summarises a document in its own sentences, with at most `limit` bytes.
 *
 * It prefers the openings of sections, the last lines, and sentences that share the most words with
 * others. They keep their order and their headings. Code blocks are left out. Equal texts give equal
 * summaries; a text that fits is returned as it is.
 */
export function summarize(text: string, limit: number): string {
  if (bytesOf(text) <= limit) return text;
  const units = unitsOf(text);
  const score = scores(units);
  const ranked = [...units.entries()].sort(([a], [b]) => score(b) - score(a) || a - b);
  const line = (heading?: Block) => (heading ? [text.slice(heading.start, heading.end)] : []);
  const chosen = new Set<Unit>();
  const shown = new Set<Block | undefined>();
  let left = limit - bytesOf('');
  for (const [, unit] of ranked) {
    const added = shown.has(unit.heading) ? [unit.text] : [...line(unit.heading), unit.text];
    const cost = bytesOf(`${added.join('\n')}\n`) - bytesOf('');
    if (cost > left) continue;
    left -= cost;
    chosen.add(unit);
    shown.add(unit.heading);
  }
  return units
    .filter((unit) => chosen.has(unit))
    .flatMap(({ heading, text: sentence }) =>
      shown.delete(heading) ? [...line(heading), sentence] : [sentence],
    )
    .join('\n');
}

/** Returns the first sentence of a document that is not a heading, or an empty text. */
export function firstSentence(text: string, limit: number): string {
  return shorten(unitsOf(text)[0]?.text.replace(/^[-*+] /, '') ?? '', limit);
}

function unitsOf(text: string): Unit[] {
  const units: Unit[] = [];
  let heading: Block | undefined;
  let opens = true;
  for (const block of parseBlocks(text, contentStart(text))) {
    if (block.kind === 'heading') {
      heading = block;
      opens = true;
      continue;
    }
    for (const sentence of sentencesOf(text, block)) {
      units.push({ text: sentence, heading, words: wordsOf(sentence), opens });
      opens = false;
    }
  }
  return units;
}

/** Splits a block into sentences; code, HTML and thematic breaks have none. */
function sentencesOf(text: string, block: Block): string[] {
  switch (block.kind) {
    case 'paragraph':
      return sentences(linesOf(block).split(sentenceEnd));
    case 'item': {
      const [first, ...rest] = block.children;
      if (first?.kind !== 'paragraph') {
        return block.children.flatMap((child) => sentencesOf(text, child));
      }
      const marker = text.slice(block.start, first.start).trim();
      return sentences([`${marker} ${linesOf(first)}`]).concat(
        rest.flatMap((child) => sentencesOf(text, child)),
      );
    }
    case 'table':
      return sentences(text.slice(block.start, block.end).split(/[\r\n]+/));
    case 'list':
    case 'quote':
      return block.children.flatMap((child) => sentencesOf(text, child));
    default:
      return [];
  }
}

function linesOf({ text = '' }: Block): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
}

function sentences(pieces: readonly string[]): string[] {
  return pieces
    .map((piece) => shorten(piece.trim(), maxUnit))
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece) && !saysNothing(piece));
}

/** The end of a sentence: a stop before a capital or caseless letter, or a full-width stop. */
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

/** Returns a function that scores a unit by its index: 0 to 3. */
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
