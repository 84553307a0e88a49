import { createHash } from 'node:crypto';
import type { SearchFields } from '../../core/record/record-type.ts';
import { assignments, isExample, kindByName } from './assignment.ts';
import { forms } from './forms.ts';
import { type Kind, kinds, wordStart } from './kinds.ts';
import { PlainText } from './plain-text.ts';

/** Length limit of a title that names a credential, in characters. */
const maxTitle = 200;

/** A credential that was found in a text. */
export interface Secret {
  /** Its kind, with an article: `a GitHub token`. */
  readonly kind: string;
  /** Where it begins in the text. */
  readonly index: number;
  /** Where it ends, with what belongs to it, such as the other lines of a private key. */
  readonly end: number;
  /** Identifies the plain form without revealing it: the first 16 hexadecimal digits of its SHA-256. */
  readonly fingerprint: string;
  /** The credential as written: to find it in values, never for a message or a file. */
  readonly text: string;
}

/**
 * Finds the credentials in a text, in order, also if they are hidden; see `PlainText`.
 *
 * It takes time linear in the length of the text.
 */
export function findSecrets(text: string): Secret[] {
  const found = findIn(text);
  const plain = PlainText.of(text);
  if (!plain) return found;
  for (const secret of findIn(plain.text)) {
    const index = plain.inOriginal(secret.index);
    const end = plain.inOriginal(secret.index + secret.text.length);
    const overlaps = found.some((one) => one.index < end && index < one.index + one.text.length);
    if (overlaps) continue;
    const whole = plain.inOriginal(secret.end);
    found.push({ ...secret, index, end: whole, text: text.slice(index, end) });
  }
  return found.sort((a, b) => a.index - b.index);
}

/** The kinds whose values are judged one by one. */
const judged = [...assignments, ...forms];

/**
 * Finds any of the kinds: most texts contain none, and one expression reads them once instead of
 * once for each kind.
 */
const anyKind = anyOf(kinds);

/** Joins expressions; the beginning of a word is looked for once for all that begin with one. */
function anyOf(all: readonly Kind[]): RegExp {
  const sources = all.map(({ pattern }) => pattern.source.replaceAll('(?<secret>', '(?:'));
  const [words, others] = [true, false].map((isWord) =>
    sources.filter((source) => source.startsWith(wordStart) === isWord),
  );
  const forms = words?.map((source) => source.slice(wordStart.length)) ?? [];
  return new RegExp([`${wordStart}(?:${forms.join('|')})`, ...(others ?? [])].join('|'));
}

/** Finds the credentials that a text contains as they are. */
function findIn(text: string): Secret[] {
  const found: { kind: string; index: number; secret: string; end: number }[] = [];
  let lower: string | undefined;
  const contains = (needs: readonly string[], { ignoreCase }: RegExp) => {
    if (ignoreCase) lower ??= text.toLowerCase();
    const searched = ignoreCase && lower !== undefined ? lower : text;
    return needs.some((one) => searched.includes(one));
  };
  const look = (kind: Kind, judge: (secret: string, match: string) => boolean) => {
    const { name, pattern, needs, rest } = kind;
    if (needs && !contains(needs, pattern)) return;
    // `matchAll` would copy the expression for each text, and most do not match.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const secret = match.groups?.secret ?? match[0];
      if (!judge(secret, match[0])) continue;
      const index = text.lastIndexOf(secret, match.index + match[0].length - 1);
      const end = index + secret.length;
      found.push({ kind: name, index, secret, end: end + restAt(text, end, rest) });
    }
  };
  if (anyKind.test(text)) {
    for (const kind of kinds) look(kind, (secret) => !isExample(secret));
  }
  for (const kind of judged) look(kind, kind.judge);
  const secrets: Secret[] = [];
  let last = 0;
  for (const { kind, index, secret, end } of found.sort((a, b) => a.index - b.index)) {
    // Of two matches with the same start, the more specific one comes first.
    if (index < last) continue;
    last = index + secret.length;
    secrets.push({ kind, index, end, fingerprint: fingerprint(secret), text: secret });
  }
  return secrets;
}

/** The length of what belongs to the credential that ends here. */
function restAt(text: string, end: number, rest: RegExp | undefined): number {
  if (!rest) return 0;
  rest.lastIndex = end;
  return rest.exec(text)?.[0].length ?? 0;
}

/**
 * Finds the credential in a record whose body is one word and whose title says what it is.
 *
 * @param text the encoded record.
 */
export function findNamedSecret({ title, body = '' }: SearchFields, text: string): Secret[] {
  if (title.length > maxTitle) return [];
  const word = body.trim();
  // A text of several words, as most are, is not a credential in any form.
  if (/[ \n]/.test(word)) return [];
  const secret = plainOf(word);
  const kind = kindByName(plainOf(title), secret);
  const index = text.indexOf(word);
  if (kind === undefined || index < 0) return [];
  const end = index + word.length;
  return [{ kind, index, end, fingerprint: fingerprint(secret), text: word }];
}

/** Whether the text of a record contains a credential. */
export function hasSecret(text: string, fields?: SearchFields): boolean {
  if (findSecrets(text).length > 0) return true;
  return fields !== undefined && findNamedSecret(fields, text).length > 0;
}

function plainOf(text: string): string {
  return PlainText.of(text)?.text ?? text;
}

function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}
