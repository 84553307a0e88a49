import type { StateCore } from 'markdown-it';
import { withoutFingerprints } from '../evidence/inline-pattern.ts';
import { codePointOf, markHidden } from '../values/hidden-characters.ts';
import { Anchors } from './anchors.ts';
import { boundedParser } from './parser.ts';

/** A link with a harmless protocol, or without one. */
const harmless = /^(?:(?:https?|ircs?|mailto|xmpp):|[^:]*(?:[/?#]|$))/i;

/** A tag, or the text up to the next one: a value of an attribute contains no `>`. */
const piece = /<[^>]*>|[^<]+/g;

/**
 * Returns a markdown text as HTML that runs and loads nothing.
 *
 * Raw HTML and links with other protocols are shown as text, images as links, and hidden characters as
 * marks. The id of a heading is its anchor after `section-`: no text can name another element.
 */
export function renderHtml(markdown: string): string {
  const parser = boundedParser(false);
  parser.validateLink = (url) => harmless.test(url);
  parser.disable('image');
  parser.core.ruler.push('task_list', drawBoxes);
  const anchors = new Anchors();
  parser.renderer.rules.heading_open = (tokens, at, options, _, renderer) => {
    const anchor = anchors.next(tokens[at + 1]?.content ?? '');
    tokens[at]?.attrSet('id', `section-${anchor}`);
    return renderer.renderToken(tokens, at, options);
  };
  return parser.render(withoutFingerprints(markdown)).replace(piece, marked);
}

/** The mark of an item of a task list, as GFM has it. */
const mark = /^\[([ xX])\][ \t]+/;

/** Draws the marks of task lists as boxes. */
function drawBoxes({ tokens, Token }: StateCore): void {
  for (const [at, { type, children }] of tokens.entries()) {
    const [item, paragraph] = [tokens[at - 2], tokens[at - 1]];
    if (type !== 'inline' || item?.type !== 'list_item_open') continue;
    const first = children?.[0];
    const [written, done] = mark.exec(first?.type === 'text' ? first.content : '') ?? [];
    if (!first || !paragraph || written === undefined) continue;
    const isDone = done !== ' ';
    const box = new Token('html_inline', '', 0);
    box.content = `<span role="img" aria-label="${isDone ? 'done' : 'open'}">${isDone ? '☑' : '☐'}</span> `;
    first.content = first.content.slice(written.length);
    children?.unshift(box);
    item.attrJoin('class', 'task');
  }
}

function marked(piece: string): string {
  if (piece.startsWith('<')) return markHidden(piece, (character) => `[${codePointOf(character)}]`);
  return markHidden(
    piece,
    (character) => `<span class="code-point" data-hidden="1">${codePointOf(character)}</span>`,
  );
}
