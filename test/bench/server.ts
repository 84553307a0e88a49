import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isObject, type JsonObject, type JsonValue } from '../../src/core/values/json.ts';
import { gitEnv } from '../support/repo.ts';

/** The program as clients start it. */
export const program = resolve('dist/main.cjs');

interface Answer {
  readonly error?: JsonObject;
  readonly result: JsonObject;
}

/** How to start a program that serves MCP over stdio. */
export interface Start {
  readonly command: string;
  readonly args: readonly string[];
  /** Its current directory. */
  readonly folder: string;
  readonly env?: { readonly [name: string]: string };
  /** Whether its log is discarded. */
  readonly quiet?: boolean;
}

/** A program serving one project over stdio. */
export class ServerProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #closed: Promise<unknown>;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #requests = 0;

  private constructor({ command, args, folder, env, quiet = false }: Start) {
    this.#child = spawn(command, args, {
      cwd: folder,
      env: { ...gitEnv, ...env },
      stdio: ['pipe', 'pipe', quiet ? 'ignore' : 'inherit'],
    });
    this.#child.stdin.on('error', () => {});
    this.#closed = new Promise((resolve) => this.#child.once('close', resolve));
    createInterface(this.#child.stdout).on('line', (line) => {
      // Not every program keeps its log off stdout.
      if (!line.startsWith('{')) return;
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    void this.#closed.then(() => {
      const error = { message: `${command} ${args.join(' ')} has ended` };
      for (const answer of this.#waiting.values()) answer({ error, result: {} });
    });
  }

  /** Starts this program and waits for its reply to `initialize`. */
  static start(
    root: string,
    durability: 'full' | 'relaxed' = 'full',
    options: readonly string[] = [],
  ): Promise<ServerProcess> {
    return ServerProcess.open({
      command: process.execPath,
      args: [program, '--root', root, ...options],
      folder: root,
      env: { MEMORY_BANK_DURABILITY: durability },
    });
  }

  /** Starts this program, and asks it for its tools, as every client does before its first call. */
  static async connect(root: string): Promise<ServerProcess> {
    const server = await ServerProcess.start(root);
    await server.tools();
    return server;
  }

  /** Starts any program and waits for its reply to `initialize`. */
  static async open(start: Start): Promise<ServerProcess> {
    const server = new ServerProcess(start);
    await server.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    server.#send({ method: 'notifications/initialized' });
    return server;
  }

  /** @throws Error if the tool fails. */
  async call(name: string, args: JsonObject): Promise<JsonObject> {
    const { structuredContent } = await this.#callTool(name, args);
    return isObject(structuredContent) ? structuredContent : {};
  }

  /**
   * Calls a tool and returns the text that a model gets.
   *
   * @throws Error if the tool fails.
   */
  async text(name: string, args: JsonObject): Promise<string> {
    const { content } = await this.#callTool(name, args);
    const blocks = Array.isArray(content) ? content : [];
    return blocks.map((block) => (isObject(block) ? String(block.text) : '')).join('\n');
  }

  /** The answer to `tools/list`. */
  async tools(): Promise<readonly JsonValue[]> {
    const { tools } = await this.request('tools/list', {});
    return Array.isArray(tools) ? tools : [];
  }

  /** Peak resident memory, in MB. */
  get peakMemory(): number {
    return this.#status('VmHWM');
  }

  /** Current resident memory, in MB. */
  get memory(): number {
    return this.#status('VmRSS');
  }

  /** Time that all its threads have computed so far, in milliseconds. */
  get processorTime(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8');
    // The name of the program, in brackets, may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Linux counts in hundredths of a second.
    return 10 * (Number(fields[11]) + Number(fields[12]));
  }

  /** Number of bytes that it has written so far, to files and to its client. */
  get bytesWritten(): number {
    const io = readFileSync(`/proc/${this.#child.pid}/io`, 'utf8');
    return Number(/wchar: (\d+)/.exec(io)?.[1]);
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    // Not every program exits at the end of its input.
    const kill = setTimeout(() => this.#child.kill(), 5_000);
    await this.#closed;
    clearTimeout(kill);
  }

  #status(field: string): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  }

  async #callTool(name: string, args: JsonObject): Promise<JsonObject> {
    const result = await this.request('tools/call', { name, arguments: args });
    if (result.isError === true) throw new Error(JSON.stringify(result));
    return result;
  }

  /** @throws Error if the answer is an error, or the program has exited. */
  async request(method: string, params: JsonObject): Promise<JsonObject> {
    this.#requests += 1;
    const id = this.#requests;
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    const { error, result } = await answer;
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }

  #send(message: JsonObject): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
