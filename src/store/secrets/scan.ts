import { createHash } from 'node:crypto';
import { assignments, isExample } from './assignment.ts';
import { kinds } from './kinds.ts';

/** A credential that was found in a text. */
export interface Secret {
  /** What it is, with its article: `a GitHub token`. */
  readonly kind: string;
  /** Where it begins in the text. */
  readonly index: number;
  /** Names it without giving it away: the first 16 hexadecimal digits of its SHA-256. */
  readonly fingerprint: string;
  /** The credential itself: for looking it up in values, never for a message or a file. */
  readonly text: string;
}

/** The credentials in a text, in their order; the time it takes is linear in its length. */
export function findSecrets(text: string): Secret[] {
  const found: { kind: string; index: number; secret: string }[] = [];
  const add = (kind: string, match: RegExpExecArray) => {
    const secret = match.groups?.secret ?? match[0];
    found.push({ kind, index: match.index + match[0].lastIndexOf(secret), secret });
  };
  for (const { name, pattern } of kinds) {
    for (const match of text.matchAll(pattern)) if (!isExample(match[0])) add(name, match);
  }
  for (const { name, pattern, judge } of assignments) {
    for (const match of text.matchAll(pattern)) {
      if (judge(match.groups?.secret ?? '', match[0])) add(name, match);
    }
  }
  const secrets: Secret[] = [];
  let end = 0;
  for (const { kind, index, secret } of found.sort((a, b) => a.index - b.index)) {
    // What a form tells more exactly comes first among those that begin in the same place.
    if (index < end) continue;
    end = index + secret.length;
    secrets.push({ kind, index, fingerprint: fingerprint(secret), text: secret });
  }
  return secrets;
}

function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 16);
}
