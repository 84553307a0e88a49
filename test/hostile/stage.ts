import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { z } from 'zod';
import { App } from '../../src/app/app.ts';
import type { Reply } from '../../src/app/session/call-report.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { findMemory, openWorkspace } from '../../src/store/session/open-workspace.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { gitEnv, Repo } from '../support/repo.ts';

/** Format of a failure in each toolset. */
const failures: { readonly [toolset: string]: z.ZodType } = {
  'memory-bank': z.object({
    status: z.literal('error'),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
  banks: z.object({
    status: z.literal('error'),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
  graph: z.object({
    success: z.literal(false),
    error: z.object({ type: z.string(), message: z.string() }),
  }),
  documents: z.object({ error: z.string() }),
  knowledge: z.object({ success: z.literal(false), error: z.string(), message: z.string() }),
};
const plain = z.object({ success: z.literal(false), error: z.string(), message: z.string() });

/** The whole program on a real repository, next to a folder that must not be touched. */
export class Stage {
  readonly repo: Repo;
  /** The log of the server. */
  readonly messages: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'memory-bank-hostile-'));
  readonly #app: App;
  #session: Session;

  constructor() {
    const root = join(this.#folder, 'project');
    mkdirSync(join(this.#folder, 'home'));
    writeFileSync(join(this.#folder, 'outside.md'), 'outside\n');
    this.repo = Repo.in(root).begin();
    this.#app = new App(
      {
        place: { flag: root, env: {}, cwd: root, home: join(this.#folder, 'home') },
        homeFolder: join(this.#folder, 'home/.memory-bank'),
        durability: 'relaxed',
        log: (level, message) => this.messages.push(`${level}: ${message}`),
      },
      {
        toolsets: async () => toolsets,
        openWorkspace: (options) =>
          openWorkspace(options, {
            env: gitEnv,
            calm: 0,
            lockTimeout: 5000,
          }),
        findMemory: async (options) => findMemory(options, { env: gitEnv, calm: 0 }),
      },
    );
    this.#session = this.#app.connect();
  }

  async call(tool: string, args: object = {}): Promise<Reply> {
    const reply = await this.#app.call(this.#session, tool, args, { unlisted: true });
    if (!reply) throw new Error(`There is no tool ${tool}.`);
    // `internal` is a bug, whatever the input.
    expect(this.messages.filter((message) => message.startsWith('error'))).toEqual([]);
    return reply;
  }

  /** Calls a tool that must succeed. */
  async succeed(tool: string, args: object = {}): Promise<Reply['body']> {
    const reply = await this.call(tool, args);
    expect(reply, JSON.stringify(reply.body).slice(0, 500)).toMatchObject({ error: undefined });
    return reply.body;
  }

  /** Calls a tool that must fail in the format of its toolset and change nothing. */
  async refuse(tool: string, args: object): Promise<string> {
    const before = this.state();
    const reply = await this.call(tool, args);
    const toolset = toolsets.find(({ tools }) => tools.some(({ name }) => name === tool));
    expect(reply.error, JSON.stringify(reply.body).slice(0, 500)).toBeDefined();
    expect(() => (failures[toolset?.name ?? ''] ?? plain).parse(reply.body)).not.toThrow();
    expect(reply.meta).toEqual({});
    expect(this.state()).toEqual(before);
    return `${JSON.stringify(reply.body)} ${reply.note ?? ''}`;
  }

  /** Hashes of every file of the project, of git and of the folder next to it. */
  state(): object {
    const paths = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' });
    return Object.fromEntries(
      // Caches are in our own folder in the git directory.
      paths
        .filter((path) => !path.includes('.git/memory-bank'))
        .map((path) => {
          const place = join(this.#folder, path);
          const stat = lstatSync(place);
          if (!stat.isFile()) return [path, ''];
          return [path, createHash('sha1').update(readFileSync(place)).digest('hex')];
        }),
    );
  }

  /** Files next to the project. */
  around(): string[] {
    return readdirSync(this.#folder).sort();
  }

  /** Every memory file in the work tree. */
  files(): string[] {
    const bank = this.repo.path('.memory-bank');
    if (!existsSync(bank)) return [];
    return readdirSync(bank, { recursive: true, encoding: 'utf8' });
  }

  async close(): Promise<void> {
    await this.#app.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
