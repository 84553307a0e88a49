/** Returns a content with the line ends of another one. */
export type Restyle = (content: Uint8Array) => Buffer;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Compares a file with its blob as git does after a checkout that converted its line ends (core.autocrlf).
 *
 * @returns how to write a content with the line ends of the blob, if the file differs from it by its
 *   line ends only, or if the file has CRLF throughout and the blob has none.
 */
export function restyleTo(stored: Uint8Array, file: Uint8Array): Restyle | undefined {
  const ends = endsOf(stored);
  if (ends === undefined || isBinary(file)) return undefined;
  const restyle: Restyle = (content) => (ends === 'CRLF' ? toCrlf(content) : toLf(content));
  const isCheckout = ends !== 'CRLF' && endsOf(file) === 'CRLF';
  return isCheckout || restyle(file).equals(stored) ? restyle : undefined;
}

/** The line ends of a text; undefined for a mixture and for no text. */
function endsOf(content: Uint8Array): 'LF' | 'CRLF' | undefined {
  if (isBinary(content)) return undefined;
  let [all, crlf] = [0, 0];
  for (let at = content.indexOf(lineFeed); at >= 0; at = content.indexOf(lineFeed, at + 1)) {
    all += 1;
    if (content[at - 1] === carriageReturn) crlf += 1;
  }
  if (crlf === 0) return 'LF';
  return crlf === all ? 'CRLF' : undefined;
}

function isBinary(content: Uint8Array): boolean {
  return content.includes(0);
}

function toLf(content: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(content).toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

function toCrlf(content: Uint8Array): Buffer {
  return Buffer.from(toLf(content).toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}
