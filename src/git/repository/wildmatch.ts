/** A step of a pattern. */
type Step =
  /** Any one of some characters of a name. */
  | { readonly kind: 'one'; readonly fits: (letter: string) => boolean }
  /** Any part of a name. */
  | { readonly kind: 'star' }
  /** Any number of whole folders. */
  | { readonly kind: 'folders' }
  /** Everything that is left. */
  | { readonly kind: 'rest' };

/** Pattern limit: git itself reads no longer lines of attributes. */
const maxPattern = 2048;

/** Compiles a pattern of git, in which `*` stays within a name (wildmatch with `WM_PATHNAME`). */
export class Wildmatch {
  readonly #steps: readonly Step[];
  readonly #folds: boolean;

  constructor(pattern: string, foldsCase: boolean) {
    this.#folds = foldsCase;
    this.#steps = pattern.length > maxPattern ? [nothing] : parse(this.#fold(pattern));
  }

  /** Whether the pattern matches the whole text; takes at most steps × letters. */
  matches(text: string): boolean {
    const letters = this.#fold(text);
    // The positions that the steps so far can have reached.
    let reached = new Set([0]);
    for (const step of this.#steps) {
      if (reached.size === 0) return false;
      reached = advance(step, letters, reached);
    }
    return reached.has(letters.length);
  }

  #fold(text: string): string {
    return this.#folds ? text.toLowerCase() : text;
  }
}

const nothing: Step = { kind: 'one', fits: () => false };

function advance(step: Step, text: string, reached: ReadonlySet<number>): Set<number> {
  const next = new Set<number>();
  if (step.kind === 'one') {
    for (const at of reached) if (at < text.length && step.fits(text[at] ?? '')) next.add(at + 1);
    return next;
  }
  if (step.kind === 'rest') return next.add(text.length);
  let isOpen = false;
  for (let at = 0; at <= text.length; at++) {
    if (step.kind === 'star') {
      isOpen = reached.has(at) || (isOpen && text[at - 1] !== '/');
      if (isOpen) next.add(at);
    } else {
      if (reached.has(at) || (isOpen && text[at - 1] === '/')) next.add(at);
      isOpen ||= reached.has(at);
    }
  }
  return next;
}

function parse(pattern: string): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; ) {
    const letter = pattern[at] ?? '';
    const [stars = ''] = /^\*+/.exec(pattern.slice(at)) ?? [];
    if (stars !== '') {
      const isWhole = stars.length >= 2 && (at === 0 || pattern[at - 1] === '/');
      const after = pattern[at + stars.length];
      at += stars.length;
      if (isWhole && after === undefined) steps.push({ kind: 'rest' });
      else if (isWhole && after === '/') {
        steps.push({ kind: 'folders' });
        at += 1;
      } else steps.push({ kind: 'star' });
      continue;
    }
    if (letter === '[') {
      const set = parseSet(pattern, at);
      // Like git, for which a set without an end matches nothing.
      if (!set) return [nothing];
      steps.push({ kind: 'one', fits: set.fits });
      at = set.end;
      continue;
    }
    const isEscape = letter === '\\';
    const exact = isEscape ? pattern[at + 1] : letter;
    const isAny = letter === '?';
    steps.push({ kind: 'one', fits: (given) => (isAny ? given !== '/' : given === exact) });
    at += isEscape ? 2 : 1;
  }
  return steps;
}

/** Parses a set such as `[!a-z]`; undefined without its end. */
function parseSet(pattern: string, start: number) {
  let at = start + 1;
  const isNegated = pattern[at] === '!' || pattern[at] === '^';
  if (isNegated) at += 1;
  const fitting: ((letter: string) => boolean)[] = [];
  for (let first = true; first || pattern[at] !== ']'; first = false) {
    if (at >= pattern.length) return undefined;
    const named = /^\[:(\w+):\]/.exec(pattern.slice(at));
    if (named) {
      const kind = namedSets.get(named[1] ?? '');
      if (!kind) return undefined;
      fitting.push((letter) => kind.test(letter));
      at += named[0].length;
      continue;
    }
    if (pattern[at] === '\\') at += 1;
    const low = pattern[at] ?? '';
    at += 1;
    if (pattern[at] !== '-' || pattern[at + 1] === ']' || at + 1 >= pattern.length) {
      fitting.push((letter) => letter === low);
      continue;
    }
    at += pattern[at + 1] === '\\' ? 2 : 1;
    const high = pattern[at] ?? '';
    at += 1;
    fitting.push((letter) => low <= letter && letter <= high);
  }
  const fits = (letter: string) =>
    letter !== '/' && fitting.some((one) => one(letter)) !== isNegated;
  return { fits, end: at + 1 };
}

const namedSets: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /[A-Za-z0-9]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  ['cntrl', /[\x00-\x1f\x7f]/],
  ['digit', /[0-9]/],
  ['graph', /[\x21-\x7e]/],
  ['lower', /[a-z]/],
  ['print', /[\x20-\x7e]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['space', /\s/],
  ['upper', /[A-Z]/],
  ['xdigit', /[A-Fa-f0-9]/],
]);
