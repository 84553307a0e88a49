/** An item of a list, without its mark and the items below it. */
export interface ListItem {
  readonly text: string;
  readonly start: number;
}

const item = /^([ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*)$/;
const fence = /^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})/;

/** Lists the items between two places of a markdown text; those in code do not count. */
export function listItems(text: string, start: number, end: number): ListItem[] {
  const found: { text: string; start: number }[] = [];
  let closing: string | undefined;
  let open = false;
  for (let at = start; at < end; ) {
    const next = text.indexOf('\n', at);
    const after = next < 0 || next >= end ? end : next + 1;
    const line = text.slice(at, after).replace(/[\r\n]+$/, '');
    const [, ticks = ''] = fence.exec(line) ?? [];
    if (closing !== undefined || ticks !== '') {
      if (closing === undefined) closing = ticks;
      else if (ticks.startsWith(closing)) closing = undefined;
      open = false;
    } else {
      const [, , said] = item.exec(line) ?? [];
      const last = found.at(-1);
      if (said !== undefined) {
        found.push({ text: said, start: at });
        open = true;
      } else if (line.trim() === '' || /^[ \t]*(?:#|\||>)/.test(line)) open = false;
      else if (open && last) last.text += ` ${line.trim()}`;
    }
    at = after;
  }
  return found;
}
