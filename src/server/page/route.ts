import { decodePart, decodePath, encodePath } from './link-target.ts';
import { enter, leave, stay } from './page-place.ts';

/** The address of a page: `/view/<name>/<rest>?<query>`, after the path of the project. */
export interface Route {
  /** The name of the page; empty for the first one. */
  readonly name: string;
  /** The part of the path below the name, such as the path of a record. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** The revision that the page shows; undefined for the present state. */
  readonly at: string | undefined;
  /** The anchor of a section in a record; empty for none. */
  readonly section: string;
}

/** The beginning of the paths of the project: empty, or `/p/<name>`. */
export const projectPath = /^\/p\/[^/]+(?=\/view(?:\/|$))/.exec(location.pathname)?.[0] ?? '';

/** Whether the page is a copy in files, without a server: its routes are in the fragments of addresses. */
export const isCopy = document.documentElement.dataset.copy !== undefined;

const base = isCopy ? '#/' : `${projectPath}/view/`;

/** Returns the route of the address in the browser. */
export function currentRoute(): Route {
  const [, inside = base, asked = ''] = /^(#\/[^?]*)\??(.*)$/.exec(location.hash) ?? [];
  const [pathname, search] = isCopy ? [inside, asked] : [location.pathname, location.search];
  const parts = decodePath(pathname.slice(base.length)).split('/');
  const query = new URLSearchParams(search);
  const [name = '', ...rest] = parts;
  // In a copy, the route itself is the fragment.
  const section = isCopy ? (query.get('section') ?? '') : decodePart(location.hash.slice(1));
  return { name, rest: rest.join('/'), query, at: query.get('at') ?? undefined, section };
}

/** Returns the address of a page, in the state of the memory that the browser shows now. */
export function addressTo(
  name: string,
  rest = '',
  query: { readonly [name: string]: string | undefined } = {},
): string {
  const all = { at: stateFor(name, rest), ...query };
  const given = Object.entries(all).flatMap(([key, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[key, value]],
  );
  const path = rest === '' ? name : `${name}/${encodePath(rest)}`;
  const search = new URLSearchParams(given).toString();
  return `${base}${path}${search === '' ? '' : `?${search}`}`;
}

/** The state in which a page is linked: the one of this page, which a copy has for its record alone. */
function stateFor(name: string, rest: string): string | undefined {
  const here = currentRoute();
  return isCopy && !(name === here.name && rest === here.rest) ? undefined : here.at;
}

/** Returns the address of a record, or of a section in it by its anchor. */
export function addressOfRecord(
  path: string,
  anchor = '',
  query: { readonly [name: string]: string } = {},
): string {
  if (isCopy) return addressTo('record', path, { ...query, section: anchor });
  return addressTo('record', path, query) + (anchor === '' ? '' : `#${encodeURIComponent(anchor)}`);
}

/**
 * Goes to an address of these pages without loading the document again.
 *
 * @param link the link that was followed.
 */
export function goTo(address: string, replace = false, link?: Element): void {
  if (replace) stay();
  else leave(link);
  if (isCopy && replace) location.replace(address);
  else if (isCopy) location.hash = address;
  else if (replace) history.replaceState(history.state, '', address);
  else history.pushState(null, '', address);
  dispatchEvent(new Event('routechange'));
}

/** Calls back when the address changes; returns a function that stops it. */
export function onRoute(listener: () => void): () => void {
  const onMove = () => {
    enter();
    listener();
  };
  const onHash = () => {
    // Another fragment is a place on the page.
    if (isCopy && /^#?$|^#\//.test(location.hash)) onMove();
  };
  if (!isCopy) {
    addEventListener('popstate', onMove);
    addEventListener('routechange', onMove);
  }
  addEventListener('hashchange', onHash);
  return () => {
    removeEventListener('popstate', onMove);
    removeEventListener('routechange', onMove);
    removeEventListener('hashchange', onHash);
  };
}

/** Follows a click on a link to another page, unless the person wants a new tab. */
export function followLink(event: MouseEvent): void {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey || event.defaultPrevented) return;
  const link = target instanceof Element ? target.closest('a') : null;
  const href = link?.getAttribute('href') ?? '';
  // A link of a picture has no parts of an address.
  if (!link || link.getAttribute('target') || !URL.canParse(href, location.href)) return;
  // The browser follows the links of a copy.
  if (isCopy && href.startsWith(base)) leave(link);
  else if (href.startsWith('#')) goToElement(event, href.slice(1));
  else if (!isCopy) goToPage(event, link, new URL(href, location.href));
}

function goToElement(event: Event, id: string): void {
  event.preventDefault();
  document.getElementById(id)?.focus();
}

function goToPage(event: Event, link: Element, { origin, pathname, search, hash }: URL): void {
  if (origin !== location.origin || !pathname.startsWith(base)) return;
  event.preventDefault();
  goTo(pathname + search + hash, false, link);
}
