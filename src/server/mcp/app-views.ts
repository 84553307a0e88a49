import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ListedTool, viewType } from './methods.ts';

/** The views of tools. One page has them all: the answer of the tool determines what it shows. */
const views: ReadonlyMap<string, string> = new Map([
  ['record_history', 'ui://memory-bank/timeline'],
  ['diff_memory', 'ui://memory-bank/diff'],
  ['search_memory', 'ui://memory-bank/records'],
  ['build_context', 'ui://memory-bank/context'],
]);

/** The folders of the page: next to the bundle or its chunks. */
const folders = ['page', '../page'];

/** Adds the view of a tool to its entry in a list. */
export function withView(listed: ListedTool): ListedTool {
  const resourceUri = views.get(listed.name);
  if (resourceUri === undefined) return listed;
  return { ...listed, _meta: { ...listed._meta, ui: { resourceUri } } };
}

/** Returns the page of a view; undefined for the URI of anything else. */
export async function readView(uri: string) {
  if (![...views.values()].includes(uri)) return undefined;
  const page = folders
    .map((name) => join(import.meta.dirname, name, 'app.html'))
    .find((path) => existsSync(path));
  if (page === undefined) return undefined;
  return {
    uri,
    name: uri.replace(/.*\//, ''),
    mimeType: viewType,
    text: await readFile(page, 'utf8'),
    // The page needs nothing from any host.
    _meta: { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } },
  };
}
