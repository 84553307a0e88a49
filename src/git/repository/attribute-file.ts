import { Wildmatch } from './wildmatch.ts';

/** The state of an attribute: a text, set, unset, or undefined for "as if there were no rule". */
export type AttributeState = string | boolean | undefined;

/** One rule of a file of attributes. */
export interface AttributeRule {
  readonly line: string;
  /** The name of a macro that it defines; undefined for a rule for paths. */
  readonly macro: string | undefined;
  readonly states: readonly (readonly [name: string, state: AttributeState])[];
  /** Whether it is for a path, relative to the folder of the file. */
  matches(path: string): boolean;
}

/** Git ignores longer lines. */
const maxLine = 2048;

/** Parses a file of attributes (gitattributes). Lines that git ignores are left out. */
export function parseAttributes(text: string, foldsCase: boolean): AttributeRule[] {
  return text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line): AttributeRule[] => {
      const given = line.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
      if (given === '' || given.startsWith('#') || given.length > maxLine) return [];
      const { name, rest } = splitLine(given);
      const states = rest.split(/[ \t\r]+/).flatMap(parseState);
      if (given.startsWith('[attr]')) {
        return [{ line: given, macro: name.slice('[attr]'.length), states, matches: () => false }];
      }
      // Git ignores patterns for "everything but", and those for folders match no file.
      if (name.startsWith('!') || name.endsWith('/')) return [];
      return [{ line: given, macro: undefined, states, matches: matcher(name, foldsCase) }];
    });
}

function splitLine(line: string): { readonly name: string; readonly rest: string } {
  const quoted = /^"((?:[^"\\]|\\.)*)"(.*)$/.exec(line);
  if (quoted) {
    const [, name = '', rest = ''] = quoted;
    return { name: unquote(name), rest };
  }
  const [name = ''] = /^[^ \t\r]+/.exec(line) ?? [];
  return { name, rest: line.slice(name.length) };
}

/** Resolves the escapes of a quoted pattern, as of a string in C. */
function unquote(text: string): string {
  const bytes = text.replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
    /^\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
  );
  // Octal escapes are bytes of UTF-8.
  return /\\[0-7]{3}/.test(text) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

const escapes: { readonly [letter: string]: string } = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n' },
  ...{ r: '\r', t: '\t', v: '\v' },
};

function parseState(word: string): (readonly [name: string, state: AttributeState])[] {
  const [, sign = '', name = '', value] = /^([-!]?)([\w.][\w.-]*)(?:=(.*))?$/.exec(word) ?? [];
  if (name === '') return [];
  if (sign === '!') return [[name, undefined]];
  return [[name, sign === '-' ? false : (value ?? true)]];
}

function matcher(pattern: string, foldsCase: boolean): (path: string) => boolean {
  const glob = new Wildmatch(pattern.replace(/^\//, ''), foldsCase);
  if (pattern.includes('/')) return (path) => glob.matches(path);
  return (path) => glob.matches(path.slice(path.lastIndexOf('/') + 1));
}
