import { encodePath } from './link-target.ts';

/** Arguments of a request; those that are undefined are left out. */
export type Query = { readonly [name: string]: string | number | undefined };

/** Returns the address of a request below the path of the project. */
export function addressOf(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  const encoded = encodePath(path);
  return search === '' ? encoded : `${encoded}?${search}`;
}
