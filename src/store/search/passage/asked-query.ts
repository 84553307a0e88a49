import type { AskedTerms } from '../query/asked-terms.ts';
import type { FieldScope } from '../query/field-scope.ts';
import type { Concept } from '../query/query.ts';

/** A query whose answer is looked for in a document. */
export interface AskedQuery {
  readonly concepts: readonly Concept[];
  readonly asked: AskedTerms;
  /** The weight of each concept among all documents. */
  readonly rarities: readonly number[];
  readonly scope: FieldScope;
  /** Whether it asks for a reason. */
  readonly asksWhy: boolean;
  /** Whether the answer may be twice as long. */
  readonly atLength?: boolean | undefined;
}
