import { createHash } from 'node:crypto';
import type { SearchFields } from '../../core/record-type.ts';
import { assignments, isExample, kindByName } from './assignment.ts';
import { type Kind, kinds } from './kinds.ts';
import { PlainText } from './plain-text.ts';

/** A title that names a credential is no longer than this, in characters. */
const maxTitle = 200;

/** A credential that was found in a text. */
export interface Secret {
  /** Its kind, with an article: `a GitHub token`. */
  readonly kind: string;
  /** Where it begins in the text. */
  readonly index: number;
  /** Names it without giving it away, however it is written: the first 16 hexadecimal digits of its SHA-256. */
  readonly fingerprint: string;
  /** The credential as it is written: for looking it up in values, never for a message or a file. */
  readonly text: string;
}

/**
 * The credentials in a text, in their order, also where they are veiled; see `PlainText`. The time it
 * takes is linear in the length of the text.
 */
export function findSecrets(text: string): Secret[] {
  const found = findIn(text);
  const plain = PlainText.of(text);
  if (!plain) return found;
  for (const secret of findIn(plain.text)) {
    const index = plain.inOriginal(secret.index);
    const end = plain.inOriginal(secret.index + secret.text.length);
    const overlaps = found.some((one) => one.index < end && index < one.index + one.text.length);
    if (!overlaps) found.push({ ...secret, index, text: text.slice(index, end) });
  }
  return found.sort((a, b) => a.index - b.index);
}

/** The credentials that a text holds as it is. */
function findIn(text: string): Secret[] {
  const found: { kind: string; index: number; secret: string }[] = [];
  const look = ({ name, pattern }: Kind, judge: (secret: string, match: string) => boolean) => {
    // Each form is tried on each text, mostly in vain: `matchAll` would copy it every time.
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const secret = match.groups?.secret ?? match[0];
      if (!judge(secret, match[0])) continue;
      const index = text.lastIndexOf(secret, match.index + match[0].length - 1);
      found.push({ kind: name, index, secret });
    }
  };
  for (const kind of kinds) look(kind, (secret) => !isExample(secret));
  for (const kind of assignments) look(kind, kind.judge);
  const secrets: Secret[] = [];
  let end = 0;
  for (const { kind, index, secret } of found.sort((a, b) => a.index - b.index)) {
    // Of two matches with the same start, the more specific one comes first.
    if (index < end) continue;
    end = index + secret.length;
    secrets.push({ kind, index, fingerprint: fingerprint(secret), text: secret });
  }
  return secrets;
}

/**
 * The credential that a record is as a whole: its title says what the one word below it is.
 *
 * @param text what the record is written as.
 */
export function findNamedSecret({ title, body = '' }: SearchFields, text: string): Secret[] {
  if (title.length > maxTitle) return [];
  const written = body.trim();
  const secret = plainOf(written);
  const kind = kindByName(plainOf(title), secret);
  const index = text.indexOf(written);
  if (kind === undefined || index < 0) return [];
  return [{ kind, index, fingerprint: fingerprint(secret), text: written }];
}

function plainOf(text: string): string {
  return PlainText.of(text)?.text ?? text;
}

function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}
