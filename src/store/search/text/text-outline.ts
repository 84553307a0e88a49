import { namedSections } from '../../../core/markdown/section-path.ts';
import { contentStart } from '../../../core/markdown/sections.ts';
import type { SearchFields } from '../../../core/record/record-type.ts';
import { longestText, type TextOutline } from './passage-area.ts';

/** Parses the body of a document for its outline. */
export function outlineOf({ body: text = '' }: SearchFields): TextOutline {
  const start = contentStart(text);
  return { start, sections: text.length > longestText ? [] : namedSections(text) };
}
