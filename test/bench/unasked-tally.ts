import { share } from './figures.ts';

/** A prompt, and what a hook should add to it. */
export interface UnaskedPrompt {
  /** No record is about it; it shares words with records only; a record answers it. */
  readonly kind: 'nothing' | 'words' | 'answered';
  readonly prompt: string;
  /** The memory; undefined for a prompt that is put to all of them. */
  readonly bank?: string;
  /** Texts of which one must be visible. */
  readonly answers?: readonly string[];
  /** The records or sections that answer. */
  readonly at?: readonly {
    readonly path?: string;
    readonly section?: string;
    /** The name of the file without its ending. */
    readonly key?: string;
  }[];
}

/** Counts what a hook adds to prompts. */
export class UnaskedTally {
  static readonly head = [
    '',
    'about nothing: answered',
    'words only: answered',
    'with an answer: right record',
    'answer visible, of the right',
    'right of the lines',
  ];
  readonly #asked = { nothing: 0, words: 0, answered: 0 };
  readonly #false = { nothing: 0, words: 0 };
  #right = 0;
  #visible = 0;
  #lines = 0;
  #rightLines = 0;

  /** @returns what is wrong in words, or undefined. */
  add(one: UnaskedPrompt, text: string): string | undefined {
    this.#asked[one.kind] += 1;
    const lines = text.split('\n').filter((line) => line.startsWith('- '));
    if (one.kind !== 'answered') {
      if (text === '') return undefined;
      this.#false[one.kind] += 1;
      return `${one.kind}: ${lines[0]?.slice(0, 160)}`;
    }
    const right = lines.filter((line) => isRight(line, one));
    const shown = right.some((line) => shows(line, one));
    this.#right += Number(right.length > 0);
    this.#visible += Number(shown);
    this.#lines += lines.length;
    this.#rightLines += right.length;
    if (right.length === 0) return lines.length === 0 ? 'silent' : `wrong: ${lines[0]}`;
    return shown ? undefined : `answer not visible: ${right[0]}`;
  }

  cells(): string[] {
    const { nothing, words, answered } = this.#asked;
    return [
      share(this.#false.nothing, nothing),
      share(this.#false.words, words),
      share(this.#right, answered),
      share(this.#visible, this.#right),
      share(this.#rightLines, this.#lines),
    ];
  }
}

function isRight(line: string, one: UnaskedPrompt): boolean {
  if (shows(line, one)) return true;
  const [, path = ''] = /^- ([^:]*?)(?: \(.*?\))?: /.exec(line) ?? [];
  return (one.at ?? []).some(
    (place) =>
      (place.path ?? path) === path &&
      (place.key === undefined || path.endsWith(`/${place.key}.md`)) &&
      (place.section === undefined || line.includes(place.section)),
  );
}

function shows(line: string, { answers = [] }: UnaskedPrompt): boolean {
  const said = plain(line.slice(line.indexOf(': ') + 2));
  return answers.some((answer) => said.includes(plain(answer)));
}

/** A text as answers are compared: without case and the escapes of a quotation. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\\"/g, '"')
    .replace(/["'`“”‘’*_]/g, '')
    .replace(/\s+/g, ' ');
}
