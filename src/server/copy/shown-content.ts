import { placeOf } from '../../core/evidence/inline-pattern.ts';
import { renderHtml } from '../../core/markdown/html.ts';
import type { FieldChange } from '../../core/memory/commit-log.ts';
import type { FieldDifference, RecordData } from '../page/answers.ts';

/**
 * Returns the content of a record as a page shows it.
 *
 * @param fields all but that of the body.
 * @param body of a markdown file.
 */
export function shownContent(
  fields: readonly (readonly [name: string, field: unknown])[],
  body: string | undefined,
): Pick<RecordData, 'fields' | 'html'> {
  // The page is about this path.
  const shown = fields.filter(([name, field]) => field !== undefined && name !== 'path');
  return {
    fields: Object.fromEntries(
      shown.map(([name, field]) => [name, name === 'evidence' ? placesOf(field) : field]),
    ),
    ...(body !== undefined && { html: renderHtml(body) }),
  };
}

/** Returns evidence without its fingerprints, which say nothing to a person. */
function placesOf(field: unknown): unknown {
  if (!Array.isArray(field)) return field;
  return field.map((one: unknown) => (typeof one === 'string' ? placeOf(one) : one));
}

/** Returns the difference in a field as the pages know it. */
export function fieldData({ added, removed, ...field }: FieldChange): FieldDifference {
  return {
    ...field,
    ...(added && { added: [...added] }),
    ...(removed && { removed: [...removed] }),
  };
}
