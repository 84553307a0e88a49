import { App, type AppOptions } from '../../src/app/app.ts';
import { type AppParts, program } from '../../src/app/session/workspaces.ts';
import { listen } from '../../src/server/http/http.ts';
import type { Face, HttpSettings } from '../../src/server/http/rest/settings.ts';
import { newFolder } from './process.ts';
import { Repo } from './repo.ts';

/** API key of every test server. */
export const key = 'key-of-the-tests';

/** Key of a person on every test server. */
export const personKey = 'key-of-a-person-who-tests';

/** The example request of seed 003. */
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

/** A response with its body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of which the test asserts every part
  readonly body: any;
}

export interface Asked {
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON, or unchanged if it is a string. */
  readonly body?: unknown;
}

/** A server in this process with its own repository. */
export interface Served {
  readonly url: string;
  readonly repo: Repo;
  /** Log messages. */
  readonly log: string[];
  /** Sends a request with `ask` to a path of this server. */
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  close(): Promise<void>;
}

/** Serves a new repository, without rate limits unless a test sets them. */
export async function serve(
  settings: Partial<HttpSettings> = {},
  options: Partial<AppOptions> = {},
  parts: Partial<AppParts> = {},
  face?: Face,
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
  const allSettings: HttpSettings = {
    host: '127.0.0.1',
    port: 0,
    keys: [key],
    personKeys: [personKey],
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
  };
  const server = await listen(app, allSettings, face);
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

/** Sends a request, by default with the key, and reads the response. */
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

/** Format of an error of seed 003. */
export function failure(code: string) {
  return { status: 'error', error: { code, message: expectText } };
}

/** Matches any text that is not empty. */
const expectText = {
  asymmetricMatch: (value: unknown) => typeof value === 'string' && value !== '',
  toString: () => 'Text',
};
