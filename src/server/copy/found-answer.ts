import { SectionNames } from '../../core/markdown/section-names.ts';
import { besides, type ShownHit, standing } from '../../core/memory/hit-form.ts';
import type { SearchExplanation, SearchHit } from '../../core/memory/search-hit.ts';
import type { Found } from '../page/answers.ts';

/** Number of the best hits among which those of an author or a time are looked for. */
export const maxJudged = 200;

/** The parts of a hit that a page shows, or that it filters by. */
export type PageHit = ShownHit &
  Pick<SearchHit, 'path' | 'score' | 'matches' | 'also' | 'later' | 'caution' | 'explanation'>;

/** The record of a hit, with the title by which the page names it. */
export type HitRecord = Pick<Found['hits'][number], 'type' | 'toolset' | 'title'>;

/** The filters that judge the last change of a hit. */
export type ChangeFilter = {
  readonly [name in 'agent' | 'maker' | 'after']?: string | undefined;
};

/** A page of hits. */
interface AskedPage {
  readonly skip: number;
  readonly limit: number;
}

/** Returns whether only hits of an author or a time are wanted. */
export function isJudged({ agent, maker, after }: ChangeFilter): boolean {
  return [agent, maker, after].some((one) => one !== undefined);
}

/** Returns the range of hits to look for: the best ones, if they are judged. */
export function rangeOf(filter: ChangeFilter, { skip, limit }: AskedPage) {
  return isJudged(filter) ? { limit: maxJudged, offset: 0 } : { limit, offset: skip };
}

/**
 * Answers with the hits that a search has found in the range of `rangeOf`.
 *
 * @param dataOf makes one hit of the answer.
 */
export function foundAnswer<H extends PageHit>(
  { hits, total }: { readonly hits: readonly H[]; readonly total: number },
  filter: ChangeFilter,
  { skip, limit }: AskedPage,
  dataOf: (hit: H) => Found['hits'][number],
) {
  const judged = isJudged(filter);
  const kept = judged ? hits.filter((hit) => isBy(hit, filter)) : hits;
  return {
    hits: (judged ? kept.slice(skip, skip + limit) : kept).map(dataOf),
    total: judged ? kept.length : total,
    makers: [...new Set(hits.flatMap(({ changed }) => changed?.by || []))].sort(),
    ...(judged && total > hits.length && { judged: hits.length }),
  } satisfies Found;
}

/** Whether the last change of a hit is of an author and a time. */
function isBy({ changed }: PageHit, { agent, maker, after }: ChangeFilter): boolean {
  if (agent !== undefined && changed?.by !== agent) return false;
  if (maker !== undefined && (changed?.maker === 'agent') !== (maker === 'agent')) return false;
  // A change that is not committed is of now.
  return after === undefined || (changed !== undefined && (changed.at ?? after) >= after);
}

/** Finds the anchors of the sections of hits; each record is read once. */
export class SectionAnchors {
  readonly #names = new Map<string, SectionNames>();

  /** @param bodyOf returns the text of the record. */
  of({ path, section }: PageHit, bodyOf: () => string): { readonly anchor?: string } {
    if (section === undefined || !path.endsWith('.md')) return {};
    const names = this.#names.get(path) ?? new SectionNames(bodyOf());
    this.#names.set(path, names);
    const found = names.find(section);
    const [anchor] = [...names.anchors].find(([, one]) => one === found) ?? [];
    return anchor === undefined ? {} : { anchor };
  }
}

/** Returns a hit as the page shows it. */
export function hitData(hit: PageHit, record: HitRecord): Found['hits'][number] {
  const { path, score, snippet, matches, section, also, later, caution } = hit;
  return {
    ...textBeside(hit),
    path,
    ...record,
    snippet,
    matches: [...matches],
    score,
    ...(section !== undefined && { section }),
    ...(also && { also: [...also] }),
    ...(later !== undefined && { later }),
    ...(caution && { caution: [...caution] }),
    ...(hit.explanation && reasonsOf(hit.explanation)),
  };
}

/** Returns the texts of a hit that are shown next to its answer. */
function textBeside(hit: ShownHit) {
  const [known, others] = [standing(hit), besides(hit)];
  return {
    ...(known !== '' && { standing: known }),
    ...(others.length > 0 && { besides: others }),
  };
}

/** Returns the words and the other signals that a hit was found by. */
function reasonsOf({ words, signals }: SearchExplanation) {
  return {
    why: words
      .filter(({ found }) => found.length > 0)
      .map(({ asked, found }) => ({
        asked,
        found: found.map(({ word, how, fields }) => ({ word, how, fields: [...fields] })),
      })),
    signals: Object.keys(signals),
  };
}
