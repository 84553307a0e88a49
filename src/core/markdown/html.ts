import { boundedParser } from './parser.ts';

/** A link with a harmless protocol, or without one. */
const harmless = /^(?:(?:https?|ircs?|mailto|xmpp):|[^:]*(?:[/?#]|$))/i;

/**
 * Returns a markdown text as HTML that runs and loads nothing.
 *
 * Raw HTML and links with other protocols are shown as text, images as links.
 */
export function renderHtml(markdown: string): string {
  const parser = boundedParser(false);
  parser.validateLink = (url) => harmless.test(url);
  parser.disable('image');
  return parser.render(markdown);
}
