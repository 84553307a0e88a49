import { damaged } from './index-extensions.ts';

/**
 * Formats the name of a line.
 *
 * @param size of the bytes before it.
 * @param previous the name of the line before, for version 4.
 */
export function formatName(name: Buffer, size: number, previous: Buffer | undefined): Buffer {
  return previous ? compressName(name, previous) : padName(name, size);
}

/** Formats a name for versions 2 and 3: at least one zero pads the line to a multiple of eight. */
function padName(name: Buffer, fixedSize: number): Buffer {
  const padding = 8 - ((fixedSize + name.length) % 8);
  return Buffer.concat([name, Buffer.alloc(padding)]);
}

export function compressName(name: Buffer, previous: Buffer): Buffer {
  let common = 0;
  while (common < previous.length && previous[common] === name[common]) common++;
  return Buffer.concat([
    writeOffset(previous.length - common),
    name.subarray(common),
    Buffer.from([0]),
  ]);
}

/** The variable-width number of pack offsets and of version 4 names. */
export function readOffset(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly next: number } {
  let at = from;
  const take = () => {
    const byte = bytes[at++];
    if (byte === undefined) throw damaged();
    return byte;
  };
  let byte = take();
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = take();
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, next: at };
}

function writeOffset(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    rest -= 1;
    bytes.unshift(0x80 | (rest & 0x7f));
  }
  return Buffer.from(bytes);
}
