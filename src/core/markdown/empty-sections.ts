import { unifiedDiff } from '../diff/unified-diff.ts';
import { type PlainSection, plainOutline } from './plain-outline.ts';
import { contentStart } from './sections.ts';

/** A text that only says that there is nothing to say. */
const nothing =
  /^[\s>*_(–—-]*(?:none|n\/?a|keine?|aucune?|ninguna?|nenhuma?|无|無|なし)?[\s*_).!–—-]*$/iu;
/** Longest such text, in UTF-16 code units. */
const longest = 24;
/** Anything but white space and the signs of lists, quotes and lines. */
const content = /[^\s>*_+–—-]/u;

/** Reports whether the text of a section says nothing: it is empty, or `None`, as formats of logs require. */
export function saysNothing(text: string): boolean {
  return !content.test(text) || saysNone(text);
}

function saysNone(text: string): boolean {
  const said = text.trim();
  return said.length <= longest && content.test(said) && nothing.test(said);
}

/** The sections of a markdown text that say nothing and have none below them. */
function emptySections(text: string): readonly (PlainSection & { readonly isBlank: boolean })[] {
  const sections = plainOutline(text, contentStart(text));
  return sections.flatMap((section, at) => {
    const body = text.slice(section.bodyStart, section.bodyEnd);
    const isLast = (sections[at + 1]?.level ?? 0) <= section.level;
    return isLast && saysNothing(body) ? [{ ...section, isBlank: !saysNone(body) }] : [];
  });
}

/**
 * Returns a markdown text without the sections that say nothing.
 *
 * Headings without a text are kept where the text has nothing else: then they are the statements.
 */
export function withoutEmptySections(text: string): string {
  // Most texts have no heading.
  if (!text.includes('#')) return text;
  const without = (sections: readonly PlainSection[]) =>
    sections.reduceRight((rest, one) => rest.slice(0, one.start) + rest.slice(one.bodyEnd), text);
  const empty = emptySections(text);
  const rest = without(empty);
  const isSaid = rest.split(/\r\n?|\n/).some((line) => /^ {0,3}(?!#{1,6}[ \t])\S/.test(line));
  return isSaid ? rest : without(empty.filter(({ isBlank }) => !isBlank));
}

/**
 * Compares two markdown texts as `unifiedDiff` does, without the lines of sections that say nothing.
 *
 * A difference of nothing else is shown as it is.
 */
export function markdownDiff(before: string, after: string): string {
  const diff = unifiedDiff(before, after);
  const old = emptyLines(before);
  const now = emptyLines(after);
  if (old.size + now.size === 0) return diff;
  const groups: string[][] = [];
  let [oldLine, newLine] = [0, 0];
  // The note about a missing line end belongs to the line above it.
  for (const line of diff.match(/[^\n]*\n(?:\\[^\n]*\n)?/g) ?? []) {
    const [, first, next] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) ?? [];
    const sign = line.charAt(0);
    if (first !== undefined) {
      [oldLine, newLine] = [Number(first), Number(next)];
      groups.push([line]);
    } else {
      if (!isOfNothing(sign, old.get(oldLine), now.get(newLine))) groups.at(-1)?.push(line);
      if (sign === '-' || sign === ' ') oldLine += 1;
      if (sign === '+' || sign === ' ') newLine += 1;
    }
  }
  const shown = groups.filter((lines) => lines.some((line) => /^[-+]/.test(line)));
  return shown.length === 0 ? diff : shown.flat().join('');
}

/** Whether a line of a difference is left out; a new heading without a text can be a statement. */
function isOfNothing(sign: string, old: Emptiness | undefined, now: Emptiness | undefined) {
  if (sign === '-') return old === 'none';
  return sign === '+' ? now === 'none' : old !== undefined && now !== undefined;
}

type Emptiness = 'blank' | 'none';

/** The lines of the sections of a text that say nothing, counted from 1. */
function emptyLines(text: string): ReadonlyMap<number, Emptiness> {
  const lines = new Map<number, Emptiness>();
  let [line, at] = [1, 0];
  for (const { start, bodyEnd, isBlank } of emptySections(text)) {
    line += lineEnds(text.slice(at, start));
    const isOpen = bodyEnd === text.length && !text.endsWith('\n');
    const last = line + lineEnds(text.slice(start, bodyEnd)) + (isOpen ? 1 : 0);
    for (; line < last; line++) lines.set(line, isBlank ? 'blank' : 'none');
    at = bodyEnd;
  }
  return lines;
}

function lineEnds(text: string): number {
  return text.match(/\n/g)?.length ?? 0;
}
