import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const top = resolve(import.meta.dirname, '../..');

/** The built program. */
export const main = join(top, 'dist/main.cjs');

/** The runtime of the program: Node.js, or another one, whose words are the lines of `TEST_RUNTIME`. */
export const [runtime = process.execPath, ...runtimeArgs] =
  process.env.TEST_RUNTIME?.split('\n') ?? [];

/** Makes an empty folder and returns its real path. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'memory-bank-')));
}

/** An environment in which Windows has the same home directory. */
export function withHome(env: NodeJS.ProcessEnv) {
  return env.HOME === undefined ? env : { USERPROFILE: env.HOME, ...env };
}

/** Bundles `probe-server.ts` and returns its path. */
export async function buildProbeServer(): Promise<string> {
  const folder = newFolder();
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const outdir = join(folder, 'dist');
  const { bundle } = await import('../../build.js');
  await bundle('test/support/probe-server.ts', outdir);
  return join(outdir, 'probe-server.js');
}

// biome-ignore lint/suspicious/noExplicitAny: a message of which the test asserts every part
type Message = any;

export interface Start {
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
  /** Command that runs Node.js, such as a tracer, in place of the runtime. */
  readonly program?: string;
}

/** A server process, with messages as plain lines. */
export class RawClient {
  readonly child: ChildProcessWithoutNullStreams;
  /** Output on stdout and stderr so far. */
  out = '';
  err = '';
  readonly exit: Promise<number | null>;
  readonly messages: Message[] = [];
  readonly #waiting = new Set<() => void>();
  #read = 0;
  #over = false;

  constructor(args: readonly string[], { cwd = newFolder(), env = {}, program }: Start = {}) {
    const { PATH } = process.env;
    const options = { cwd, env: withHome({ PATH, HOME: '/home/me', ...env }) };
    const words = program === undefined ? [...runtimeArgs, ...args] : args;
    this.child = spawn(program ?? runtime, words, options);
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
      this.#take();
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.child.stdin.on('error', () => {});
    this.exit = new Promise((done) => {
      this.child.on('close', (code) => {
        this.#over = true;
        this.#take();
        done(code);
      });
    });
  }

  send(...messages: (object | string)[]): this {
    for (const message of messages) {
      const line = typeof message === 'string' ? message : JSON.stringify(message);
      this.child.stdin.write(`${line}\n`);
    }
    return this;
  }

  request(id: number | string, method: string, params?: object): this {
    return this.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
  }

  notify(method: string, params?: object): this {
    return this.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  call(id: number | string, name: string, args: unknown = {}, meta?: object): this {
    return this.request(id, 'tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  initialize(capabilities: object = {}, clientInfo = { name: 'raw', version: '1' }): this {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    return this.request('init', 'initialize', params).notify('notifications/initialized');
  }

  /** Returns the first matching message, past or future. */
  find(matches: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.messages.find(matches);
        if (found === undefined && !this.#over) return;
        this.#waiting.delete(look);
        if (found === undefined) reject(new Error(`no such message; stderr: ${this.err}`));
        else resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Returns the answer to a request. */
  answer(id: number | string | null): Promise<Message> {
    return this.find((message) => message.id === id && !('method' in message));
  }

  /** Returns the first notification or request of the server for a method. */
  told(method: string): Promise<Message> {
    return this.find((message) => message.method === method);
  }

  /** Ends stdin and waits for the process to exit. */
  end(): Promise<number | null> {
    this.child.stdin.end();
    return this.exit;
  }

  #take(): void {
    for (
      let end = this.out.indexOf('\n', this.#read);
      end >= 0;
      end = this.out.indexOf('\n', this.#read)
    ) {
      const message = JSON.parse(this.out.slice(this.#read, end));
      this.#read = end + 1;
      this.messages.push(message);
    }
    for (const look of this.#waiting) look();
  }
}
