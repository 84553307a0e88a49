/** Lines of a file, counted from 1, both included. */
export interface Lines {
  readonly first: number;
  readonly last: number;
}

/** A place in the project that a text names: a file or folder, or lines of a file. */
export interface Reference {
  /** Relative to the root of the project, `/` between segments. */
  readonly path: string;
  readonly lines?: Lines | undefined;
}

/** A reference that a text contains. */
export interface FoundReference extends Reference {
  /** Whether its form alone shows that a path is meant; a word counts only if such a file exists. */
  readonly certain: boolean;
}

/** Limit of the text that is searched for references, in characters. */
const maxText = 1024 * 1024;
/** Limit of the references of one text. */
export const maxReferences = 500;
const maxPath = 400;
/** The longest name of a file or folder that file systems allow. */
const maxName = 255;
/** The highest line number. */
const maxLine = 9_999_999;

/** A character that ends a word. */
const separators = '\\s`"\'<>|()[\\]{},;';
/** A word needs one of these to be a path, or lines of one; most words of a text have none. */
const mark = `\\/|\\.[^.:!?*${separators}]|:\\d|#L\\d`;

/**
 * Code between as many backticks as before it, the target of a markdown link, or a word that may be a
 * path; all parts of the former two are bounded. Text between two pieces of code is not code, also where
 * each has two backticks.
 */
const candidates = new RegExp(
  [
    '(?<!`)(`{1,3})(?!`)([^\\n]{1,420}?)(?<!`)\\1(?!`)',
    '\\]\\(\\s{0,3}(?:<([^<>\\n]{1,420})>|([^\\s<>()]{1,420}))',
    `(?<![^${separators}])(?=[^${separators}]*(?:${mark}))[^${separators}]+`,
  ].join('|'),
  'g',
);

/**
 * Finds the references in a text: `path`, `path:40`, `path:40-52` and `path#L40-L52`, in prose, in
 * backticks and in markdown links. Each is returned once, in the order of the text.
 */
export function findReferences(text: string): FoundReference[] {
  const found = new Map<string, FoundReference>();
  const add = (candidate: string, marked: boolean) => {
    const reference = parseReference(candidate);
    if (!reference) return;
    const certain = reference.lines !== undefined || /[/.]/.test(reference.path);
    if (!certain && !marked) return;
    const key = formatReference(reference);
    if (!found.has(key)) found.set(key, { ...reference, certain });
  };
  const searched = text.slice(0, maxText);
  // `matchAll` would copy the expression for each text.
  candidates.lastIndex = 0;
  for (let match = candidates.exec(searched); match; match = candidates.exec(searched)) {
    if (found.size >= maxReferences) break;
    const [word, , code, angled, target] = match;
    if (code !== undefined) {
      add(code, true);
      // A command between backticks can name several files.
      const parts = code.split(/[\s"'`]+/);
      if (parts.length > 1) for (const part of parts) add(part, false);
    } else if (angled !== undefined || target !== undefined) {
      add(decoded(angled ?? target ?? ''), true);
    } else {
      add(word, false);
    }
  }
  return [...found.values()].slice(0, maxReferences);
}

/** Reads one reference; undefined for a text that is not one, or that leads out of the project. */
export function parseReference(text: string): Reference | undefined {
  if (text.length > maxPath + 20) return undefined;
  const plain = withoutPunctuation(text.trim());
  const [, path = '', hash, hashEnd, first = hash, last = hashEnd ?? first] =
    /^(.*?)(?:#L(\d{1,8})(?:C\d{1,4})?(?:-L?(\d{1,8})(?:C\d{1,4})?)?|:(\d{1,8})(?:-(\d{1,8})|:\d{1,5})?)?$/.exec(
      plain,
    ) ?? [];
  const clean = path.replace(/^\.\//, '').replace(/\/$/, '');
  if (!isProjectPath(clean)) return undefined;
  if (first === undefined) return { path: clean };
  const lines = { first: Number(first), last: Number(last ?? first) };
  if (lines.first < 1 || lines.last < lines.first || lines.last > maxLine) return undefined;
  return { path: clean, lines };
}

/** Writes a reference in its shortest form. */
export function formatReference({ path, lines }: Reference): string {
  if (!lines) return path;
  const { first, last } = lines;
  return first === last ? `${path}:${first}` : `${path}:${first}-${last}`;
}

/** Whether a text can be the path of a file in the project, outside of git's files and the memory. */
export function isProjectPath(path: string): boolean {
  if (path === '' || path.length > maxPath || /[\0-\x1f\x7f\\:*?"<>|]/.test(path)) return false;
  const parts = path.split('/');
  return !parts.some(
    (part) =>
      part === '' ||
      part === '.' ||
      part === '..' ||
      part.length > maxName ||
      /^\.(?:git|memory-bank)$/i.test(part),
  );
}

/** Removes the punctuation and emphasis that a sentence puts around a path. */
function withoutPunctuation(text: string): string {
  let end = text.length;
  while (end > 0 && '.,:;!?*'.includes(text.charAt(end - 1))) end -= 1;
  let start = 0;
  while (start < end && text.charAt(start) === '*') start += 1;
  return text.slice(start, end);
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}
