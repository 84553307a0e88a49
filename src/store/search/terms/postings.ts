/**
 * The documents that contain a term, ascending, with its weight in each of them.
 *
 * Each posting is one number of 32 bits: the document's number, with the weight in the lowest bits.
 * There are hundreds of thousands of postings, and two lists would take twice the memory.
 */
export type Postings = readonly number[];

const weightBits = 10;
const heaviest = 2 ** weightBits - 1;
/** Weights are kept in tenths. */
const scale = 10;

export function documentOf(posting: number): number {
  return posting >>> weightBits;
}

export function weightOf(posting: number): number {
  return (posting & heaviest) / scale;
}

/** The weight of a posting in the unit of `toPosting`. */
export function weightIn(posting: number): number {
  return posting & heaviest;
}

export function toPosting(document: number, weight: number): number {
  return join(document, weight);
}

/** Adds weight for a document; changes the list in place where possible. */
export function withWeight(postings: Postings, document: number, weight: number): Postings {
  const added = Math.round(weight * scale);
  // Most terms occur in only one document, and a list that has grown keeps spare capacity.
  if (postings.length === 0) return [join(document, added)];
  const list = postings as number[];
  const at = placeOf(list, document);
  const known = list[at] ?? 0;
  if (at < list.length && documentOf(known) === document) {
    list[at] = join(document, (known & heaviest) + added);
  } else if (at === list.length) list.push(join(document, added));
  else list.splice(at, 0, join(document, added));
  return list;
}

/** Removes a document from the postings, in place. */
export function without(postings: Postings, document: number): Postings {
  const list = postings as number[];
  const at = placeOf(list, document);
  if (documentOf(list[at] ?? -1) === document) list.splice(at, 1);
  return list;
}

function join(document: number, weight: number): number {
  return (document << weightBits) | Math.min(weight, heaviest);
}

/** The position of a document in the list, or the one where it belongs. */
function placeOf(postings: Postings, document: number): number {
  const last = documentOf(postings[postings.length - 1] ?? 0);
  // New documents come at the end.
  if (last <= document) return last === document ? postings.length - 1 : postings.length;
  let low = 0;
  let high = postings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (documentOf(postings[middle] ?? 0) < document) low = middle + 1;
    else high = middle;
  }
  return low;
}
