import { cautionOf } from '../../core/memory/answer-fields.ts';
import { isOfAgentAlone } from '../../core/memory/hit-form.ts';
import type { SearchHit, SearchRequest } from '../../core/memory/search-hit.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import { formatAddress, parseAddress } from '../../core/names/record-address.ts';
import { addTo } from '../../core/values/multimap.ts';

/** A record that replaces a hit is looked for among at least this many matches. */
const leastPool = 100;

/** The parts of a hit by which it is judged. */
type Judged = Pick<
  SearchHit,
  'path' | 'section' | 'score' | 'group' | 'changed' | 'caution' | 'later'
>;

/** The parts of `RecordDoubts` that are shown with a hit. */
export type HitDoubts = Pick<RecordDoubts, 'reasons' | 'status' | 'successor'>;

type Doubts = ReadonlyMap<string, HitDoubts>;

/** Finds hits, and knows what is for and against them. */
export interface HitSources<H, Q, R> {
  find(request: Q): Promise<R>;
  doubts(addresses: readonly string[]): Promise<Doubts>;
  /** Adds the last change of each hit. */
  dated(hits: readonly H[]): Promise<readonly H[]>;
}

/**
 * Finds records, with what is known against them and when and by whom each was last changed: what another
 * one replaces comes after it, and of about equally good ones on one subject, what only an agent has
 * written comes last.
 */
export async function trustedSearch<
  H extends Judged,
  Q extends Pick<SearchRequest, 'limit' | 'sure'>,
  R extends { readonly hits: readonly H[]; readonly total: number },
>(request: Q, sources: HitSources<H, Q, R>): Promise<R> {
  const found = await sources.find(request);
  const trusted = async (hits: readonly H[]) => {
    const dated = await sources.dated(hits);
    return { ...found, hits: request.sure ? dated : trustedFirst(dated) };
  };
  const doubtsOf = (hits: readonly H[]) => sources.doubts(hits.flatMap(addressesOf));
  const doubts = await doubtsOf(found.hits);
  const missing = successorsBeyond(found.hits, doubts);
  if (missing.length === 0 || found.total <= found.hits.length) {
    return trusted(labelled(found.hits, doubts));
  }
  // Some of them may match less well than all hits.
  const limit = Math.max(leastPool, 2 * found.hits.length);
  const more = await sources.find({ ...request, limit });
  const successors = more.hits.filter((hit) => missing.some((address) => isOf(hit, address)));
  const known = new Map([...doubts, ...(await doubtsOf(successors))]);
  const hits = labelled([...found.hits, ...successors], known).slice(0, found.hits.length);
  return trusted(hits);
}

/** The addresses of the section of a hit and of its record. */
function addressesOf({ path, section }: Judged): string[] {
  return section === undefined ? [path] : [formatAddress({ path, section }), path];
}

/** Whether a hit is of a record, or of a section of one. */
function isOf({ path, section = '' }: Judged, address: string): boolean {
  const wanted = parseAddress(address);
  if (wanted.path !== path) return false;
  return wanted.section === undefined || ` > ${section}`.endsWith(` > ${wanted.section}`);
}

/** The address of the record or section that replaces a hit. */
function successorOf(hit: Judged, doubts: Doubts): string | undefined {
  return addressesOf(hit).flatMap((address) => doubts.get(address)?.successor ?? [])[0];
}

/** The addresses of what replaces one of the hits and is none of them. */
function successorsBeyond(hits: readonly Judged[], doubts: Doubts): readonly string[] {
  const successors = new Set(hits.flatMap((hit) => successorOf(hit, doubts) ?? []));
  return [...successors].filter((address) => !hits.some((hit) => isOf(hit, address)));
}

/** Adds what is known against the hits; of hits with one score, those without come first. */
function labelled<H extends Judged>(hits: readonly H[], doubts: Doubts): readonly H[] {
  const found = hits.map((hit) => {
    const caution = addressesOf(hit).flatMap((address) => cautionOf(doubts.get(address)));
    return caution.length > 0 ? { ...hit, caution } : hit;
  });
  if (found.every(({ caution }) => !caution)) return hits;
  found.sort((a, b) => b.score - a.score || Number(!!a.caution) - Number(!!b.caution));
  return afterSuccessors(found, (hit) => successorOf(hit, doubts));
}

/** Moves each hit that another one replaces behind it; its score becomes that of the other one. */
function afterSuccessors<H extends Judged>(
  hits: readonly H[],
  replacement: (hit: Judged) => string | undefined,
): readonly H[] {
  const ordered = [...hits];
  for (const hit of hits) {
    const successor = replacement(hit);
    if (successor === undefined) continue;
    const from = ordered.indexOf(hit);
    const to = ordered.findIndex((one) => isOf(one, successor));
    const score = ordered[to]?.score;
    if (to <= from || score === undefined) continue;
    ordered.splice(from, 1);
    ordered.splice(to, 0, { ...hit, score, group: undefined });
  }
  return ordered;
}

/** Moves hits behind those of their group that a person has written or confirmed. */
function trustedFirst<H extends Judged>(hits: readonly H[]): readonly H[] {
  const groups = new Map<number, H[]>();
  for (const hit of hits) if (hit.group !== undefined) addTo(groups, hit.group, hit);
  const ordered = [...hits];
  for (const own of groups.values()) {
    const sorted = own.toSorted((a, b) => Number(isUnconfirmed(a)) - Number(isUnconfirmed(b)));
    for (const [index, hit] of own.entries()) {
      const one = sorted[index];
      if (!one) continue;
      const passed = sorted.slice(index + 1).find((next) => own.indexOf(next) < own.indexOf(one));
      const later = passed && addressesOf(passed)[0];
      ordered[hits.indexOf(hit)] = { ...one, score: hit.score, ...(later && { later }) };
    }
  }
  return ordered;
}

/** Whether no person has written or confirmed a hit. */
function isUnconfirmed({ changed }: Judged): boolean {
  return changed !== undefined && isOfAgentAlone(changed);
}
