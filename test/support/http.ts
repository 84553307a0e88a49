import { App, type AppOptions } from '../../src/app/app.ts';
import { type AppParts, program } from '../../src/app/workspaces.ts';
import { type HttpSettings, listen } from '../../src/server/http/http.ts';
import { newFolder } from './process.ts';
import { Repo } from './repo.ts';

/** The key that every server of the tests takes. */
export const key = 'test-key';

/** The question that seed 003 prints. */
export const seedQuestion = {
  messages: [
    {
      role: 'system',
      content: 'You are an AI assistant with access to the project Memory Bank.',
    },
    { role: 'user', content: 'What is the current status of our project?' },
  ],
  mode: 'ask',
  useMemoryBank: true,
  allowMemoryBankUpdates: true,
};

/** What came back, with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of which the test asserts every part
  readonly body: any;
}

export interface Asked {
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON, unless it is text already. */
  readonly body?: unknown;
}

/** A server in this process over a repository of its own. */
export interface Served {
  readonly url: string;
  readonly repo: Repo;
  /** What it logged. */
  readonly log: string[];
  /** `ask` for a path of this server. */
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  close(): Promise<void>;
}

/** Serves a new repository; limits are out of the way unless a test sets them. */
export async function serve(
  settings: Partial<HttpSettings> = {},
  options: Partial<AppOptions> = {},
  parts: Partial<AppParts> = {},
): Promise<Served> {
  const repo = Repo.create();
  const log: string[] = [];
  const note = (level: string, message: string) => log.push(`${level}: ${message}`);
  const complete: AppOptions = {
    place: { flag: repo.root, env: {}, cwd: repo.root, home: newFolder() },
    homeFolder: newFolder(),
    durability: 'relaxed',
    log: note,
    ...options,
  };
  const app = new App(complete, { ...program, ...parts });
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    keys: [key],
    hosts: [],
    origins: [],
    folders: [],
    limits: { minute: 1_000_000, hour: 1_000_000 },
    headTimeout: 10_000,
    requestTimeout: 30_000,
    readTimeout: 30_000,
    version: '0.0.0',
    log: note,
    ...settings,
  });
  return {
    url: server.url,
    repo,
    log,
    ask: (method, path, asked) => ask(method, `${server.url}${path}`, asked),
    async close() {
      await server.close();
      await app.close();
    },
  };
}

/** Sends a request with the key, unless the headers say something else, and reads the answer. */
export async function ask(
  method: string,
  url: string,
  { headers, body }: Asked = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    body: json ? JSON.parse(text) : text,
  };
}

/** An error as seed 003 prints it. */
export function failure(code: string) {
  return { status: 'error', error: { code, message: expectText } };
}

/** Any text that is not empty. */
const expectText = {
  asymmetricMatch: (value: unknown) => typeof value === 'string' && value !== '',
  toString: () => 'Text',
};
