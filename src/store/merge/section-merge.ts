import { hunksOf } from '../../core/diff/line-diff.ts';
import { diff3, mapSides, type Region, type Sides } from './diff3.ts';
import { pairEdits } from './edits.ts';
import type { Settle } from './field-conflicts.ts';
import { each, mergeLines, type SidedResult, settled } from './line-merge.ts';
import { byDate, isNewestFirst } from './log-order.ts';
import { numbered, type Piece, readOutline } from './pieces.ts';
import { mergeGap, type Slot, Spacing } from './spacing.ts';

type Lines = readonly string[];

/** The section that is merged, and the decisions of the conflicts in it. */
interface Place {
  /** The headings from the top, without the title of the text; empty above the first one. */
  readonly path: string;
  readonly settle: Settle<Lines>;
}

/** Limit of a heading in a path, in characters. */
const longestHeading = 120;

/**
 * Merges the lines of markdown texts, piece by piece.
 *
 * Sections are matched by heading, items of lists and rows of tables are ordered sets, and prose is
 * merged line by line. An addition of one or both sides is kept once. A piece that one side removed and
 * the other did not change is removed. Additions of both sides in one place are sorted by date if they
 * have dates; otherwise ours come before theirs.
 *
 * @param settle decides a conflict by the path of its section.
 */
export function mergeSections(
  sides: Sides<Lines>,
  settle: Settle<Lines> = (_path, _base, result) => result,
): SidedResult<Lines> {
  const outlines = mapSides(sides, readOutline);
  const end = mergeGap(mapSides(outlines, ({ gap }) => gap));
  return joined([mergeContent(outlines, { path: '', settle }), settled(end)]);
}

type Content = Pick<Piece, 'body' | 'sections'>;

function mergeContent(sides: Sides<Content | undefined>, place: Place): SidedResult<Lines> {
  return joined([
    mergeSiblings(
      mapSides(sides, (content) => content?.body ?? []),
      place,
    ),
    mergeSiblings(
      mapSides(sides, (content) => content?.sections ?? []),
      place,
    ),
  ]);
}

/** Merges consecutive pieces with the same parent. */
function mergeSiblings(given: Sides<readonly Piece[]>, place: Place): SidedResult<Lines> {
  const sides = identifyEntries(given);
  const known = mapSides(sides, byKey);
  const regions = diff3(sides, (piece) => `${piece.key}\0${piece.text}`, true).map((region) =>
    region.from ? region : joinProse(pairEdits(region, known)),
  );
  // A joined or paired piece replaces the pieces that it was made of.
  const merged = {
    base: regions.flatMap((region) => region.base),
    ours: regions.flatMap((region) => region.ours),
    theirs: regions.flatMap((region) => region.theirs),
  };
  const spacing = new Spacing(merged);
  let above: Slot | undefined;
  const parts: SidedResult<Lines>[] = [];
  for (const slot of slotsOf(regions, merged)) {
    const gap = spacing.between(above, slot);
    const merged = mergePiece(slot, placeOf(slot, place));
    parts.push(each(merged, (lines) => (lines.length > 0 ? [...gap, ...lines] : lines)));
    above = slot;
  }
  return joined(parts);
}

/**
 * Identifies a new entry of a log, a section with a date in its heading, by its whole text.
 *
 * Two entries with the same date and title are still two entries.
 */
function identifyEntries({ base, ours, theirs }: Sides<readonly Piece[]>): Sides<readonly Piece[]> {
  const known = new Set(base.map(({ key }) => key));
  const identify = (pieces: readonly Piece[]) => {
    const entries = pieces.map((piece) =>
      piece.kind === 'section' && !known.has(piece.key) && /\d{4}-\d{2}-\d{2}/.test(piece.label)
        ? { ...piece, key: `entry ${piece.text}` }
        : piece,
    );
    return numbered(entries);
  };
  return { base, ours: identify(ours), theirs: identify(theirs) };
}

/** The key of prose that was joined from a region. */
const proseKey = 'prose';

/** Joins the pieces of a region into one piece of prose if both sides changed prose in it. */
function joinProse(region: Region<Piece>): Region<Piece> {
  const { base, ours, theirs } = region;
  if (!changesProse(base, ours) || !changesProse(base, theirs)) return region;
  return { ...region, base: oneOf(base), ours: oneOf(ours), theirs: oneOf(theirs) };
}

function oneOf(pieces: readonly Piece[]): Piece[] {
  const [first] = pieces;
  if (!first) return [];
  const lines = pieces.flatMap((piece) =>
    piece === first ? piece.lines : [...piece.gap, ...piece.lines],
  );
  const text = lines.join('\n');
  return [
    {
      kind: 'prose',
      label: text,
      key: proseKey,
      gap: first.gap,
      head: lines,
      body: [],
      sections: [],
      lines,
      text,
    },
  ];
}

function changesProse(base: readonly Piece[], side: readonly Piece[]): boolean {
  const prose = (pieces: readonly Piece[]) =>
    pieces.flatMap(({ kind, text }) => (kind === 'prose' ? [text] : [])).join('\0');
  return prose(base) !== prose(side);
}

/** The slots of the result in order, without removed pieces. */
function slotsOf(regions: readonly Region<Piece>[], sides: Sides<readonly Piece[]>): Slot[] {
  const known = mapSides(sides, byKey);
  const newestFirst = isNewestFirst(sides);
  const used = new Set<string>();
  return regions
    .flatMap((region) => orderOf(region, newestFirst))
    .flatMap((slot): Slot[] => {
      const piece = slot.ours ?? slot.theirs;
      if (!piece || piece.kind === 'prose') return [slot];
      if (used.has(piece.key)) return [];
      used.add(piece.key);
      const base = known.base.get(piece.key);
      const ours = known.ours.get(piece.key);
      const theirs = known.theirs.get(piece.key);
      const isRemoved = !(ours && theirs) && base?.text === (ours ?? theirs)?.text;
      return isRemoved ? [] : [{ base, ours, theirs }];
    });
}

function byKey(pieces: readonly Piece[]): ReadonlyMap<string, Piece> {
  return new Map(pieces.map((piece) => [piece.key, piece]));
}

/** The slots that a region adds to the result; one side is enough to identify items and sections. */
function orderOf(region: Region<Piece>, newestFirst: boolean): Slot[] {
  const { base, ours, theirs, from } = region;
  if (from === undefined) {
    const isJoined = [ours, theirs].some(([piece]) => piece?.key === proseKey);
    return isJoined
      ? [{ base: base[0], ours: ours[0], theirs: theirs[0] }]
      : union(region, newestFirst);
  }
  return region[from].map((piece, i) =>
    piece.kind === 'prose' && ours[i]?.text === theirs[i]?.text
      ? { base: base[i], ours: ours[i], theirs: theirs[i] }
      : { [from]: piece },
  );
}

/** The pieces of both sides in order; between two common pieces, ours come before theirs. */
function union({ base, ours, theirs }: Region<Piece>, newestFirst: boolean): Slot[] {
  // Prose that one side changed is taken from that side alone.
  const left = changesProse(base, theirs) ? withoutProse(ours) : ours;
  const right = changesProse(base, theirs) ? theirs : withoutProse(theirs);
  const slots: Slot[][] = [];
  let at = 0;
  const keys = (pieces: readonly Piece[]) => pieces.map(({ key }) => key);
  const shared = (end?: number) => left.slice(at, end).map((piece) => ({ ours: piece }));
  for (const hunk of hunksOf(keys(left), keys(right))) {
    slots.push(shared(hunk.start));
    at = hunk.start + hunk.length;
    const added = right.slice(hunk.newStart, hunk.newStart + hunk.newLength);
    slots.push(byDate(left.slice(hunk.start, at), added, newestFirst));
  }
  return [...slots, shared()].flat();
}

function withoutProse(pieces: readonly Piece[]): readonly Piece[] {
  return pieces.filter(({ kind }) => kind !== 'prose');
}

/** The place of the conflicts in a piece. */
function placeOf({ ours, theirs }: Slot, place: Place): Place {
  const piece = ours ?? theirs;
  const [, level, heading = ''] = /^(\d) (.*)$/s.exec(piece?.label ?? '') ?? [];
  if (piece?.kind !== 'section' || level === '1') return place;
  const points = [...heading.replace(/\s+/g, ' ').trim()];
  const end = points.length > longestHeading ? '…' : '';
  const name = points.slice(0, longestHeading).join('') + end;
  return { ...place, path: place.path === '' ? name : `${place.path} > ${name}` };
}

function mergePiece({ base, ours, theirs }: Slot, place: Place): SidedResult<Lines> {
  const kind = (ours ?? theirs)?.kind;
  const settle = (result: SidedResult<Lines>, before: Lines = base?.lines ?? []) =>
    place.settle(place.path, before, result);
  if (kind === 'prose') {
    return settle(
      mergeLines({
        base: base?.lines ?? [],
        ours: ours?.lines ?? [],
        theirs: theirs?.lines ?? [],
      }),
    );
  }
  if (!ours || !theirs) {
    // A section that one side removed and the other changed is a conflict.
    const isConflict = base && kind === 'section';
    if (isConflict) return settle({ ours: ours?.lines ?? [], theirs: theirs?.lines ?? [] });
    return settled((ours ?? theirs)?.lines ?? []);
  }
  if (base?.text === ours.text) return settled(theirs.lines);
  if (base?.text === theirs.text || ours.text === theirs.text) return settled(ours.lines);
  return joined([
    settle(mergeHead({ base, ours, theirs }), base?.head ?? []),
    mergeContent({ base, ours, theirs }, place),
  ]);
}

function mergeHead({
  base,
  ours,
  theirs,
}: Slot & { ours: Piece; theirs: Piece }): SidedResult<Lines> {
  const sides = { base: base?.head ?? [], ours: ours.head, theirs: theirs.head };
  // A different list marker or number before the same text is not a conflict.
  const merged = mergeLines(sides);
  return ours.label === theirs.label ? settled(merged.ours) : merged;
}

function joined(parts: readonly SidedResult<Lines>[]): SidedResult<Lines> {
  return { ours: parts.flatMap(({ ours }) => ours), theirs: parts.flatMap(({ theirs }) => theirs) };
}
