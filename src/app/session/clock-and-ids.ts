import { randomBytes, randomUUID } from 'node:crypto';
import { Session } from '../../core/memory/session.ts';

/** Crockford's base 32: texts sort like the numbers that they encode. */
const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

let last = 0;

/** Returns the current time, at least a millisecond later than any earlier result. */
export function now(): Date {
  last = Math.max(Date.now(), last + 1);
  return new Date(last);
}

/** Returns a new UUID, version 4. */
export function uuid(): string {
  return randomUUID();
}

/** Returns a new id of 12 characters of `A-Za-z0-9_-`, all equally likely: 72 random bits. */
export function shortId(): string {
  return randomBytes(9).toString('base64url');
}

/** Returns a new session, whose id is a ULID: 26 characters that sort by time, with 80 random bits. */
export function newSession(isAgent = false): Session {
  const begun = now();
  return new Session(() => ulid(begun), isAgent);
}

function ulid(time: Date): string {
  let bits = (BigInt(time.getTime()) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let text = '';
  for (let i = 0; i < 26; i += 1) {
    text = base32.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

/** A session of this program itself, for changes that nobody calls for. */
export function ownSession(): Session {
  const session = newSession();
  session.agent = 'memory-bank';
  return session;
}
