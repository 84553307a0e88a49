import { fstatSync, readSync } from 'node:fs';
import { parseInput } from '../../app/hook/client-event.ts';

/** Largest input of a hook that is read, in bytes. */
export const maxHookInput = 512 * 1024;

/**
 * Returns the text on stdin; undefined for a terminal and for a text that is too long.
 *
 * The streams of node would take longer to load than the answer. A JSON object is complete without the
 * end of stdin, which some clients keep open.
 */
export async function readHookInput(): Promise<string | undefined> {
  if (isDevice(0)) return undefined;
  const pieces: Buffer[] = [];
  const piece = Buffer.alloc(64 * 1024);
  for (let bytes = 0; bytes <= maxHookInput; ) {
    let read: number;
    try {
      read = readSync(0, piece);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // Windows reports the end of a pipe in this way.
      if (code === 'EOF') read = 0;
      // The other end is not blocking, and has written nothing yet.
      else if (code === 'EAGAIN') return restOf(pieces);
      else throw error;
    }
    bytes += read;
    pieces.push(Buffer.from(piece.subarray(0, read)));
    if (read === 0 || isObject(pieces)) {
      return bytes > maxHookInput ? undefined : Buffer.concat(pieces).toString('utf8');
    }
  }
  return undefined;
}

/** Whether a file descriptor is a terminal or another device, such as /dev/null. */
export function isDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice();
  } catch {
    return true;
  }
}

/** Whether these pieces are a whole JSON object. */
function isObject(pieces: readonly Buffer[]): boolean {
  const text = pieces.at(-1)?.toString('latin1').trimEnd();
  if (text?.at(-1) !== '}') return false;
  return parseInput(Buffer.concat(pieces).toString('utf8')) !== undefined;
}

async function restOf(pieces: Buffer[]): Promise<string | undefined> {
  let bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  for await (const piece of process.stdin) {
    bytes += piece.length;
    if (bytes > maxHookInput) return undefined;
    pieces.push(piece);
    if (isObject(pieces)) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}
