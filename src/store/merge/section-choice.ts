import { hunksOf } from '../../core/diff/line-diff.ts';
import { trimmedEnd } from '../../core/markdown/line.ts';
import { type NamedSection, namedSections } from '../../core/markdown/section-path.ts';

/** A section of a markdown text, with the sections in it. */
interface Branch {
  readonly section: NamedSection;
  /** Identifies the section among its siblings. */
  readonly key: string;
  /** Its heading and the text up to the next heading. */
  readonly own: string;
  readonly whole: string;
  /** Whether the text ends with it. */
  readonly isLast: boolean;
  readonly children: Branch[];
}

/** A section in two versions of a text; undefined where a version does not have it. */
interface Pair {
  readonly before: Branch | undefined;
  readonly after: Branch | undefined;
}

/** A changed section, in the version that has it: the later one if both have it. */
export interface ChangedSection {
  readonly section: NamedSection;
  readonly isRemoved: boolean;
}

/**
 * Lists the sections that differ between two versions of a markdown text.
 *
 * A title of the whole text is not listed for what changed below it.
 */
export function changedSections(before: string, after: string): ChangedSection[] {
  return changedAmong(pairsOf(branchesOf(before), branchesOf(after)));
}

function changedAmong(pairs: readonly Pair[]): ChangedSection[] {
  return pairs.flatMap(({ before, after }): ChangedSection[] => {
    const found = after ?? before;
    if (!found || before?.whole.trimEnd() === after?.whole.trimEnd()) return [];
    const isTitle = found.section.level === 1 && before?.own.trimEnd() === after?.own.trimEnd();
    if (isTitle && before && after) return changedAmong(pairsOf(before.children, after.children));
    return [{ section: found.section, isRemoved: after === undefined }];
  });
}

/**
 * Takes some sections of a later version of a markdown text into an earlier version of it.
 *
 * Everything else stays as the earlier version has it. A section that the later version does not have
 * is removed, and one that only the later version has gets the headings that it is below.
 *
 * @param isChosen is called with the sections of both versions.
 */
export function takeSections(
  before: string,
  after: string,
  isChosen: (section: NamedSection, isOfBefore: boolean) => boolean,
): string {
  const [old, now] = [namedSections(before), namedSections(after)];
  const chosen = new Set([
    ...old.filter((section) => isChosen(section, true)),
    ...now.filter((section) => isChosen(section, false)),
  ]);
  const lead = before.slice(0, old[0]?.start ?? before.length);
  const taken = takenFrom(pairsOf(treeOf(before, old), treeOf(after, now)), chosen);
  const eol = (before || after).includes('\r\n') ? '\r\n' : '\n';
  let text = lead;
  let isLast = old.length === 0;
  for (const part of taken) {
    // The last section of a text has no gap below it.
    if (isLast && part.text !== '' && !/^\s*$/.test(text)) text = withGap(text, eol);
    text += part.text;
    isLast = part.isLast;
  }
  const source = before === '' ? after : before;
  return (
    text.slice(0, trimmedEnd(text, text.length)) + source.slice(trimmedEnd(source, source.length))
  );
}

/** A part of a text, and whether the text ends with it. */
interface Part {
  readonly text: string;
  readonly isLast: boolean;
}

function takenFrom(pairs: readonly Pair[], chosen: ReadonlySet<NamedSection>): Part[] {
  return pairs.flatMap(({ before, after }): Part[] => {
    if (after && chosen.has(after.section)) return [{ text: after.whole, isLast: after.isLast }];
    if (before && !after && chosen.has(before.section)) return [];
    if (before && before.whole === after?.whole) {
      return [{ text: before.whole, isLast: before.isLast }];
    }
    const inside = takenFrom(pairsOf(before?.children ?? [], after?.children ?? []), chosen);
    if (before) {
      const isLast = before.isLast && before.children.length === 0;
      return [{ text: before.own, isLast }, ...inside];
    }
    if (!after || inside.length === 0) return [];
    const heading = after.own.slice(0, after.section.bodyStart - after.section.start);
    return [{ text: heading, isLast: true }, ...inside];
  });
}

function withGap(text: string, eol: string): string {
  return /\n[ \t]*\r?\n$/.test(text) ? text : text.replace(/(?:\r?\n)?$/, eol + eol);
}

function branchesOf(text: string): Branch[] {
  return treeOf(text, namedSections(text));
}

function treeOf(text: string, sections: readonly NamedSection[]): Branch[] {
  const roots: Branch[] = [];
  const known = new Map<NamedSection, Branch>();
  for (const section of sections) {
    const { start, bodyEnd, end, level, heading, parent } = section;
    const branch: Branch = {
      section,
      key: `${level} ${heading.normalize().replace(/\s+/g, ' ').trim()}`,
      own: text.slice(start, bodyEnd),
      whole: text.slice(start, end),
      isLast: end === text.length,
      children: [],
    };
    known.set(section, branch);
    const siblings = parent && known.get(parent)?.children;
    (siblings ?? roots).push(branch);
  }
  return roots;
}

/**
 * Pairs the sections of two versions, in an order that keeps that of both.
 *
 * Unchanged sections are paired first: a log can have two entries with one title.
 */
function pairsOf(before: readonly Branch[], after: readonly Branch[]): Pair[] {
  const exact = ({ key, whole }: Branch) => `${key}\0${whole.trimEnd()}`;
  return aligned(before, after, exact, (old, now) =>
    aligned(
      old,
      now,
      ({ key }) => key,
      (removed, added) => [
        ...removed.map((one) => ({ before: one, after: undefined })),
        ...added.map((one) => ({ before: undefined, after: one })),
      ],
    ),
  );
}

function aligned(
  before: readonly Branch[],
  after: readonly Branch[],
  token: (branch: Branch) => string,
  pairRest: (before: readonly Branch[], after: readonly Branch[]) => readonly Pair[],
): Pair[] {
  const pairs: Pair[] = [];
  let [at, next] = [0, 0];
  const same = (end: number) => {
    for (; at < end; at++, next++) pairs.push({ before: before[at], after: after[next] });
  };
  for (const hunk of hunksOf(before.map(token), after.map(token))) {
    same(hunk.start);
    const end = hunk.start + hunk.length;
    const newEnd = hunk.newStart + hunk.newLength;
    pairs.push(...pairRest(before.slice(at, end), after.slice(next, newEnd)));
    [at, next] = [end, newEnd];
  }
  same(before.length);
  return pairs;
}
