import type { PartRole } from '../record/part-role.ts';
import { kindOf, type PartKind } from './part-kinds.ts';

/** A part of a text that says one thing, from after its label to the next part. */
export interface LabelledPart {
  readonly start: number;
  readonly end: number;
  /** Undefined for a text without a label, below a heading that says nothing. */
  readonly kind: PartKind | undefined;
  /** The parts of one decision of a list or a table have the same number. */
  readonly entry: number;
}

/** The same with its role among the parts of its decision. */
export interface RolePart extends LabelledPart {
  readonly role: PartRole;
}

/** A line by which a text says what it replaces. */
const claim = /^[ \t>*_+-]*(?:status[ \t:*_-]{0,6})?super[sc]ede(?:s|d by)\b/i;
/** The item of a list that consists of evidence. */
const evidence = /^[ \t]*[-*+][ \t]+`[^`\n]{1,420}` ?<!-- ?[1-9]\d{0,6}-[0-9a-f]{16} ?-->[ \t]*$/;
const fence = /^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})/;
/** The line below the head of a table. */
const rule = /^[ \t>]*\|[\s:|-]*-[\s:|-]*$/;
const item = /^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]/;
/** A label at the beginning of a line: `**Decision:** use git`, `- Alternatives: none`. */
const label =
  /^([ \t>]*)((?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?(?:(\*\*|__)([^*_\n]{1,60}?)([:：]?)\3[ \t]*([:：]?)|([^\s:：|`*_#<[(][^\n:：|`*_#<[(]{0,50})([:：]))/;
/** A label at the beginning of a later sentence. */
const laterLabel =
  /(?:[.!?;][ \t]+|[。！？；][ \t]*)(\*\*|__)?([^\s.!?;。！？；:：|`*_#<[(][^\n.!?;。！？；:：|`*_#<[(]{0,50})\1?[:：]\1?(?=\s|\p{L})/gu;

interface Label {
  readonly kind: PartKind;
  /** Where the text after it begins, from the start of its line. */
  readonly at: number;
  readonly indent: number;
  readonly isItem: boolean;
  /** Whether its text begins on its line. */
  readonly isNextTo: boolean;
  /** Whether nothing but the paragraph next to it belongs to it. */
  readonly isShort: boolean;
}

/** Reads a text line by line, and divides it at its labels, its lines of bookkeeping and its tables. */
class Divider {
  readonly #text: string;
  readonly #base: PartKind | undefined;
  readonly #parts: LabelledPart[] = [];
  #start: number;
  #kind: PartKind | undefined;
  #label: Label | undefined;
  #entry = 0;
  #kinds = new Set<PartKind>();

  constructor(text: string, start: number, base: PartKind | undefined) {
    this.#text = text;
    this.#start = start;
    this.#base = base;
    this.#kind = base;
  }

  divide(end: number): readonly LabelledPart[] {
    let closing: string | undefined;
    let isAfterBlank = false;
    let columns: readonly (PartKind | undefined)[] | undefined;
    for (let at = this.#start; at < end; ) {
      const next = lineEnd(this.#text, at, end);
      const line = this.#text.slice(at, next).replace(/[\r\n]+$/, '');
      const [, ticks = ''] = fence.exec(line) ?? [];
      if (closing !== undefined || ticks !== '') {
        if (closing === undefined) closing = ticks;
        else if (ticks.startsWith(closing)) closing = undefined;
      } else if (isRow(line)) {
        if (columns?.length) this.#row(at, line, columns);
        else if (!columns) {
          columns = columnsOf(line, this.#text.slice(next, lineEnd(this.#text, next, end)));
          if (columns.length > 0) this.#skip(at, line);
        }
      } else {
        if (columns?.length) this.#nextEntry();
        columns = undefined;
        if (line.trim() !== '') this.#line(at, line, isAfterBlank, end);
      }
      isAfterBlank = line.trim() === '';
      at = next;
    }
    this.#close(end);
    return this.#parts;
  }

  /** Reads a line that is neither code nor the row of a table. */
  #line(at: number, line: string, isAfterBlank: boolean, end: number): void {
    const short = claim.test(line) ? claims : evidence.test(line) ? kindOf('evidence') : undefined;
    if (short) {
      const after = Math.min(end, at + line.length);
      this.#open(at, at, short, undefined);
      this.#open(after, after, this.#base, undefined);
      return;
    }
    const found = labelOf(line);
    if (found && (this.#isWithin(found) || this.#isRepeated(found))) return;
    if (found) this.#open(at, at + found.at, this.#allowed(found.kind), found);
    else if (this.#label && this.#isOver(this.#label, at, line, isAfterBlank)) {
      this.#open(at, at, this.#base, undefined);
    }
    for (const { index, 0: match, 2: name = '' } of line
      .slice(found?.at ?? 0)
      .matchAll(laterLabel)) {
      const kind = kindOf(name);
      if (!kind || kind.role === 'bookkeeping') continue;
      const from = at + (found?.at ?? 0) + index;
      const later = { kind, at: 0, indent: 0, isItem: false, isNextTo: true, isShort: true };
      this.#open(from + 1, from + match.length, this.#allowed(kind), later);
    }
  }

  /** A text below a heading that rejects something neither decides nor gives reasons for the decision. */
  #allowed(kind: PartKind): PartKind {
    return this.#base?.role === 'rejected' && kind.role !== 'bookkeeping' ? this.#base : kind;
  }

  /** Whether a label says the same as the heading above it: `Chosen option:` below `Decision`. */
  #isRepeated({ kind }: Label): boolean {
    return this.#kind === this.#base && kind.role === 'answer' && this.#base?.role === 'answer';
  }

  /** Whether a label is a part of what the label above it rejects. */
  #isWithin({ indent }: Label): boolean {
    return (
      this.#kind?.role === 'rejected' && this.#label !== undefined && indent > this.#label.indent
    );
  }

  /** Whether a line no longer belongs to the label above it. */
  #isOver(label: Label, at: number, line: string, isAfterBlank: boolean): boolean {
    const { kind, indent, isItem, isNextTo, isShort } = label;
    const own = indentOf(line);
    if (kind.isLine && !isItem) {
      const hasText = /\S/.test(this.#text.slice(this.#start, at));
      return hasText && (isNextTo ? own <= indent : isAfterBlank && !item.test(line));
    }
    if (isItem) return own <= indent && (item.test(line) || isAfterBlank);
    return isShort && isAfterBlank && !item.test(line) && own <= indent;
  }

  /** Reads a row of a table whose columns have kinds: each is a decision of its own. */
  #row(at: number, line: string, columns: readonly (PartKind | undefined)[]): void {
    this.#skip(at, line);
    if (rule.test(line)) return;
    this.#nextEntry();
    for (const [i, { start, end }] of cellsOf(line).entries()) {
      const kind = columns[i] ?? this.#base;
      const cell = { start: at + start, end: at + end, kind, entry: this.#entry };
      if (line.slice(start, end).trim() !== '') this.#parts.push(cell);
    }
  }

  #skip(at: number, line: string): void {
    this.#close(at);
    [this.#start, this.#kind, this.#label] = [at + line.length, this.#base, undefined];
  }

  #open(until: number, start: number, kind: PartKind | undefined, label: Label | undefined): void {
    this.#close(until);
    const isOwn = label !== undefined && kind !== this.#base && kind?.role !== 'bookkeeping';
    if (kind && isOwn && this.#kinds.has(kind)) this.#nextEntry();
    if (kind && isOwn) this.#kinds.add(kind);
    [this.#start, this.#kind, this.#label] = [start, kind, label];
  }

  #close(end: number): void {
    if (/[^\s|]/.test(this.#text.slice(this.#start, end))) {
      this.#parts.push({ start: this.#start, end, kind: this.#kind, entry: this.#entry });
    }
    this.#start = end;
  }

  #nextEntry(): void {
    this.#entry += 1;
    this.#kinds.clear();
  }
}

/** A line by which a text says what it replaces is bookkeeping wherever it stands. */
const claims: PartKind = {
  name: 'claim',
  role: 'bookkeeping',
  needsDecision: false,
  isLine: true,
  label: '',
  names: [],
};

/**
 * Divides a text at its labels.
 *
 * @param base the kind of the section that the text is in.
 */
export function labelledParts(
  text: string,
  start: number,
  end: number,
  base: PartKind | undefined,
): readonly LabelledPart[] {
  return new Divider(text, start, base).divide(end);
}

/** Gives the parts of one decision their roles: without a decision, most kinds are plain content. */
export function settled(parts: readonly LabelledPart[]): readonly RolePart[] {
  const isDecision = parts.some(
    ({ kind }) => kind && !kind.needsDecision && kind.role !== 'bookkeeping',
  );
  return parts.map((part) => {
    const { kind } = part;
    const role = !kind || (kind.needsDecision && !isDecision) ? 'answer' : kind.role;
    return { ...part, role };
  });
}

function labelOf(line: string): Label | undefined {
  const found = label.exec(line);
  if (!found) return undefined;
  const [whole, space = '', marker, , bold, inner, outer, plain = '', colon] = found;
  const rest = line.slice(whole.length);
  if (bold !== undefined && inner === '' && outer === '' && rest.trim() !== '') return undefined;
  if (colon === ':' && !/^(?:\s|$)/.test(rest)) return undefined;
  const named = kindOf(bold ?? plain);
  if (!named) return undefined;
  // A line that states the status is the state of any text.
  const kind = named.name === 'status' ? { ...named, needsDecision: false } : named;
  const isItem = marker !== undefined;
  const isNextTo = rest.trim() !== '';
  const isShort = bold === undefined && isNextTo;
  return { kind, at: whole.length, indent: indentOf(space), isItem, isNextTo, isShort };
}

function indentOf(line: string): number {
  const [space = ''] = /^[ \t>]*/.exec(line) ?? [];
  return space.replaceAll('\t', '    ').length;
}

/** The end of the line at an offset, after its line end. */
function lineEnd(text: string, at: number, end: number): number {
  const unix = text.indexOf('\n', at);
  const found = unix < 0 || unix >= end ? end : unix + 1;
  const old = text.slice(at, found).search(/\r(?!\n)/);
  return old < 0 ? found : at + old + 1;
}

function isRow(line: string): boolean {
  return /^[ \t>]*\|.*\|/.test(line);
}

/** The kinds of the columns of a table; none for a table whose columns do not say what was decided. */
function columnsOf(line: string, next: string): readonly (PartKind | undefined)[] {
  if (!rule.test(next)) return [];
  const kinds = cellsOf(line).map(({ start, end }) => kindOf(line.slice(start, end)));
  return kinds.some((kind) => kind && !kind.needsDecision) ? kinds : [];
}

/** The cells of a row, without the bars. */
function cellsOf(line: string): readonly { readonly start: number; readonly end: number }[] {
  const bars = [...line.matchAll(/(?<!\\)\|/g)].map(({ index }) => index);
  return bars.slice(0, -1).map((bar, i) => ({ start: bar + 1, end: bars[i + 1] ?? line.length }));
}
