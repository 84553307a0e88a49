import { damaged } from './index-extensions.ts';

const wordSize = 8;

/**
 * Reads a compressed bitmap (gitformat-bitmap, "EWAH bitmap format").
 *
 * @param count number of the lines that it is for.
 * @returns the positions of its set bits in their order, and the position after it.
 * @throws MemoryError `damaged` for a bit without a line.
 */
export function readBitmap(
  bytes: Buffer,
  from: number,
  count: number,
): { readonly bits: number[]; readonly next: number } {
  if (from + 12 > bytes.length) throw damaged();
  const words = from + 8;
  const end = words + bytes.readUInt32BE(from + 4) * wordSize;
  if (end + 4 > bytes.length) throw damaged();
  const bits: number[] = [];
  const add = (bit: number) => {
    if (bit >= count) throw damaged();
    bits.push(bit);
  };
  let bit = 0;
  for (let at = words; at < end; ) {
    // One bit is repeated over some words, and some words as they are follow.
    const [high, low] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    const repeated = bit + 64 * ((low >>> 1) + 2 ** 31 * (high & 1));
    if (low & 1) while (bit < repeated) add(bit++);
    bit = repeated;
    at += wordSize;
    for (const last = at + wordSize * (high >>> 1); at < last; at += wordSize) {
      if (at + wordSize > end) throw damaged();
      const halves = [bytes.readUInt32BE(at + 4), bytes.readUInt32BE(at)];
      for (const half of halves) {
        for (let i = 0; i < 32; i++, bit++) if ((half >>> i) & 1) add(bit);
      }
    }
  }
  return { bits, next: end + 4 };
}
