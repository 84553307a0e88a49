import { decodePath, encodePath } from './link-target.ts';

/** The address of a page: `/view/<name>/<rest>?<query>`, after the path of the project. */
export interface Route {
  /** The name of the page; empty for the first one. */
  readonly name: string;
  /** The part of the path below the name, such as the path of a record. */
  readonly rest: string;
  readonly query: URLSearchParams;
  /** The revision that the page shows; undefined for the present state. */
  readonly at: string | undefined;
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
  return { name, rest: rest.join('/'), query, at: query.get('at') ?? undefined };
}

/** Returns the address of a page, in the state of the memory that the browser shows now. */
export function addressTo(
  name: string,
  rest = '',
  query: { readonly [name: string]: string | undefined } = {},
): string {
  const all = { at: currentRoute().at, ...query };
  const given = Object.entries(all).flatMap(([key, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[key, value]],
  );
  const path = rest === '' ? name : `${name}/${encodePath(rest)}`;
  const search = new URLSearchParams(given).toString();
  return `${base}${path}${search === '' ? '' : `?${search}`}`;
}

/** Returns the address of a record. */
export function addressOfRecord(path: string): string {
  return addressTo('record', path);
}

/** Goes to an address of these pages without loading the document again. */
export function goTo(address: string, replace = false): void {
  if (isCopy && replace) location.replace(address);
  else if (isCopy) location.hash = address;
  else if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  dispatchEvent(new Event('routechange'));
}

/** Calls back when the address changes; returns a function that stops it. */
export function onRoute(listener: () => void): () => void {
  const onHash = () => {
    // Another fragment is a place on the page.
    if (isCopy && /^#?$|^#\//.test(location.hash)) listener();
  };
  if (!isCopy) addEventListener('popstate', listener);
  addEventListener('routechange', listener);
  addEventListener('hashchange', onHash);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener('routechange', listener);
    removeEventListener('hashchange', onHash);
  };
}

/** Follows a click on a link to another page, unless the person wants a new tab. */
export function followLink(event: MouseEvent): void {
  const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (isCopy || button !== 0 || metaKey || ctrlKey || shiftKey || altKey || event.defaultPrevented)
    return;
  const link = target instanceof Element ? target.closest('a') : null;
  // A link of a picture has no parts of an address.
  if (!link || link.getAttribute('target')) return;
  const { origin, pathname, search, hash } = new URL(
    link.getAttribute('href') ?? '',
    location.href,
  );
  if (origin !== location.origin || !pathname.startsWith(base) || hash !== '') return;
  event.preventDefault();
  goTo(pathname + search);
  scrollTo(0, 0);
}
