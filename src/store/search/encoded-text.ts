import type { NamedSection } from '../../core/markdown/section-path.ts';
import type { SearchFields } from '../../core/record/record-type.ts';
import type { StoredText } from './stored-index.ts';
import { outlineOf } from './text/text-outline.ts';

/** Returns a document with the outline of its text: to parse markdown takes longer than the search. */
export function toStoredText(fields: SearchFields): StoredText {
  if (!fields.markdown) return [fields, null];
  const { start, sections } = outlineOf(fields);
  const numberOf = new Map<NamedSection | undefined, number>(sections.map((one, at) => [one, at]));
  const stored = sections.map(({ parent, ...section }) => {
    return [section, numberOf.get(parent) ?? -1] as const;
  });
  return [fields, { start, sections: stored }];
}
