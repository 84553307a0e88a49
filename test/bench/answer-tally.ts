import type { JsonObject } from '../../src/core/values/json.ts';

/** A question, and the records or sections that answer it. */
export interface AnswerQuestion {
  readonly kind: string;
  readonly question: string;
  /** Texts of which one must be visible in the hit. */
  readonly answers: readonly string[];
  readonly at: readonly { readonly path: string; readonly section?: string }[];
}

/** Fields of a hit that say where it is, and not what it says. */
const places: readonly string[] = ['path', 'key', 'score', 'lines', 'also', 'matches', 'explain'];

/** Counts the questions whose record is found, and whose answer is visible in the first hit. */
export class AnswerTally {
  #count = 0;
  #first = 0;
  #three = 0;
  #five = 0;
  #visible = 0;

  /** @returns what is wrong in words, or undefined. */
  add({ at, answers }: AnswerQuestion, hits: readonly JsonObject[]): string | undefined {
    const rank = hits.findIndex((hit) => at.some((place) => isAt(hit, place)));
    const [first] = hits;
    const isVisible = first !== undefined && rank === 0 && shows(first, answers);
    this.#count += 1;
    this.#first += Number(rank === 0);
    this.#three += Number(rank >= 0 && rank < 3);
    this.#five += Number(rank >= 0 && rank < 5);
    this.#visible += Number(isVisible);
    if (rank !== 0) return rank < 0 ? 'not found' : `rank ${rank + 1}`;
    return isVisible ? undefined : 'answer not visible';
  }

  /** Questions, right first, in the first three and five, answer visible, and its share of the right. */
  cells(): string[] {
    const share = (value: number) => `${value} (${percent(value, this.#count)})`;
    const found = [this.#first, this.#three, this.#five, this.#visible].map(share);
    return [String(this.#count), ...found, percent(this.#visible, this.#first)];
  }
}

export const answerHead = [
  '',
  'questions',
  'right first',
  'in the first 3',
  'in the first 5',
  'answer visible',
  'of the right',
];

function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${((100 * part) / whole).toFixed(0)} %`;
}

/** Whether a hit is a record, or a section of it, or in that section. */
function isAt({ path, section }: JsonObject, place: AnswerQuestion['at'][number]): boolean {
  if (path !== place.path) return false;
  const wanted = place.section && plain(place.section);
  return (
    !wanted ||
    String(section ?? '')
      .split(' > ')
      .some((heading) => plain(heading) === wanted)
  );
}

/** A heading without its date. */
function plain(heading: string): string {
  return heading.replace(/ - \d{4}-\d\d-\d\d$/, '').toLowerCase();
}

function shows(hit: JsonObject, answers: readonly string[]): boolean {
  const seen = Object.entries(hit).filter(([field]) => !places.includes(field));
  const text = words(JSON.stringify(seen.map(([, value]) => value)));
  return answers.some((answer) => ` ${text} `.includes(` ${words(answer)} `));
}

/** The words of a text, without marks: an answer is not a part of a word, but a number has a unit. */
function words(text: string): string {
  const spaced = /\p{Script=Han}|\p{Script=Hangul}/u.test(text)
    ? text.replace(/(\p{Script=Han}|\p{Script=Hangul})/gu, ' $1 ')
    : text;
  return spaced
    .toLowerCase()
    .replace(/(\p{N})(?=\p{L})/gu, '$1 ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
