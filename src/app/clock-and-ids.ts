import { randomBytes, randomUUID } from 'node:crypto';

/** Crockford's base 32: sorts like the numbers it stands for. */
const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

let last = 0;

/** The present time, at least a millisecond later than what an earlier call returned. */
export function now(): Date {
  last = Math.max(Date.now(), last + 1);
  return new Date(last);
}

/** A new UUID, version 4. */
export function uuid(): string {
  return randomUUID();
}

/** A new id of 12 characters of `A-Za-z0-9_-`, each of them equally likely: 72 random bits. */
export function shortId(): string {
  return randomBytes(9).toString('base64url');
}

/** A new session id in the form of a ULID: 26 characters that sort by time, then 80 random bits. */
export function sessionId(): string {
  let bits = (BigInt(now().getTime()) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  let text = '';
  for (let i = 0; i < 26; i += 1) {
    text = base32.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}
