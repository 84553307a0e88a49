/** Limit of the length of a message and of a pattern; a longer message is not a command. */
export const maxLength = 256;

/** A state of the automaton: it consumes one character that passes `test`, or none without a test. */
interface PatternState {
  readonly test?: RegExp;
  readonly next: PatternState[];
}

/** Builds the states of a piece of a pattern in front of the state that follows it. */
type Piece = (next: PatternState) => PatternState;

/**
 * Compiles a regular expression into a test of whole messages that ignores letter case.
 *
 * It supports characters, `.`, `[…]`, `\d` `\w` `\s`, groups, `|`, `?` `*` `+`, and `^` and `$` at the
 * ends. All possible states of a message are followed at once, so the time is bounded by the length of
 * the pattern times that of the message. The engine of JavaScript is not safe for a pattern from a file:
 * a short one can take exponential time.
 *
 * @returns undefined for a pattern that is invalid or too long, or has counted repeats, look-around or
 *   back-references.
 */
export function commandPattern(source: string): ((message: string) => boolean) | undefined {
  if (source.length > maxLength) return undefined;
  const piece = new Parser(source).parse();
  if (!piece) return undefined;
  const end: PatternState = { next: [] };
  const start = piece(end);
  return (message) => {
    if (message.length > maxLength) return false;
    let states = reach([start]);
    for (const character of message) {
      states = reach([...states].flatMap((s) => (s.test?.test(character) ? s.next : [])));
    }
    return states.has(end);
  };
}

/** The given states, and those that can be reached from them without a character. */
function reach(from: readonly PatternState[]): Set<PatternState> {
  const reached = new Set(from);
  for (const state of reached) {
    if (!state.test) for (const next of state.next) reached.add(next);
  }
  return reached;
}

class Parser {
  #rest: string;

  constructor(source: string) {
    this.#rest = source.replace(/^\^/, '').replace(/(?<!\\)\$$/, '');
  }

  /** Parses the whole pattern; undefined if it is not supported. */
  parse(): Piece | undefined {
    const piece = this.#choice();
    return this.#rest === '' ? piece : undefined;
  }

  #choice(): Piece | undefined {
    const options: Piece[] = [];
    do {
      const option = this.#sequence();
      if (!option) return undefined;
      options.push(option);
    } while (this.#take(/^\|/));
    return (next) => ({ next: options.map((option) => option(next)) });
  }

  #sequence(): Piece | undefined {
    const pieces: Piece[] = [];
    while (this.#rest !== '' && !/^[|)]/.test(this.#rest)) {
      const piece = this.#take(/^\((\?:)?/) ? this.#group() : this.#character();
      if (!piece) return undefined;
      pieces.push(repeated(piece, this.#take(/^[?*+]\??/)));
    }
    return (next) => pieces.reduceRight((following, piece) => piece(following), next);
  }

  #group(): Piece | undefined {
    const piece = this.#choice();
    return this.#take(/^\)/) ? piece : undefined;
  }

  #character(): Piece | undefined {
    const set = this.#take(/^(?:\.|\\[dDsSwW]|\[\^?(?:\\.|[^\\\]])+\])/);
    const one = set ?? this.#take(/^(?:\\[^\p{L}\p{N}]|[^\\^$.*+?()[\]{}|])/u);
    if (one === undefined) return undefined;
    const code = one.codePointAt(one.startsWith('\\') ? 1 : 0)?.toString(16);
    try {
      const test = new RegExp(`^${set ?? `\\u{${code}}`}$`, 'iu');
      return (next) => ({ test, next: [next] });
    } catch {
      return undefined;
    }
  }

  #take(syntax: RegExp): string | undefined {
    const found = syntax.exec(this.#rest)?.[0];
    this.#rest = this.#rest.slice(found?.length ?? 0);
    return found;
  }
}

function repeated(piece: Piece, quantifier: string | undefined): Piece {
  switch (quantifier?.[0]) {
    case '?':
      return (next) => ({ next: [piece(next), next] });
    case '*':
    case '+':
      return (next) => {
        const again: PatternState = { next: [next] };
        const first = piece(again);
        again.next.push(first);
        return quantifier.startsWith('+') ? first : again;
      };
    default:
      return piece;
  }
}
