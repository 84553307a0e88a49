/**
 * Returns a hash of texts and numbers, 52 bits as 13 hexadecimal digits.
 *
 * It shows damage and changes, and protects against nobody: a short process should not have to load
 * the cryptography of node for it.
 */
export function checksum(...parts: readonly (string | Int32Array)[]): string {
  let one = 0xdeadbeef ^ parts.length;
  let other = 0x41c6ce57 ^ parts.length;
  for (const part of parts) {
    const isText = typeof part === 'string';
    for (let i = 0; i < part.length; i++) {
      const word = isText ? part.charCodeAt(i) : (part[i] ?? 0);
      one = Math.imul(one ^ word, 2_654_435_761);
      other = Math.imul(other ^ word, 1_597_334_677);
      // Otherwise the upper bits of a word would not reach the lower ones of the hash.
      one ^= one >>> 15;
    }
    one = Math.imul(one ^ part.length, 2_246_822_507);
    other = Math.imul(other ^ (other >>> 13) ^ part.length, 3_266_489_909);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ (other >>> 13);
  other = Math.imul(other ^ (other >>> 16), 3_266_489_909) ^ (one >>> 13);
  return `${digits(one)}${digits(other).slice(0, 5)}`;
}

function digits(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
