import type { Dictionary } from '../terms/dictionary.ts';
import { fieldNames } from '../terms/search-document.ts';
import type { IndexedDocument } from '../terms/searched-collection.ts';
import type { AskedTerms } from './asked-terms.ts';
import type { FieldScope } from './field-scope.ts';

/** A longer field is about more than a query can ask for, in tokens. */
const longest = 64;

/** The largest share of the words of a short field that a query asks for, 0 to 1. */
export function fieldFit(
  { terms }: IndexedDocument,
  asked: AskedTerms,
  dictionary: Dictionary,
  scope: FieldScope,
): number {
  let most = 0;
  for (const [order, field] of fieldNames.entries()) {
    const numbers = terms[order];
    if (!scope.has(field) || !numbers || numbers.length > longest) continue;
    let found = 0;
    let all = 0;
    for (const number of numbers) {
      if (dictionary.isStop(number)) continue;
      all += 1;
      if (asked.has(number)) found += 1;
    }
    if (found > 0) most = Math.max(most, found / all);
  }
  return most;
}
