import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { JsonObject } from '../../src/core/json.ts';
import { gitEnv } from '../support/repo.ts';

/** The program as it is started by clients. */
export const program = resolve('dist/main.js');

interface Answer {
  readonly error?: JsonObject;
  readonly result: { readonly isError?: boolean; readonly structuredContent: JsonObject };
}

/** The program serving one project over stdio. */
export class ServerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #requests = 0;

  private constructor(root: string, durability: 'full' | 'relaxed') {
    const env = { ...gitEnv, MEMORY_BANK_DURABILITY: durability };
    this.#child = spawn(process.execPath, [program, '--root', root], { cwd: root, env });
    this.#child.stderr.pipe(process.stderr);
    createInterface(this.#child.stdout).on('line', (line) => {
      const answer = JSON.parse(line);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /** Starts one and waits for its reply to `initialize`. */
  static async start(
    root: string,
    durability: 'full' | 'relaxed' = 'full',
  ): Promise<ServerProcess> {
    const server = new ServerProcess(root, durability);
    await server.#request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    server.#send({ method: 'notifications/initialized' });
    return server;
  }

  /** @throws Error when the tool answers with one. */
  async call(name: string, args: JsonObject): Promise<JsonObject> {
    const answer = await this.#request('tools/call', { name, arguments: args });
    if (answer.error || answer.result.isError) throw new Error(JSON.stringify(answer));
    return answer.result.structuredContent;
  }

  /** The most memory that was resident at a time, in MB. */
  get peakMemory(): number {
    return this.#status('VmHWM');
  }

  /** The memory that is resident now, in MB. */
  get memory(): number {
    return this.#status('VmRSS');
  }

  async end(): Promise<void> {
    const over = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await over;
  }

  #status(field: string): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  }

  #request(method: string, params: JsonObject): Promise<Answer> {
    this.#requests += 1;
    const id = this.#requests;
    const answer = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  #send(message: JsonObject): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
