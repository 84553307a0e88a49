import { areEqual, type Sides } from './diff3.ts';
import type { Piece } from './pieces.ts';

/** A position in the result, with its piece in each version that has one. */
export type Slot = { readonly [S in keyof Sides<Piece>]?: Piece | undefined };

type Gap = readonly string[];

const sideNames = ['ours', 'theirs'] as const;

/** The blank lines between pieces that are not consecutive in every version. */
export class Spacing {
  readonly #sides: Sides<readonly Piece[]>;
  readonly #positions: ReadonlyMap<Piece, number>;

  constructor(sides: Sides<readonly Piece[]>) {
    this.#sides = sides;
    const positions = new Map<Piece, number>();
    for (const pieces of [sides.base, sides.ours, sides.theirs]) {
      for (const [i, piece] of pieces.entries()) positions.set(piece, i);
    }
    this.#positions = positions;
  }

  /** The blank lines above a slot. */
  between(above: Slot | undefined, slot: Slot): Gap {
    const gapIn = (side: keyof Sides<Piece>): Gap | undefined => {
      const piece = slot[side];
      if (!piece || (above && !above[side])) return undefined;
      return this.#above(side, piece) === above?.[side] ? piece.gap : undefined;
    };
    const [base, ours, theirs] = [gapIn('base'), gapIn('ours'), gapIn('theirs')];
    if (ours && theirs) return mergeGap({ base: base ?? ours, ours, theirs });
    return ours ?? theirs ?? this.#usual(above, slot);
  }

  /** The spacing between pieces of these kinds elsewhere in the list, or by default. */
  #usual(above: Slot | undefined, slot: Slot): Gap {
    const kind = kindOf(slot);
    const before = above && kindOf(above);
    for (const side of sideNames) {
      for (const piece of this.#sides[side]) {
        if (piece.kind === kind && this.#above(side, piece)?.kind === before) return piece.gap;
      }
    }
    return kind === 'item' && before === 'item' ? [] : [''];
  }

  #above(side: keyof Sides<Piece>, piece: Piece): Piece | undefined {
    return this.#sides[side][(this.#positions.get(piece) ?? 0) - 1];
  }
}

function kindOf({ ours, theirs }: Slot): Piece['kind'] | undefined {
  return (ours ?? theirs)?.kind;
}

/** Merges a gap; if both sides changed it, the larger one wins. */
export function mergeGap({ base, ours, theirs }: Sides<Gap>): Gap {
  if (areEqual(base, ours)) return theirs;
  return areEqual(base, theirs) || ours.length >= theirs.length ? ours : theirs;
}
