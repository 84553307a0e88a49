import { Console } from 'node:console';
import type { Readable, Writable } from 'node:stream';
import { jsonText } from '../../core/values/json.ts';

/** The limit of a message, in bytes; a longer one is refused and skipped. */
export const maxMessageBytes = 16 * 1024 * 1024;

/** Bytes kept of each end of a message over the limit, to find its id. */
const edgeBytes = 512;

const newline = 0x0a;

/** The error codes of JSON-RPC 2.0 for messages that cannot be read. */
export const parseError = -32700;
export const invalidRequest = -32600;

export type MessageId = string | number | null;

/** Returns an error response of JSON-RPC 2.0. */
export function errorResponse(id: MessageId, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } } as const;
}

/**
 * Reserves stdout for the protocol: what any other code prints goes to stderr.
 *
 * @returns the real stdout.
 */
export function claimStdout(): Writable {
  const { stdout, stderr } = process;
  Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true });
  globalThis.console = new Console(stderr);
  return stdout;
}

/**
 * JSON values over a pair of streams, one on each line: the stdio transport of MCP.
 *
 * A line that is not JSON in UTF-8, or is over the limit, is answered with an error, and the next one is read.
 * A line that is too long is never in memory as a whole.
 */
export class JsonLines {
  /** Called with each value; the owner sets it before `start`. */
  onvalue: (value: unknown) => void = () => {};
  /** Called once, at the end of the input or when the output is closed. */
  onend: () => void = () => {};
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #line: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #broken = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  start(): void {
    this.#output.on('error', () => {
      this.#broken = true;
      this.stop();
    });
    this.#input.on('error', () => this.stop());
    this.#input.on('end', () => {
      if (this.#bytes > 0) this.#flush();
      this.stop();
    });
    this.#input.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** Stops reading. Values can still be sent. */
  stop(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#input.destroy();
    this.onend();
  }

  /** Writes one value; resolves when it is written or the output is closed. */
  send(value: object): Promise<void> {
    if (this.#broken) return Promise.resolve();
    return new Promise((resolve) => {
      const more = this.#output.write(`${jsonText(value)}\n`, () => resolve());
      if (more || this.#ended) return;
      // Back pressure: read no more requests until the client reads the answers.
      this.#input.pause();
      this.#output.once('drain', () => this.#input.resume());
    });
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      this.#keep(rest.subarray(0, end));
      this.#flush();
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
  }

  /** Adds a piece to the line; only both ends are kept of a line that is too long. */
  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#line.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= maxMessageBytes) return;
    const line = Buffer.concat(this.#line);
    this.#line = [Buffer.from(line.subarray(0, edgeBytes)), Buffer.from(line.subarray(-edgeBytes))];
  }

  #flush(): void {
    const line = Buffer.concat(this.#line);
    const tooLong = this.#bytes > maxMessageBytes;
    this.#line = [];
    this.#bytes = 0;
    if (tooLong) {
      const id = idAtEdge(line.toString('latin1'));
      void this.send(
        errorResponse(id, invalidRequest, `The message is longer than ${maxMessageBytes} bytes.`),
      );
      return;
    }
    let value: unknown;
    try {
      const text = this.#decoder.decode(line).trim();
      if (text === '') return;
      value = JSON.parse(text);
    } catch {
      void this.send(errorResponse(null, parseError, 'The line is not valid JSON in UTF-8.'));
      return;
    }
    this.onvalue(value);
  }
}

/**
 * Returns the id of a request of which only both ends are known, or null.
 *
 * An `id` in the middle can belong to the arguments. Only the first, second or last member of the
 * message is certain to be its own.
 */
function idAtEdge(text: string): MessageId {
  const member = /"id":\s*("[ !#-[\]-~]*"|-?\d+)/.source;
  const first = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc":\\s*"2\\.0",\\s*)?${member}`).exec(text);
  const last = new RegExp(`,\\s*${member}\\s*\\}\\s*$`).exec(text);
  const found = (first ?? last)?.[1];
  return found === undefined ? null : JSON.parse(found);
}
