import { withoutFingerprints } from '../evidence/annotations.ts';
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
  const anchors = new Anchors();
  parser.renderer.rules.heading_open = (tokens, at, options, _, renderer) => {
    const anchor = anchors.next(tokens[at + 1]?.content ?? '');
    tokens[at]?.attrSet('id', `section-${anchor}`);
    return renderer.renderToken(tokens, at, options);
  };
  return parser.render(withoutFingerprints(markdown)).replace(piece, marked);
}

function marked(piece: string): string {
  if (piece.startsWith('<')) return markHidden(piece, (character) => `[${codePointOf(character)}]`);
  return markHidden(
    piece,
    (character) => `<span class="code-point" data-hidden="1">${codePointOf(character)}</span>`,
  );
}
