import { answerIn } from '../../core/declarations/answer-text.ts';
import { DecisionParts, type Saying } from '../../core/declarations/decision-parts.ts';
import { withoutFingerprints } from '../../core/evidence/inline-pattern.ts';
import { findReferences } from '../../core/evidence/reference.ts';
import { plainOutline } from '../../core/markdown/plain-outline.ts';
import { replacedSections } from '../../core/markdown/section-statements.ts';
import { contentStart } from '../../core/markdown/sections.ts';
import type { TypedRecord } from '../../core/memory/store.ts';
import { keysOfText } from './command-keys.ts';
import { fileKey, folderKey, type KeyedPassage, passageRanks } from './keyed-passage.ts';

/** Longest record that is searched, in characters. */
const maxText = 256 * 1024;
/** Longest text of a passage: what an action is given of it is shorter. */
const maxPassage = 400;
/** A passage that names more files is about none of them. */
const mostFiles = 4;
/** The fewest letters that say something; those of scripts with a letter for a syllable or word count thrice. */
const leastProse = 20;
/** Limit of the passages of one record. */
const maxPassages = 200;

/** Categories of entries by their rank. */
const ranks: ReadonlyMap<string | undefined, number> = new Map([
  ['corrections', passageRanks.correction],
  ['user-preferences', passageRanks.correction],
  ['decisions', passageRanks.decision],
]);
/** Categories of entries about what to do, which can be about commands. */
const advice: readonly (string | undefined)[] = ['corrections', 'user-preferences', 'patterns'];

/** A text of a record that says one thing. */
interface Statement {
  readonly entry: string | undefined;
  /** As it is shown. */
  readonly text: string;
  /** The text in which it names files. */
  readonly naming: string;
  readonly isDecision: boolean;
}

/**
 * Finds the passages of a record that are about a few files of the project, or about a command.
 *
 * @param evidence the files that the record rests on, as its annotations say.
 * @param most how many files a passage names at most; for measurements.
 */
export function recordPassages(
  { type, path, value }: TypedRecord,
  evidence: readonly string[],
  most = mostFiles,
): KeyedPassage[] {
  const { title, body = '', markdown, reason, notes, category, at } = type.search(value);
  if (body.length > maxText || isActivity(path)) return [];
  const rank = ranks.get(category);
  const texts = [body, reason ?? '', markdown ? '' : (notes ?? '')].join('\n');
  const [point] = markdown ? [] : (type.points?.(value) ?? []);
  const whole = (): Statement => {
    const text = point ? shown('', point.text) : shown(title, answerIn(body));
    return { entry: undefined, text, naming: texts, isDecision: false };
  };
  const statements = markdown ? [...statementsIn(path, title, body)] : [whole()];
  const found: KeyedPassage[] = [];
  const add = ({ entry, text, isDecision }: Statement, keys: readonly string[], files: number) => {
    if (found.length === maxPassages) return;
    const own = rank ?? (isDecision ? passageRanks.decision : passageRanks.other);
    found.push({ path, entry, text, at, rank: own, files, keys });
  };
  const cited = type.cites?.(value) ?? [];
  const given = [...new Set([...evidence, ...cited.map((file) => file.replace(/\/$/, ''))])];
  const commands =
    category !== undefined && advice.includes(category)
      ? keysOfText(category === 'patterns' ? '' : title, `${title}\n${texts}`)
      : [];
  const named = statements.map((statement) => {
    const files = findReferences(statement.naming).flatMap(({ path, certain }) =>
      certain && (markdown || !given.includes(path)) ? [path] : [],
    );
    return { statement, files: new Set(files) };
  });
  // Evidence is about the whole record, unless the text has it: then it is that of an entry.
  const own = markdown ? given.filter((file) => !body.includes(file)) : given;
  const keys = [...own.map(fileKey), ...cited.filter(isNarrow).map(folderKey), ...commands];
  if (keys.length > 0) add(whole(), keys, own.length);
  for (const { statement, files } of named) {
    const mentioned = [...files].filter((file) => !given.includes(file));
    const wanted = mentioned.length > most ? given.filter((file) => files.has(file)) : [...files];
    if (wanted.length > 0) add(statement, wanted.map(fileKey), files.size);
  }
  return found;
}

/** Whether a file is a log of what sessions have done, which advises nobody. */
function isActivity(path: string): boolean {
  return /^(?:progress|activeContext|active-context)\.md$/.test(path);
}

/** Whether a folder is narrow enough for what is about it to be about each file in it. */
function isNarrow(folder: string): boolean {
  return folder.replace(/\/$/, '').includes('/');
}

/** The statements of a markdown text: its decisions, and the paragraphs and items of all other text. */
function* statementsIn(path: string, title: string, text: string): Generator<Statement> {
  const start = contentStart(text);
  const replaced = replacedSections(path, text);
  for (const saying of new DecisionParts(text, start, plainOutline(text, start))) {
    if (saying.section && replaced.has(saying.section.start)) continue;
    const entry = saying.section?.heading.trim();
    if (isDecision(saying)) {
      const answer = textOf(saying, text, (role) => role === 'answer');
      const naming = textOf(saying, text, (role) => role !== 'rejected');
      yield { entry, text: shown(entry ?? title, answer), naming, isDecision: true };
      continue;
    }
    const body = textOf(saying, text, (role) => role !== 'rejected');
    // A heading that names a file says that the text below it is about the file.
    if (entry !== undefined && saysMuch(body)) {
      yield { entry, text: shown(entry, body), naming: entry, isDecision: false };
    }
    for (const piece of pieces(body)) {
      if (!saysMuch(piece)) continue;
      yield { entry, text: shown(entry ?? title, piece), naming: piece, isDecision: false };
    }
  }
}

function isDecision({ parts }: Saying): boolean {
  return parts.some(({ role, kind }) => role === 'answer' && kind?.role === 'answer');
}

function textOf({ parts }: Saying, text: string, isWanted: (role: string) => boolean): string {
  const wanted = parts.filter(({ role }) => isWanted(role));
  return wanted.map(({ start, end }) => text.slice(start, end).trim()).join('\n\n');
}

/** The paragraphs and the items of lists, each item with what is indented below it. */
function pieces(text: string): string[] {
  return text.split(/\n[ \t]*\n|\n(?=(?:[-*+]|\d{1,3}[.)])[ \t])/).map((piece) => piece.trim());
}

/** Whether a text says something about the files that it names, and does not only list them. */
function saysMuch(text: string): boolean {
  const prose = text.slice(0, maxPassage).replace(/`[^`]*`|\]\([^)]*\)|\S*[/\\]\S*/g, ' ');
  let weight = 0;
  for (const letter of prose.match(/\p{L}/gu) ?? []) weight += /\p{Lo}/u.test(letter) ? 3 : 1;
  return weight >= leastProse;
}

function shown(title: string, text: string): string {
  const plain = withoutFingerprints(text.slice(0, 4 * maxPassage)).trim();
  return (plain.includes(title) ? plain : `${title}: ${plain}`).slice(0, maxPassage);
}
