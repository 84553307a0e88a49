import { boundedParser } from './parser.ts';

/** A link that names one of the harmless protocols, or none. */
const harmless = /^(?:(?:https?|ircs?|mailto|xmpp):|[^:]*(?:[/?#]|$))/i;

/** Returns a markdown text as HTML that runs nothing: raw HTML and other links are shown as text. */
export function renderHtml(markdown: string): string {
  const parser = boundedParser(false);
  parser.validateLink = (url) => harmless.test(url);
  return parser.render(markdown);
}
