import type { Context } from '../../core/declarations/context.ts';
import {
  formatPlace,
  type GivenEvidence,
  hasInlineEvidenceOnly,
  inlineEvidence,
} from '../../core/evidence/annotations.ts';
import { formatReference } from '../../core/evidence/reference.ts';
import type { EvidenceFinding } from '../../core/evidence/verdict.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import { placesIn } from '../../core/markdown/text-evidence.ts';
import type { Transaction } from '../../core/memory/store.ts';
import { formatAddress, parseAddress } from '../../core/names/record-address.ts';
import { MemoryError } from '../../core/values/error.ts';
import { addTo } from '../../core/values/multimap.ts';

/** The records whose sections are decisions; they have no front matter. */
export const decisionLogs: readonly string[] = ['decisionLog.md', 'decision-log.md'];

function isDecisionLog(address: string): boolean {
  return decisionLogs.includes(address);
}

/** A part of a record that has evidence of its own. */
interface Part {
  readonly address: string;
  readonly text: string;
}

/** The verdicts about a record, and the evidence that the caller gave for it. */
interface Known {
  readonly findings: readonly EvidenceFinding[];
  readonly given: readonly GivenEvidence[] | undefined;
}

/** The address of a record or section; the title of a decision alone names it in the log. */
export async function addressOf(context: Context, given: string): Promise<string> {
  if (/\.(?:md|yaml)(?:#|$)/.test(given)) return given;
  const found = await context.store.change({ subject: `find ${given}` }, async (transaction) => {
    for (const path of decisionLogs) {
      if ((await transaction.text(path)) === undefined) continue;
      return transaction.addressOf(formatAddress({ path, section: given }));
    }
    return undefined;
  });
  return found ?? given;
}

/** The section at an address, or the decisions of a log. */
function partsOf(address: string, text: string): readonly Part[] {
  if (parseAddress(address).section !== undefined) return [{ address, text }];
  if (!isDecisionLog(address)) return [];
  const sections = new Sections(address, text);
  return sections.all
    .filter(({ level }) => level === 2)
    .map((section) => ({
      address: sections.addressOf(section),
      text: text.slice(section.start, section.end),
    }));
}

/**
 * Returns the address of the record or section that given evidence is written into: in a decision log, the
 * only decision, or the only one with evidence.
 *
 * @throws MemoryError `invalid_input` for a log of several such decisions.
 */
export async function holderOf(transaction: Transaction, address: string): Promise<string> {
  const text = isDecisionLog(address) ? await transaction.text(address) : undefined;
  if (text === undefined) return address;
  const parts = partsOf(address, text);
  const rested = parts.filter((part) => inlineEvidence(part.text).length > 0);
  const [only, ...others] = rested.length > 0 ? rested : parts;
  if (only && others.length === 0) return only.address;
  const { section = 'Title' } = parseAddress(parts.at(-1)?.address ?? '');
  throw new MemoryError('invalid_input', `${address} has ${parts.length} decisions.`, {
    hint: `Give the one that the evidence belongs to, by its title: ${address}#${section}.`,
  });
}

/**
 * Whether a verification changes only the evidence in the text of a record: that of a section and of a
 * decision log, and of a record without other evidence.
 */
export function keepsEvidenceInText(
  address: string,
  text: string,
  { findings, given }: Known,
): boolean {
  if (parseAddress(address).section !== undefined || isDecisionLog(address)) return true;
  // Places that a text only mentions become fresh by the verification of the whole record.
  const mentions = findings.some(
    ({ evidence, verdict }) => evidence.source === 'found' && verdict !== 'fresh',
  );
  return !given && !mentions && hasInlineEvidenceOnly(address, text);
}

/**
 * Reads the code that the parts of a record only mention, and that has changed since.
 *
 * @returns the places by the address of the part; undefined if a part of a log mentions code that is gone,
 *   so that only the record as a whole can be verified.
 * @throws MemoryError `invalid_input` if a section mentions such code.
 */
export async function citedMentions(
  context: Context,
  address: string,
  text: string,
  { findings, given }: Known,
): Promise<ReadonlyMap<string, readonly GivenEvidence[]> | undefined> {
  const parts = partsOf(address, text).map((part) => {
    const given = new Set(inlineEvidence(part.text).map(formatPlace));
    const mentions = [...placesIn(part.text)].filter((place) => !given.has(place));
    return { address: part.address, mentions: new Set(mentions) };
  });
  const isSection = parseAddress(address).section !== undefined;
  const cited = new Map<string, GivenEvidence[]>();
  for (const { evidence, verdict, message } of findings) {
    if (evidence.source !== 'found' || (verdict !== 'changed' && verdict !== 'gone')) continue;
    const place = formatReference(evidence);
    const own = parts.filter(({ mentions }) => mentions.has(place));
    if (isSection && own.length === 0) continue;
    const isThere = own.length > 0 && verdict === 'changed';
    const now = isThere ? await citedNow(context, place) : undefined;
    if (now) for (const part of own) addTo(cited, part.address, now);
    else if (!isSection) return undefined;
    // Given evidence replaces what is gone; the change of the record makes its mention fresh.
    else if (!given) {
      throw new MemoryError('invalid_input', `${message} It cannot be verified.`, {
        hint: `Edit the section so that it names the present code, or verify ${parseAddress(address).path}.`,
      });
    }
  }
  return cited;
}

async function citedNow(context: Context, place: string): Promise<GivenEvidence | undefined> {
  try {
    return (await context.project.cite([place]))[0];
  } catch (error) {
    if (error instanceof MemoryError && error.code === 'invalid_input') return undefined;
    throw error;
  }
}
