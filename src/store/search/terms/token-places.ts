import type { TextField } from '../../../core/record/record-type.ts';
import type { Steps } from '../../records/slices.ts';
import { analyse } from '../text/analyser.ts';
import { pieces } from '../text/search-pieces.ts';
import { ByteList, ByteReader } from './byte-list.ts';
import { fieldNames } from './search-document.ts';
import type { IndexedDocument } from './searched-collection.ts';

/** A text that is not analysed again; a changed document is another object. */
const known = new WeakMap<IndexedDocument, (Uint8Array | undefined)[]>();

/**
 * Visits the tokens of a field of a document in order, with the number of the term of each.
 *
 * The terms are those of the index, and the places are kept in about two bytes for each token, because
 * a text of 9 kB takes a millisecond to analyse.
 */
export function* visitTokens(
  document: IndexedDocument,
  field: TextField,
  visit: (number: number, start: number, end: number, isWhole: boolean) => void,
): Steps {
  const order = fieldNames.indexOf(field);
  const terms = document.terms[order] ?? new Uint32Array();
  const bytes = yield* placesOf(document, field, order);
  const reader = new ByteReader(bytes, 0, bytes.length);
  let start = 0;
  for (let at = 0; at < terms.length && !reader.isAtEnd; at++) {
    const step = reader.next();
    const length = reader.next();
    const distance = step >>> 2;
    start += step & 2 ? -distance : distance;
    visit(terms[at] as number, start, start + length, (step & 1) === 1);
  }
}

function* placesOf(document: IndexedDocument, field: TextField, order: number): Steps<Uint8Array> {
  const fields = known.get(document) ?? [];
  known.set(document, fields);
  fields[order] ??= yield* encode(document.fields[field] ?? '');
  return fields[order];
}

/** Encodes for each token its distance from the token before, whether that is back, its kind and length. */
function* encode(text: string): Steps<Uint8Array> {
  const list = new ByteList(Math.ceil(text.length / 2));
  let last = 0;
  for (const { start: first, piece } of pieces(text)) {
    analyse(piece, ({ kind, start, end }, offset) => {
      const at = first + offset + start;
      const distance = Math.abs(at - last);
      list.add((distance << 2) | (at < last ? 2 : 0) | (kind === 'whole' ? 1 : 0));
      list.add(end - start);
      last = at;
    });
    yield;
  }
  return list.bytes.slice();
}
