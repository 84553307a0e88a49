/** The printable letters that end no string and no script. */
const letters =
  "!#$%&'()*+,-./0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
/** Two letters have so many bits, and the last one alone at most those. */
const pairBits = 13;
const lastBits = 5;

/** Returns bytes as letters: 23 % more of them, where base64 has a third more. */
export function lettersOf(bytes: Uint8Array): string {
  const pieces: string[] = [];
  const add = (value: number) =>
    pieces.push(letters.charAt(value % letters.length), letters.charAt(value / letters.length));
  let [held, count] = [0, 0];
  for (const byte of bytes) {
    held |= byte << count;
    count += 8;
    if (count < pairBits) continue;
    add(held & ((1 << pairBits) - 1));
    held >>= pairBits;
    count -= pairBits;
  }
  if (count > lastBits) add(held);
  else if (count > 0) pieces.push(letters.charAt(held));
  return pieces.join('');
}

/** Reads bytes that are in letters. */
export function bytesIn(text: string): Uint8Array<ArrayBuffer> {
  const values = new Uint8Array(128);
  for (let value = 0; value < letters.length; value++) values[letters.charCodeAt(value)] = value;
  const pairs = Math.floor(text.length / 2);
  const isOdd = text.length > 2 * pairs;
  const whole = (pairs * pairBits) / 8;
  const bytes = new Uint8Array(isOdd ? Math.ceil(whole) : Math.floor(whole));
  const valueAt = (at: number) => values[text.charCodeAt(at)] ?? 0;
  let [held, count, place] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 2) {
    held |= (valueAt(at) + letters.length * valueAt(at + 1)) << count;
    for (count += pairBits; count >= 8 && place < bytes.length; count -= 8) {
      bytes[place++] = held & 255;
      held >>= 8;
    }
  }
  return bytes;
}
