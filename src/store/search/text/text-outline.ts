import { namedSections } from '../../../core/markdown/section-path.ts';
import { contentStart } from '../../../core/markdown/sections.ts';
import type { SearchFields } from '../../../core/record/record-type.ts';
import { longestText, type TextOutline } from './passage-area.ts';

const known = new WeakMap<SearchFields, TextOutline>();

/** Parses the body of a document for its outline. */
export function outlineOf(fields: SearchFields): TextOutline {
  const outline = known.get(fields) ?? parse(fields.body ?? '');
  known.set(fields, outline);
  return outline;
}

function parse(text: string): TextOutline {
  const start = contentStart(text);
  return { start, sections: text.length > longestText ? [] : namedSections(text) };
}
