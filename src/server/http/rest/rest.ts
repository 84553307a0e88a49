import type { Request } from 'express';
import * as z from 'zod';
import type { App } from '../../../app/app.ts';
import type { Tool } from '../../../core/declarations/tool.ts';
import { CoalescedRun } from '../../../core/timing/coalesced-run.ts';
import { repairInput } from '../../../core/values/input-repair.ts';
import type { JsonObject } from '../../../core/values/json.ts';
import type { Auth } from '../auth/auth.ts';
import type { Backlog } from '../server/backlog.ts';
import {
  type Endpoint,
  parametersOf,
  pathParameters,
  type RestSessions,
  sendJson,
  sendReply,
  untilClosed,
} from '../server/endpoint.ts';
import { apiVersion } from '../server/guards.ts';
import { HttpError } from '../server/http-error.ts';
import { isInitialized } from './server-endpoints.ts';

/** An operation that calls one tool of the memory-bank toolset. */
interface Operation extends Pick<Endpoint, 'method' | 'path' | 'answer'> {
  readonly tool: string;
  readonly summary?: string;
  /** Converts the answer of the tool to the body; by default they are the same. */
  readonly toBody?: (answer: JsonObject) => JsonObject;
}

const success = z.literal('success');
const done = z.object({ status: success, message: z.string() });
const similar = z.object({ path: z.string(), title: z.string(), likeness: z.number() });
const damaged = z.array(z.object({ path: z.string(), message: z.string() })).optional();

const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/memory-bank/file/{filename}',
    tool: 'read_memory_bank_file',
    answer: z.object({
      status: success,
      content: z.string(),
      caution: z.array(z.string()).optional(),
    }),
  },
  {
    method: 'post',
    path: '/memory-bank/file',
    tool: 'write_memory_bank_file',
    answer: done.extend({ similar: z.array(similar).optional() }),
  },
  {
    method: 'delete',
    path: '/memory-bank/file/{filename}',
    tool: 'delete_memory_bank_file',
    answer: done,
  },
  {
    method: 'get',
    path: '/memory-bank/files',
    tool: 'list_memory_bank_files',
    answer: z.object({ status: success, files: z.array(z.string()), damaged }),
  },
  {
    method: 'get',
    path: '/memory-bank/modes',
    tool: 'get_current_mode',
    summary: 'Lists the modes, and the rule files that cannot be used.',
    answer: z.object({
      status: success,
      modes: z.array(z.string()),
      skipped: z.array(z.object({ source: z.string(), reason: z.string() })).optional(),
    }),
    toBody: ({ status, modes, skipped }) => ({ status, modes, skipped }),
  },
  {
    method: 'post',
    path: '/memory-bank/trackProgress',
    tool: 'track_progress',
    answer: done,
  },
  {
    method: 'post',
    path: '/memory-bank/logDecision',
    tool: 'log_decision',
    answer: done.extend({
      similar: z.array(similar).optional(),
      linked: z.array(z.string()).optional(),
    }),
  },
  {
    method: 'post',
    path: '/memory-bank/updateActiveContext',
    tool: 'update_active_context',
    answer: done,
  },
];

/** Returns the operations of seed 003 ("Endpoints") whose tool is enabled. */
export async function memoryBankEndpoints(
  app: App,
  sessions: RestSessions,
  backlog: Backlog,
): Promise<Endpoint[]> {
  const tools = (await app.toolsets()).flatMap((toolset) => toolset.tools);
  return operations.flatMap((operation) => {
    const tool = tools.find(({ name }) => name === operation.tool);
    return tool ? [toEndpoint(app, sessions, backlog, operation, tool)] : [];
  });
}

/** Reports that the server is up, and whether the memory exists. */
export function statusEndpoint(app: App): Endpoint {
  const check = new CoalescedRun(() => isInitialized(app, 'status'));
  return {
    method: 'get',
    path: '/status',
    id: 'get_status',
    summary: 'Reports that the server is up, and whether the memory is initialized.',
    answer: z.object({
      status: z.literal('ok'),
      version: z.literal(apiVersion),
      memoryBankStatus: z.enum(['initialized', 'uninitialized']),
    }),
    async handle(_request, response) {
      const memoryBankStatus = (await check.run()) ? 'initialized' : 'uninitialized';
      sendJson(response, { status: 'ok', version: apiVersion, memoryBankStatus });
    },
  };
}

/** Opens and ends a session, whose cookie is valid instead of the key. */
export function sessionEndpoints(auth: Auth): Endpoint[] {
  return [
    {
      method: 'post',
      path: '/session',
      id: 'open_session',
      summary: 'Opens a session; its cookie is valid instead of the API key of the request.',
      answer: z.object({ status: success, message: z.string(), expires: z.iso.datetime() }),
      handle(request, response) {
        const expires = auth.open(request, response).toISOString();
        response.json({ status: 'success', message: 'Session opened', expires });
      },
    },
    {
      method: 'delete',
      path: '/session',
      id: 'end_session',
      summary: 'Ends the session of the cookie.',
      answer: done,
      handle(request, response) {
        if (!auth.end(request, response))
          throw new HttpError(400, 'The request has no cookie of an open session.');
        response.json({ status: 'success', message: 'Session ended' });
      },
    },
  ];
}

function toEndpoint(
  app: App,
  sessions: RestSessions,
  backlog: Backlog,
  { method, path, answer, summary, toBody }: Operation,
  tool: Tool,
): Endpoint {
  const names = parametersOf(path);
  const queryOf = queryReader(tool);
  return {
    method,
    path,
    id: tool.name,
    summary: summary ?? tool.description,
    input: tool.input,
    inQuery: method === 'get',
    answer,
    commits: tool.effect !== 'read',
    async handle(request, response) {
      const session = sessions.of(request, response);
      const inPath = pathParameters(names, request);
      const inUrl = method === 'get' ? { ...queryOf(request), ...inPath } : inPath;
      const args = method === 'post' ? request.body : inUrl;
      const options = untilClosed(response);
      const admit = backlog.admission(response, options.signal);
      const reply = await app.call(session, tool.name, args, { ...options, admit });
      sendReply(reply, response, toBody);
    },
  };
}

/** Returns the operation of the tool `brief`, if it is enabled. */
export async function briefEndpoints(
  app: App,
  sessions: RestSessions,
  backlog: Backlog,
): Promise<Endpoint[]> {
  const tools = (await app.toolsets()).flatMap((toolset) => toolset.tools);
  const tool = tools.find(({ name }) => name === 'brief');
  if (!tool) return [];
  const { name, description, input } = tool;
  const queryOf = queryReader(tool);
  return [
    {
      method: 'get',
      path: '/memory-bank/brief',
      id: name,
      summary: description,
      input,
      inQuery: true,
      answer: z.object({ status: success, brief: z.string() }),
      async handle(request, response) {
        const options = untilClosed(response);
        const admit = backlog.admission(response, options.signal);
        const session = sessions.of(request, response);
        // The failures of this toolset do not have the form of this API.
        const answer = await app.run(session, name, { ...options, admit }, async (context) =>
          tool.call(context, repairInput(input, queryOf(request)).args),
        );
        response.json({ status: 'success', ...answer });
      },
    },
  ];
}

/** Returns a reader of the arguments of a tool in the query of a request; it ignores other names. */
function queryReader({ input }: Tool): (request: Request) => JsonObject {
  return ({ originalUrl }) => {
    if (!originalUrl.includes('?')) return {};
    const query = new URL(originalUrl, 'http://localhost').searchParams;
    return Object.fromEntries([...query].filter(([name]) => name in input.shape));
  };
}
