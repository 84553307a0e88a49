/** A passage of a text: a heading that stays, and items that may be cut from the end. */
export interface Passage {
  readonly heading: string;
  readonly items: readonly string[];
  /** The call that returns the omitted items. */
  readonly source: string;
}

/** Budget for the list of missing passages, in characters. */
const closing = 400;

/**
 * Formats passages as markdown within a budget.
 *
 * When not everything fits, headings come first, in order. The passages share the rest for their
 * items, so that one long passage does not push out the others. Each passage says how many items it
 * omits and which call returns them, and the end lists the missing passages.
 *
 * @param budget in UTF-16 code units, at least 1,000.
 */
export function brief(passages: readonly Passage[], budget: number): string {
  const whole = join(passages.map((passage) => render(passage, passage.items.length)));
  if (whole.length <= budget) return whole;

  let room = budget - closing;
  const kept: Passage[] = [];
  const missing: Passage[] = [];
  for (const passage of passages) {
    const least = sizeOf(render(passage, 0));
    if (least > room) missing.push(passage);
    else {
      kept.push(passage);
      room -= least;
    }
  }
  const shown = shareOut(kept, room);
  return join([
    ...kept.map((passage) => render(passage, shown.get(passage) ?? 0)),
    ending(missing),
  ]);
}

/** Computes how many items of each passage fit: short passages first, so that each keeps to its share. */
function shareOut(passages: readonly Passage[], total: number): Map<Passage, number> {
  let room = total;
  const shown = new Map<Passage, number>();
  const bySize = passages.toSorted((a, b) => sizeOf(...a.items) - sizeOf(...b.items));
  for (const [index, passage] of bySize.entries()) {
    let share = Math.floor(room / (bySize.length - index));
    let count = 0;
    for (const text of passage.items) {
      if (sizeOf(text) > share) break;
      share -= sizeOf(text);
      room -= sizeOf(text);
      count += 1;
    }
    shown.set(passage, count);
  }
  return shown;
}

function render({ heading, items, source }: Passage, shown: number): string {
  const left = items.length - shown;
  const more = left > 0 ? [`- … ${left} more: \`${source}\``] : [];
  return [heading, ...items.slice(0, shown), ...more].join('\n');
}

/** Lists the passages that are missing entirely, as far as the list fits. */
function ending(missing: readonly Passage[]): string {
  if (missing.length === 0) return '';
  let text = 'Left out:';
  for (const [index, { source }] of missing.entries()) {
    const longer = `${text}\n- \`${source}\``;
    const others = `\n- … ${missing.length - index} more`;
    if (sizeOf(longer, others) > closing) return text + others;
    text = longer;
  }
  return text;
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Total length of texts with a line end after each. */
function sizeOf(...texts: readonly string[]): number {
  return texts.reduce((size, text) => size + text.length + 2, 0);
}
