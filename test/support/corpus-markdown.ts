import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { corpus } from './corpus.ts';

/** Every markdown file of the corpus, including older versions. */
export function corpusMarkdown(): { readonly name: string; readonly text: string }[] {
  if (corpus === undefined) return [];
  const folder = corpus;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.md(?:@|$)/.test(name) && statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => ({ name: relative('.', name), text: readFileSync(join(folder, name), 'utf8') }));
}
