import { cutLongTexts, type RestOfText } from '../values/cut-text.ts';
import { fitValue } from '../values/fit-value.ts';
import { isObject, type JsonObject } from '../values/json.ts';
import { countWithin, roomOfEach, sizeOf, sum } from '../values/size-budget.ts';

/**
 * Maximum size of an answer for a model, in characters of its JSON: about 15,000 tokens.
 *
 * A client that gets more shows none of it: the limit of Claude Code is 25,000 tokens.
 */
export const maxAnswer = 60_000;

/** The lists of an answer that can grow, and how the rest of each is asked for. */
export interface GrowingLists {
  /** `{offset}` stands for the number of items that the answer has passed. */
  readonly [list: string]: string;
}

/** An answer that fits, and the sentence about the items that were left out. */
export interface LimitedAnswer {
  readonly value: JsonObject;
  readonly note: string | undefined;
}

/** The list of damaged records, which any answer can have. */
const always: GrowingLists = { damaged: '"memory-bank check" reports all' };

/** How the rest of an answer is asked for. */
export interface AnswerRest {
  readonly lists?: GrowingLists | undefined;
  /** The number of items that the caller has skipped. */
  readonly offset?: number;
  readonly text?: RestOfText;
  /** How all of a list or object is read that is not one of `lists`. */
  readonly others?: string;
  /** The members of the answer that stay whole, however long they are. */
  readonly complete?: readonly string[] | undefined;
}

/** How the rest of a text is read where no argument asks for it. */
export const openFile: RestOfText = () => 'Open the file of the record below .memory-bank/.';

/**
 * Shortens the growing lists of an answer, then its longest texts, then everything else, until it fits.
 *
 * The key `left_out` of the answer counts the items that it lacks.
 */
export function limitAnswer(
  value: JsonObject,
  { lists, offset, text = openFile, others = openRecords, complete }: AnswerRest = {},
  limit = maxAnswer,
): LimitedAnswer {
  // Measuring a long answer takes time: one that fits is measured once.
  if (sizeOf(value) <= limit) return { value, note: undefined };
  const short = limitLists(value, lists, offset, limit);
  const cut = cutLongTexts(short.value, limit, text);
  if (sizeOf(cut) <= limit) return { ...short, value: cut };
  const fitted = fitValue(cut, limit - reserve, text, complete);
  if (fitted.leftOut.size === 0) return { ...short, value: fitted.value };
  const known = isObject(cut.left_out) ? cut.left_out : {};
  const counts = [...fitted.leftOut].slice(0, maxCounts);
  const sentences = counts.map(([name, rest]) => sentence(rest, name, others));
  const note = [short.note, ...sentences].filter((one) => one !== undefined).join(' ');
  return {
    value: { ...fitted.value, left_out: { ...known, ...Object.fromEntries(counts) } },
    note,
  };
}

/** Limit of the lists and objects whose lengths `left_out` gives. */
const maxCounts = 5;

const openRecords = 'open the files of the records below .memory-bank/';

function sentence(rest: number, name: string, how: string): string {
  return `${rest} more ${name} do not fit into this answer: ${how}.`;
}

/**
 * Shortens the growing lists of an answer.
 *
 * Items are left out at the end of a list, and never all of them. A short list stays whole: the longest
 * lists are shortened first. The key `left_out` of the answer counts the items.
 */
function limitLists(
  value: JsonObject,
  lists: GrowingLists = {},
  offset = 0,
  limit = maxAnswer,
): LimitedAnswer {
  const grown = Object.entries({ ...always, ...lists }).flatMap(([name, way]) => {
    const items = value[name];
    return Array.isArray(items) && items.length > 0 ? [{ name, way, items }] : [];
  });
  const whole = { value, note: undefined };
  if (grown.length === 0) return whole;
  const over = sizeOf(value) - limit;
  const measured = grown.map((list) => ({
    ...list,
    sizes: list.items.map((item) => sizeOf(item) + 1),
  }));
  const total = measured.reduce((all, { sizes }) => all + sum(sizes), 0);
  const room = roomOfEach(
    measured.map(({ sizes }) => sum(sizes)),
    Math.max(0, total - over - reserve),
  );
  const short: JsonObject = { ...value };
  const left_out: JsonObject = {};
  const sentences: string[] = [];
  for (const { name, way, items, sizes } of measured) {
    const kept = countWithin(sizes, room, (size) => size, 1);
    const rest = items.length - kept;
    if (rest === 0) continue;
    short[name] = items.slice(0, kept);
    left_out[name] = rest;
    const how = way.replace('{offset}', String(offset + kept));
    sentences.push(sentence(rest, name, how));
  }
  if (sentences.length === 0) return whole;
  return { value: { ...short, left_out }, note: sentences.join(' ') };
}

/** Characters kept for the key `left_out`. */
const reserve = 400;
