import type { SearchFields, TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import { literalPassage } from '../passage/snippet.ts';
import type { FieldScope } from '../query/field-scope.ts';
import { fieldNames, type Hits, plain, type SearchDocument } from '../terms/search-document.ts';
import { outlineOf } from '../text/text-outline.ts';
import { explainLiteral } from './explanation.ts';

/** Characters compared in one step. */
const stretch = 256 * 1024;
/** Characters of a long text kept on each side of a match. */
const margin = 1000;

/** A document that contains the query; of a long text only the part around the match. */
interface Found {
  readonly id: string;
  /** The order of its field; below 0 if its title is the query. */
  readonly rank: number;
  readonly fields: SearchFields;
  readonly field: TextField;
  readonly at: number;
}

/**
 * Finds the documents that contain the query literally, ignoring case: heavier fields first, then by id.
 *
 * @param groups of documents; `undefined` ends a step.
 * @param explains whether each hit says why it was found.
 * @param score of each hit, except for documents whose title is the query: these have 1.
 */
export function* literal(
  groups: readonly Iterable<SearchDocument | undefined>[],
  query: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  score: number,
  scope: FieldScope,
  explains = false,
): Steps<Hits> {
  const wanted = lower(query);
  const name = plain(query);
  const found: Found[] = [];
  for (const group of groups) {
    for (const document of group) {
      yield;
      if (!document) continue;
      const { id, fields } = document;
      for (const [order, field] of fieldNames.entries()) {
        const text = scope.text(fields, field);
        const at = yield* indexOf(text, wanted);
        if (at < 0) continue;
        const rank = plain(scope.text(fields, 'title')) === name ? -1 : order;
        found.push({ id, rank, field, ...near(fields, field, at, query.length) });
        break;
      }
    }
  }
  found.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const hits = found.slice(offset, offset + limit).map(({ id, rank, fields, field, at }) => ({
    id,
    score: rank < 0 ? 1 : score,
    ...(explains && { explanation: explainLiteral(query, field, rank < 0 ? 1 : score) }),
    matches: [(fields[field] ?? '').slice(at, at + query.length)],
    ...literalPassage(fields, field, at, at + query.length, outlineOf),
  }));
  return { hits, total: found.length };
}

/** The offset of the first match of a lower-case text, or -1. */
function* indexOf(text: string, wanted: string): Steps<number> {
  if (text.length <= stretch) return lower(text).indexOf(wanted);
  for (let start = 0; start < text.length; start += stretch) {
    const piece = text.slice(start, start + stretch + wanted.length - 1);
    const at = lower(piece).indexOf(wanted);
    if (at >= 0) return start + at;
    yield;
  }
  return -1;
}

/** Copies the surroundings of a match in a long text, so that the long text can leave memory. */
function near(fields: SearchFields, field: TextField, at: number, length: number) {
  const text = fields[field] ?? '';
  if (text.length <= stretch) return { fields, at };
  const start = Math.max(0, at - margin);
  const piece = text.slice(start, at + length + margin);
  const copy = Buffer.from(piece, 'utf16le').toString('utf16le');
  return { fields: { title: '', [field]: copy }, at: at - start };
}

/** A text in lower case with unchanged offsets: İ is the one letter that would become two. */
function lower(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
