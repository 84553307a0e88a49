import { labelledParts, settled } from '../../core/declarations/labelled-parts.ts';
import { kindOf } from '../../core/declarations/part-kinds.ts';
import { outline } from '../../core/markdown/sections.ts';
import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import {
  firstParagraphs,
  isUnfilled,
  keyFor,
  lineAt,
  plainLine,
  wordCount,
} from './source-text.ts';

const folder =
  /(?:^|\/)(?:adrs?|decisions?|decision[-_]?(?:records?|logs?)|architect(?:ure|ural)[-_](?:decisions?|decision[-_]records?)|architecture\/decisions)\/(?:[^/]+\/)*[^/]+\.(?:md|markdown)$/i;
const template =
  /(?:^|\/)(?:[^/]*templates?[^/]*|readme|index|_[^/]*|glossary)(?:\.(?:md|markdown)$|\/)/i;
/** Words of the states of a decision that holds, and of one that does not. */
const holds =
  /\b(?:accepted|approved|adopted|implemented|decided|active|done|agreed|in effect|akzeptiert|angenommen|beschlossen|accepté|adopté|approuvé|aceptad[oa]|aprobad[oa]|aceit[oa]|aprovad[oa])\b|принят|утвержд|已接受|已采纳|已通过|接受|采纳|承認|採用/i;
const holdsNot =
  /\b(?:proposed|draft|rejected|declined|deprecated|supersed\w*|superced\w*|replaced|obsolete|withdrawn|pending|in review|under review|wip|on hold|abandoned|retired|amended|vorgeschlagen|abgelehnt|ersetzt|proposé|rejeté|remplacé|propuest[oa]|rechazad[oa]|propost[oa]|rejeitad[oa])\b|отклон|предлож|заменен|已废弃|已取代|提议|草案|廃止|提案/i;
const stateLabel =
  /^[ \t>*_+-]{0,8}(?:status|state|zustand|statut|estado|статус|状态|ステータス)[ \t*_]{0,4}[:：][ \t*_]{0,4}(.{1,120})$/im;
const stateHeading = /^(?:status|state|zustand|statut|estado|статус|状态|ステータス)$/i;
/** A text that goes on below, or that discusses without a decision. */
const undecided =
  /[:：]$|^(?:we (?:discussed|considered|looked at|investigated|explored|defer)|(?:the )?options?\b(?! \w+ (?:was|is))|there (?:are|were) (?:\w+ ){1,3}(?:options|alternatives|choices|ways)|@|no decision|to be (?:decided|defined)|not yet|undecided|n\/a\b|none\b)/i;
const number =
  /^(?:(?:(?:adr|ad|dr|rfc|mdr)[- #:]{0,3})?(?:\d{1,5}[a-z]?\s*[.:–—-]+\s*|\d{3,5}\s+)|adr\s*[-:]+\s*)+/i;

/** Whether a file of the project is the record of a decision. */
export function isDecisionRecord(path: string): boolean {
  return folder.test(path) && !template.test(path) && !/(?:^|\/)\.memory-bank\//.test(path);
}

/** The decision of a decision record that holds; undefined for any other text. */
export function recordedDecision(path: string, text: string): ProposedEntry | undefined {
  const sections = outline(text);
  const [first] = sections;
  if (!first || stateOf(text, sections) === 'no') return undefined;
  const title = plainLine(first.heading)
    .replace(number, '')
    .replace(/[.\s]+$/, '');
  if (wordCount(title) < 2 || kindOf(title) !== undefined || isUnfilled(title)) return undefined;
  const parts = settled(
    sections.flatMap(({ heading, bodyStart, bodyEnd }) =>
      labelledParts(text, bodyStart, bodyEnd, kindOf(heading)),
    ),
  );
  const textOf = (name: string) => {
    const part = parts.find(
      ({ kind, start, end }) => kind?.name === name && /\S/.test(text.slice(start, end)),
    );
    if (!part) return undefined;
    const said = text.slice(part.start, part.end);
    return { said: firstParagraphs(said), at: part.start + said.search(/\S/) };
  };
  const decision = textOf('decision');
  if (!decision || wordCount(decision.said) < 4 || isUnfilled(decision.said)) return undefined;
  if (undecided.test(decision.said)) return undefined;
  const context = textOf('context');
  const known = context && !isUnfilled(context.said) && wordCount(context.said) >= 4;
  return {
    kind: 'decision record',
    category: 'decisions',
    key: keyFor(title),
    value: `${title}: ${decision.said}`,
    ...(known && { reason: context.said }),
    source: `${path}:${lineAt(text, decision.at)}`,
    evidence: [path],
  };
}

/** Whether the text says that the decision holds; undefined if it says nothing. */
function stateOf(text: string, sections: ReturnType<typeof outline>): 'yes' | 'no' | undefined {
  const own = sections.find(({ heading }) => stateHeading.test(heading.trim()));
  const below = own && text.slice(own.bodyStart, own.end);
  const [, labelled] = stateLabel.exec(text.slice(0, 4000)) ?? [];
  const said = [below ?? '', labelled ?? ''].join('\n').slice(0, 1000);
  if (/^\s*$/.test(said)) return undefined;
  if (holdsNot.test(said)) return 'no';
  return holds.test(said) ? 'yes' : 'no';
}
