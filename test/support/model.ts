import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** Answer of the endpoint to one request. */
export interface Reply {
  readonly content?: string;
  readonly calls?: readonly { readonly name: string; readonly args: string }[];
  /** HTTP status of a failure. */
  readonly status?: number;
  /** Whether the endpoint never answers. */
  readonly hang?: boolean;
  /** Raw body that replaces the answer, and its type; by default JSON. */
  readonly raw?: string;
  readonly type?: string;
}

/** A model endpoint in its own process. */
export class ModelEndpoint {
  readonly #child: ChildProcess;
  readonly #origin: string;

  private constructor(child: ChildProcess, port: string) {
    this.#child = child;
    this.#origin = `http://127.0.0.1:${port}`;
  }

  static async start(): Promise<ModelEndpoint> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'model-endpoint.js')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    process.once('exit', () => child.kill());
    const port = await new Promise<string>((resolve) => {
      child.stdout?.once('data', (line: Buffer) => resolve(line.toString().trim()));
    });
    return new ModelEndpoint(child, port);
  }

  /** Base URL for the configuration of clients. */
  get url(): string {
    return `${this.#origin}/v1`;
  }

  /** Sets the next replies, repeats the last one, and clears the recorded requests. */
  async say(...script: readonly Reply[]): Promise<void> {
    await fetch(`${this.#origin}/script`, { method: 'PUT', body: JSON.stringify(script) });
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON of which the test asserts every part
  async requests(): Promise<any> {
    return (await fetch(`${this.#origin}/requests`)).json();
  }

  stop(): void {
    this.#child.kill();
  }
}
