import type { PartKind } from '../../../core/declarations/part-kinds.ts';
import type { PartRole } from '../../../core/record/part-role.ts';
import type { Range } from './passage-range.ts';
import type { TextMatch } from './text-match.ts';

/** A part of a record that a hit may show: the whole of a text, or a part of it. */
export interface HitPiece extends Range {
  readonly text: string;
  readonly role: PartRole;
  readonly kind: PartKind | undefined;
  /** The matches in its text. */
  readonly places: readonly TextMatch[];
  /** Returns the weights of the concepts in its text. */
  readonly weights: () => readonly number[];
}

/** A piece and its own matches. */
export interface Matched {
  readonly piece: HitPiece;
  readonly matches: readonly TextMatch[];
}
