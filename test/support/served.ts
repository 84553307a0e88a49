import type { App } from '../../src/app/app.ts';
import type { Reply } from '../../src/app/session/call-report.ts';
import { isObject, type JsonObject } from '../../src/core/values/json.ts';
import { projectApp } from './project-app.ts';
import type { Repo } from './repo.ts';

/** A repository with a server in this process, next to native git. */
export class Served {
  readonly repo: Repo;
  readonly #app: App;
  readonly #session;

  constructor(repo: Repo) {
    this.repo = repo;
    this.#app = projectApp(repo.root);
    this.#session = this.#app.connect();
  }

  /** Makes the next calls as a program; undefined for none. */
  actAs(agent: string | undefined): void {
    this.#session.agent = agent;
  }

  /** @throws Error if there is no such tool. */
  async try(tool: string, args: JsonObject = {}): Promise<Reply> {
    const reply = await this.#app.call(this.#session, tool, args);
    if (!reply) throw new Error(`there is no tool ${tool}`);
    return reply;
  }

  /** @throws Error if the tool fails. */
  async call(tool: string, args: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.try(tool, args);
    if (reply.error !== undefined) throw new Error(JSON.stringify(reply.body));
    return { ...reply.body, meta: reply.meta };
  }

  /** Writes a knowledge entry. */
  write(key: string, value: string): Promise<JsonObject> {
    return this.call('memory_write', { category: 'patterns', key, value });
  }

  /** Lists the knowledge entries. */
  async keys(): Promise<string[]> {
    const { entries } = await this.call('memory_read', { category: 'patterns' });
    return (Array.isArray(entries) ? entries : [])
      .flatMap((entry) => (isObject(entry) ? [String(entry.key)] : []))
      .sort();
  }

  head(): string {
    return this.repo.git('rev-parse', 'HEAD').trim();
  }

  close(): Promise<void> {
    return this.#app.close();
  }
}
