/** Where mutations take their decisions: the same seed gives the same run. */
export interface Dice {
  /** A whole number from 0 to `below` - 1. */
  roll(below: number): number;
}

/** Mulberry32. */
export function dice(seed: number): Dice {
  let state = seed | 0;
  return {
    roll(below) {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
    },
  };
}

/** Inputs do not grow beyond this, in bytes. */
const maxLength = 64 * 1024;

const interesting = [0, 1, 0x20, 0x7f, 0x80, 0xff];

/**
 * A changed copy of an input: bits and bytes set, pieces removed, doubled, moved, repeated many
 * times, taken from another input or from the words that mean something to the parser.
 */
export function mutate(
  input: Buffer,
  other: Buffer,
  words: readonly Buffer[],
  { roll }: Dice,
): Buffer {
  let bytes = Buffer.from(input);
  for (let step = roll(6) + 1; step > 0; step--) {
    const at = roll(bytes.length + 1);
    const length = roll(Math.min(bytes.length - at, 1 << roll(10)) + 1);
    const before = bytes.subarray(0, at);
    const piece = bytes.subarray(at, at + length);
    const after = bytes.subarray(at + length);
    const word = words[roll(words.length)] ?? Buffer.alloc(0);
    switch (roll(9)) {
      case 0:
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << roll(8));
        break;
      case 1:
        if (at < bytes.length) bytes[at] = interesting[roll(interesting.length)] ?? roll(256);
        break;
      case 2:
        bytes = Buffer.concat([before, after]);
        break;
      case 3:
        bytes = Buffer.concat([before, piece, piece, after]);
        break;
      case 4: {
        const times = 1 << roll(12);
        const unit = roll(2) === 0 ? word : piece.subarray(0, 32);
        const repeated = Array.from({ length: times }, () => unit);
        if (unit.length * times <= maxLength) bytes = Buffer.concat([before, ...repeated, after]);
        break;
      }
      case 5: {
        const from = roll(other.length + 1);
        bytes = Buffer.concat([before, other.subarray(from, from + 1 + roll(256)), after]);
        break;
      }
      case 6:
      case 7:
        bytes = Buffer.concat([before, word, after]);
        break;
      default: {
        const to = roll(before.length + 1);
        bytes = Buffer.concat([before.subarray(0, to), piece, before.subarray(to), after]);
      }
    }
  }
  return Buffer.from(bytes.subarray(0, maxLength));
}
