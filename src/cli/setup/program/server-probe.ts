import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endTree } from '../../../app/session/programs.ts';
import { isObject, type JsonObject, type JsonValue } from '../../../core/values/json.ts';

/** How long a server may take for all answers together, in milliseconds. */
const limit = 5_000;

/** A server that writes more before it has answered does not speak the protocol, in bytes. */
const maxOutput = 4 * 1024 * 1024;

/** A process to start and to speak MCP with over stdio. */
export interface ServerProcess {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

/** The description that a started server gives of itself. */
export interface ServerAnswer {
  /** `name version` of the server. */
  readonly server: string;
  readonly name: string;
  /** The root that it serves; undefined where it does not say. */
  readonly root: string | undefined;
  /** Why it serves no project. */
  readonly problem: string | undefined;
  /** The names of the tools that it lists. */
  readonly tools: readonly string[];
}

/** A server cannot be reached; the message follows the name of its entry. */
export class ProbeError extends Error {}

/** Sends a request and returns the message that answers it. */
type Exchange = (method: string, params: JsonObject) => Promise<JsonObject>;

/**
 * Starts a server, asks what it is, and ends it.
 *
 * @throws ProbeError when it does not answer as an MCP server within five seconds.
 */
export async function probeProcess({
  command,
  args,
  env,
  cwd,
}: ServerProcess): Promise<ServerAnswer> {
  const windows = process.platform === 'win32';
  const shell = windows && /\.(?:cmd|bat)$/i.test(command);
  if (shell && args.some((arg) => /[\s"&|<>^%!()]/.test(arg))) {
    throw new ProbeError('cannot be started from here: its arguments would need quotes');
  }
  const child = spawn(shell ? `"${command}"` : command, args, {
    cwd,
    shell,
    env: { ...env },
    // A group of its own: a runner such as npx starts the server as a child, and both have to end.
    detached: !windows,
    windowsHide: true,
  });
  const kill = (signal: 'SIGTERM' | 'SIGKILL') => {
    try {
      if (child.pid === undefined) return;
      if (windows) endTree(child.pid);
      else process.kill(-child.pid, signal);
    } catch {
      // It has ended by itself.
    }
  };
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let fail: (error: ProbeError) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const timer = setTimeout(() => fail(new ProbeError(noAnswer)), limit);
  let errors = '';
  let size = 0;
  const waiting = new Map<unknown, (message: JsonObject) => void>();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  child.stdout.on('data', (data: Buffer) => {
    size += data.length;
    if (size > maxOutput) fail(new ProbeError('does not speak MCP: it prints without end'));
  });
  child.stdin.on('error', () => {});
  child.once('error', ({ message }) => fail(new ProbeError(`cannot be started: ${message}`)));
  child.once('close', (status, signal) => {
    const why = errors
      .trim()
      .split('\n')
      .find((line) => line.trim() !== '');
    const end = signal === null ? `with status ${status}` : `by ${signal}`;
    fail(new ProbeError(`ends ${end} instead of serving${why ? `: ${why.slice(0, 300)}` : ''}`));
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.trim() === '') return;
    const message = parsed(line);
    if (!message) {
      fail(new ProbeError(`does not speak MCP: it prints ${JSON.stringify(line.slice(0, 100))}`));
    } else waiting.get(message.id)?.(message);
  });
  let last = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const exchange: Exchange = (method, params) => {
    const id = ++last;
    const answer = new Promise<JsonObject>((resolve) => waiting.set(id, resolve));
    send({ jsonrpc: '2.0', id, method, params });
    return Promise.race([answer, failed]);
  };
  try {
    return await introduce(exchange, async () => {
      send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    });
  } finally {
    clearTimeout(timer);
    child.stdin.end();
    kill('SIGTERM');
    const last = setTimeout(() => kill('SIGKILL'), 500);
    if (child.pid !== undefined) await ended;
    clearTimeout(last);
    // A process that a runner started can outlive it, and hold the pipes.
    kill('SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/**
 * Asks a server over HTTP what it is.
 *
 * @throws ProbeError when it does not answer as an MCP server within five seconds.
 */
export async function probeUrl(
  url: string,
  headers: { readonly [name: string]: string },
): Promise<ServerAnswer> {
  const signal = AbortSignal.timeout(limit);
  let session: { readonly 'mcp-session-id'?: string } = {};
  let last = 0;
  const post = async (message: object): Promise<string> => {
    const response = await fetch(url, {
      method: 'POST',
      signal,
      // A redirect would take the headers to another server.
      redirect: 'manual',
      headers: {
        ...headers,
        ...session,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    if (response.status === 401)
      throw new ProbeError('asks for a key that the entry does not have');
    if (!response.ok) throw new ProbeError(`answers with the status ${response.status}`);
    const id = response.headers.get('mcp-session-id');
    if (id) session = { 'mcp-session-id': id };
    return readMessage(response);
  };
  const exchange: Exchange = async (method, params) => {
    const answer = parsed(await post({ id: ++last, method, params }));
    if (!answer) throw new ProbeError('does not speak MCP');
    return answer;
  };
  try {
    return await introduce(exchange, async () => {
      await post({ method: 'notifications/initialized' });
    });
  } catch (error) {
    if (error instanceof ProbeError) throw error;
    if (signal.aborted) throw new ProbeError(noAnswer);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = isObject(cause) && typeof cause.code === 'string' ? ` (${cause.code})` : '';
    throw new ProbeError(`cannot be reached${code}`);
  } finally {
    if (session['mcp-session-id'] !== undefined) {
      const end = { method: 'DELETE', signal, headers: { ...headers, ...session } };
      await fetch(url, end).catch(() => {});
    }
  }
}

const noAnswer = `does not answer within ${limit / 1000} seconds`;

/** The first JSON-RPC message of a response: the whole body, or the first event of a stream. */
async function readMessage(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    const event = isStream ? /^data: ?(.+)\r?\n/m.exec(text)?.[1] : undefined;
    if (event !== undefined) return event;
    if (text.length > maxOutput) throw new ProbeError('does not speak MCP: it sends without end');
  }
  return text;
}

/** Initializes the session and asks for the root. */
async function introduce(
  exchange: Exchange,
  initialized: () => Promise<void>,
): Promise<ServerAnswer> {
  const { result, error } = await exchange('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'memory-bank-doctor', version: '1' },
  });
  const info = isObject(result) ? result.serverInfo : undefined;
  if (!isObject(info) || typeof info.name !== 'string') {
    const why = isObject(error) && typeof error.message === 'string' ? `: ${error.message}` : '';
    throw new ProbeError(`does not accept an MCP client${why}`);
  }
  const { name, version } = info;
  const server = `${name} ${version}`;
  if (name !== 'memory-bank') {
    return { server, name, root: undefined, problem: undefined, tools: [] };
  }
  await initialized();
  const project = await exchange('memory-bank/project', {});
  const root = isObject(project.result) ? project.result.root : undefined;
  // A server of an earlier version does not have the method.
  const isKnown = isObject(project.error) && project.error.code !== -32601;
  const { result: list } = await exchange('tools/list', {});
  const tools: unknown[] = isObject(list) && Array.isArray(list.tools) ? list.tools : [];
  return {
    server,
    name,
    tools: tools.flatMap((tool) =>
      isObject(tool) && typeof tool.name === 'string' ? tool.name : [],
    ),
    root: typeof root === 'string' ? root : undefined,
    problem: isKnown && isObject(project.error) ? String(project.error.message) : undefined,
  };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
