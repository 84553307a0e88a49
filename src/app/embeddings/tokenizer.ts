import { isObject, modelError } from './model-folder.ts';
import { normaliser, splitter } from './text-steps.ts';
import { type Pieces, unigram, wordPiece } from './word-pieces.ts';

/** A longer text is cut, in characters. */
const maxText = 20_000;

/** Divides texts into the tokens of a model, as its `tokenizer.json` says. */
export class Tokenizer {
  /** The number of tokens of the model. */
  readonly size: number;
  readonly #normalise: (text: string) => string;
  readonly #split: (text: string) => readonly string[];
  readonly #pieces: Pieces;

  private constructor(
    pieces: Pieces,
    normalise: (text: string) => string,
    split: (text: string) => readonly string[],
  ) {
    this.size = pieces.size;
    this.#pieces = pieces;
    this.#normalise = normalise;
    this.#split = split;
  }

  /**
   * Reads a `tokenizer.json`: the models WordPiece and Unigram, with the steps that they are used with.
   *
   * @throws Error that names the part that is not supported.
   */
  static of(json: unknown): Tokenizer {
    if (!isObject(json) || !isObject(json.model)) {
      throw modelError('tokenizer.json does not describe a tokenizer');
    }
    const { model } = json;
    const pieces =
      model.type === 'WordPiece'
        ? wordPiece(model)
        : model.type === 'Unigram'
          ? unigram(model)
          : undefined;
    if (!pieces) {
      throw modelError(`its tokenizer is of an unknown type: ${JSON.stringify(model.type)}`);
    }
    return new Tokenizer(pieces, normaliser(json.normalizer), splitter(json.pre_tokenizer));
  }

  /** The numbers of the known tokens of a text, at most `limit`. */
  tokens(text: string, limit: number): number[] {
    const found: number[] = [];
    for (const word of this.#split(this.#normalise(text.slice(0, maxText)))) {
      found.push(...this.#pieces.of(word));
      if (found.length >= limit) return found.slice(0, limit);
    }
    return found;
  }
}
