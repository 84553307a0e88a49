import { saysNothing } from '../markdown/empty-sections.ts';
import { type LabelledPart, labelledParts, type RolePart, settled } from './labelled-parts.ts';
import { kindOf, type PartKind } from './part-kinds.ts';

/** A section of a text, as an outline has it. */
export interface OutlinedSection {
  readonly heading: string;
  readonly level: number;
  readonly start: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

/** The text below a heading, and the kind that it has from the headings above it. */
interface Stretch {
  readonly section: OutlinedSection | undefined;
  readonly start: number;
  readonly end: number;
  readonly kind: PartKind | undefined;
  /** The stretch of the heading to which it belongs as a part: itself, for any other text. */
  home: number;
  /** Distinguishes the decisions that follow one another below one heading. */
  turn: number;
}

/** The parts of one decision, or of any other text that says one thing, and where it begins. */
export interface Saying {
  readonly parts: readonly RolePart[];
  /** The heading that it is about; undefined for the text before the first one. */
  readonly section: OutlinedSection | undefined;
}

/**
 * Divides a markdown text into what it says, and finds the parts of each: answer, reason and so on.
 *
 * The headings of a decision belong together, in any order: `Decision`, `Alternatives` and `Context` below
 * one title. Where a kind occurs again below the same heading, another decision begins.
 */
export class DecisionParts {
  readonly #text: string;
  readonly #stretches: readonly Stretch[];
  readonly #known = new Map<string, readonly Saying[]>();

  /**
   * @param start of the content, after front matter.
   * @param sections all sections of the text, in order.
   */
  constructor(text: string, start: number, sections: readonly OutlinedSection[]) {
    this.#text = text;
    this.#stretches = stretchesOf(text, start, sections);
  }

  /** The decisions or other texts of which an offset is in one: several for those of a list. */
  around(offset: number): readonly Saying[] {
    let low = 0;
    let high = this.#stretches.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#stretches[middle]?.start ?? offset) <= offset) low = middle;
      else high = middle - 1;
    }
    const stretch = this.#stretches[low];
    return stretch ? this.#sayingsOf(stretch) : [];
  }

  /** The decision or other text that an offset is in. */
  at(offset: number): Saying {
    const said = this.around(offset);
    const isIn = ({ parts }: Saying) =>
      parts.some(({ start, end }) => start <= offset && offset < end);
    // An offset in a label belongs to the text after it.
    const isBefore = ({ parts }: Saying) => parts.some(({ start }) => start > offset);
    const found = said.find(isIn) ?? said.find(isBefore) ?? said.at(-1);
    return found ?? { parts: [], section: undefined };
  }

  /** Everything that the text says, in order. */
  *[Symbol.iterator](): Generator<Saying> {
    const done = new Set<string>();
    for (const stretch of this.#stretches) {
      const key = keyOf(stretch);
      if (done.has(key)) continue;
      done.add(key);
      yield* this.#sayingsOf(stretch);
    }
  }

  #sayingsOf(stretch: Stretch): readonly Saying[] {
    const key = keyOf(stretch);
    const known = this.#known.get(key) ?? this.#divide(stretch);
    this.#known.set(key, known);
    return known;
  }

  #divide({ home, turn }: Stretch): readonly Saying[] {
    const { section } = this.#stretches[home] ?? {};
    const together: LabelledPart[] = [];
    const bare: LabelledPart[] = [];
    const apart: Saying[] = [];
    for (const one of this.#stretches) {
      if (one.home !== home || one.turn !== turn) continue;
      const parts = labelledParts(this.#text, one.start, one.end, one.kind);
      const entries = entriesOf(parts.filter((part) => this.#hasText(one, part)));
      const [only = []] = entries;
      if (entries.length > 1) apart.push(...entries.map((parts) => ({ section, parts })));
      else (this.#isBare(one) ? bare : together).push(...only);
    }
    // A heading without a text is what was decided or done only if nothing else says it.
    const roles = new Set(together.map(({ kind }) => kind?.role));
    together.push(...bare.filter(({ kind }) => !roles.has(kind?.role)));
    const rest = together.length > 0 ? [{ section, parts: settled(together) }] : [];
    return [...rest, ...apart];
  }

  /** Whether a part says anything; a text without a heading or label is a value, also if it is `None`. */
  #hasText({ section }: Stretch, { kind, start, end }: LabelledPart): boolean {
    return (!section && !kind) || !saysNothing(this.#text.slice(start, end));
  }

  /** Whether a stretch is a heading without a text, and not the name of an option. */
  #isBare({ start, end, section, kind }: Stretch): boolean {
    if (!section || start === section.bodyStart || kind?.role === 'rejected') return false;
    return this.#text.slice(section.bodyStart, end).trim() === '';
  }
}

function keyOf({ home, turn }: Stretch): string {
  return `${home} ${turn}`;
}

/** The parts of each decision of a list or table. */
function entriesOf(parts: readonly LabelledPart[]): readonly (readonly RolePart[])[] {
  const entries: LabelledPart[][] = [];
  for (const part of parts) {
    const last = entries.at(-1);
    if (last?.[0]?.entry === part.entry) last.push(part);
    else entries.push([part]);
  }
  return joined(entries, hasAnswer, (a, b) => [...a, ...b]).map(settled);
}

function hasAnswer(parts: readonly LabelledPart[]): boolean {
  return parts.some(({ kind }) => !kind || kind.role === 'answer');
}

/** Joins what has no answer of its own with its neighbour: nothing is rejected for no decision. */
function joined<T>(
  all: readonly T[],
  isComplete: (one: T) => boolean,
  join: (a: T, b: T) => T,
): T[] {
  const found: T[] = [];
  for (const one of all) {
    const last = found.at(-1);
    if (last === undefined || (isComplete(one) && isComplete(last))) found.push(one);
    else found[found.length - 1] = join(last, one);
  }
  return found;
}

/** A heading above the present one. */
interface Above {
  readonly stretch: Stretch;
  readonly at: number;
  readonly level: number;
  /** The kind that its own heading has. */
  readonly own: PartKind | undefined;
}

function stretchesOf(
  text: string,
  start: number,
  sections: readonly OutlinedSection[],
): readonly Stretch[] {
  const opening = { section: undefined, kind: undefined, home: 0, turn: 0 };
  const first: Stretch = { ...opening, start, end: sections[0]?.start ?? text.length };
  const stretches = [first];
  const open: Above[] = [{ stretch: first, at: 0, level: 0, own: undefined }];
  const turns = new Map<number, Set<PartKind>[]>();
  for (const section of sections) {
    while (open.length > 1 && (open.at(-1)?.level ?? 0) >= section.level) open.pop();
    const above = open.at(-1) ?? { stretch: first, at: 0, level: 0, own: undefined };
    const at = stretches.length;
    const parent = above.stretch;
    const found = kindOf(section.heading);
    // A section below a rejected option is also rejected.
    const isBelow = parent.kind?.role === 'rejected' && found?.role !== 'bookkeeping';
    const own = isBelow ? undefined : found;
    const place = { section, start: section.bodyStart, end: section.bodyEnd };
    let stretch: Stretch = { ...place, kind: undefined, home: at, turn: 0 };
    if (own && above.own) stretch = { ...place, kind: own, home: parent.home, turn: parent.turn };
    else if (own) {
      [parent.home, parent.turn] = [above.at, 0];
      stretch = { ...place, kind: own, home: above.at, turn: turnOf(turns, above.at, own) };
    } else if (parent.kind) {
      // The heading is the name of an option, or of a part of the decision.
      const { home, turn, kind } = parent;
      stretch = { ...place, start: section.start, kind, home, turn };
    }
    stretches.push(stretch);
    open.push({ stretch, at, level: section.level, own });
  }
  for (const [home, kinds] of turns) if (kinds.length > 1) joinTurns(stretches, home, kinds);
  return stretches;
}

/** The number of the decision below a heading: a kind that occurs again belongs to the next one. */
function turnOf(turns: Map<number, Set<PartKind>[]>, home: number, kind: PartKind): number {
  const known = turns.get(home) ?? [new Set()];
  turns.set(home, known);
  if (known.at(-1)?.has(kind) && kind.role !== 'bookkeeping') known.push(new Set());
  known.at(-1)?.add(kind);
  return known.length - 1;
}

/** Joins the decisions below a heading that have no answer with their neighbours. */
function joinTurns(
  stretches: readonly Stretch[],
  home: number,
  kinds: readonly Set<PartKind>[],
): void {
  const isComplete = (turns: readonly number[]) =>
    turns.some((turn) => [...(kinds[turn] ?? [])].some(({ role }) => role === 'answer'));
  const groups = joined(
    kinds.map((_, turn) => [turn]),
    isComplete,
    (a, b) => [...a, ...b],
  );
  const first = new Map(groups.flatMap((group) => group.map((turn) => [turn, group[0] ?? 0])));
  for (const one of stretches) if (one.home === home) one.turn = first.get(one.turn) ?? one.turn;
}
