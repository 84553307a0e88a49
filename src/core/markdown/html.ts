import { codePointOf, markHidden } from '../hidden-characters.ts';
import { boundedParser } from './parser.ts';

/** A link with a harmless protocol, or without one. */
const harmless = /^(?:(?:https?|ircs?|mailto|xmpp):|[^:]*(?:[/?#]|$))/i;

/** A tag, or the text up to the next one: a value of an attribute contains no `>`. */
const piece = /<[^>]*>|[^<]+/g;

/**
 * Returns a markdown text as HTML that runs and loads nothing.
 *
 * Raw HTML and links with other protocols are shown as text, images as links, and hidden characters as
 * marks.
 */
export function renderHtml(markdown: string): string {
  const parser = boundedParser(false);
  parser.validateLink = (url) => harmless.test(url);
  parser.disable('image');
  return parser.render(markdown).replace(piece, marked);
}

function marked(piece: string): string {
  if (piece.startsWith('<')) return markHidden(piece, (character) => `[${codePointOf(character)}]`);
  return markHidden(
    piece,
    (character) => `<span class="code-point" data-hidden="1">${codePointOf(character)}</span>`,
  );
}
