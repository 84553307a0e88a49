/** Largest input of a hook that is read, in bytes. */
export const maxHookInput = 512 * 1024;

/** Returns the text on stdin; undefined for a terminal and for a text that is too long. */
export async function readHookInput(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of process.stdin) {
    bytes += piece.length;
    if (bytes > maxHookInput) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
