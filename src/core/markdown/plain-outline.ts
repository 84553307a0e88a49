/** A heading and the text below it, up to the next one. */
export interface PlainSection {
  readonly heading: string;
  readonly level: number;
  readonly start: number;
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

const line = /^(?: {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*|[ \t]*(`{3,}|~{3,}).*)$/gm;

/** Finds the headings of a long text by their `#`, without parsing the other blocks. */
export function plainOutline(text: string, from: number): PlainSection[] {
  const sections: (PlainSection & { bodyEnd: number })[] = [];
  let fence: string | undefined;
  for (const { index, 0: whole, 1: signs, 2: heading = '', 3: ticks = '' } of text.matchAll(line)) {
    if (index < from) continue;
    if (ticks !== '') {
      if (fence === undefined) fence = ticks;
      else if (ticks.startsWith(fence)) fence = undefined;
    }
    if (fence !== undefined || signs === undefined) continue;
    const last = sections.at(-1);
    if (last) last.bodyEnd = index;
    const bodyStart = Math.min(text.length, index + whole.length + 1);
    const level = signs.length;
    sections.push({ heading, level, start: index, bodyStart, bodyEnd: text.length });
  }
  return sections;
}
