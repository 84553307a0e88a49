import type { z } from 'zod';
import type { App } from '../../app/app.ts';
import type { CallOptions } from '../../app/session/call-context.ts';
import { commitMeta } from '../../app/session/call-report.ts';
import type { Context } from '../../core/declarations/context.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { MemoryError } from '../../core/values/error.ts';
import { parseInput } from '../../core/values/input.ts';
import { pageHeader } from '../http/auth/login-sessions.ts';
import type { Backlog } from '../http/server/backlog.ts';
import {
  type Endpoint,
  parametersOf,
  pathParameters,
  type RestSessions,
  setProvenance,
  untilClosed,
} from '../http/server/endpoint.ts';
import { HttpError } from '../http/server/http-error.ts';

/** The offered toolsets, and the record types of all of them. */
export interface Catalogue {
  readonly toolsets: readonly Toolset[];
  readonly types: readonly AnyRecordType[];
  /**
   * Works with the changes of a review, instead of the memory.
   *
   * @throws MemoryError `forbidden` for an agent, `not_found`.
   */
  inReview<R>(name: string, work: (context: Context) => Promise<R>): Promise<R>;
}

/** An operation on the whole memory that no tool offers in this form. */
export interface MemoryOperation<I extends z.ZodObject = z.ZodObject> {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** `read` for a `post` that changes nothing. */
  readonly effect?: 'read';
  /** The path parameters, with the query of a `get` and the body of a `post`. */
  readonly input: I;
  readonly answer: z.ZodObject;
  run(context: Context, args: z.output<I>, catalogue: Catalogue): Promise<object>;
}

/** Declares an operation. */
export function defineMemoryOperation<I extends z.ZodObject, A extends z.ZodObject>(
  operation: Omit<MemoryOperation<I>, 'answer' | 'run'> & {
    readonly answer: A;
    run(context: Context, args: z.output<I>, catalogue: Catalogue): Promise<z.output<A>>;
  },
): MemoryOperation {
  const { input } = operation;
  return {
    ...operation,
    run: (context, args, catalogue) => operation.run(context, parseInput(input, args), catalogue),
  };
}

/** Returns the endpoint of an operation. */
export function memoryEndpoint(
  app: App,
  sessions: RestSessions,
  backlog: Backlog,
  agent: string,
  operation: MemoryOperation,
): Endpoint {
  const { method, path, id, summary, effect, input, answer } = operation;
  const inBody = method === 'post';
  const names = parametersOf(path);
  const changes = inBody && effect === undefined;
  return {
    method,
    path,
    id,
    summary,
    input,
    answer,
    inQuery: !inBody,
    commits: changes,
    async handle(request, response) {
      if (inBody && response.locals.caller.bySession && !request.get(pageHeader)) {
        throw new HttpError(
          403,
          'A change with the session cookie needs the header X-Memory-Page.',
        );
      }
      const session = sessions.of(request, response);
      // The pages of a person have a name that no agent can take.
      if (!session.isAgent) session.agent = agent;
      const reviewSession = (name: string) => {
        if (session.isAgent) {
          throw new MemoryError('forbidden', 'Only a person can change the review of an agent.');
        }
        const found = sessions.of(request, response, name);
        found.agent = agent;
        return found;
      };
      const toolsets = await app.toolsets();
      const types = toolsets.flatMap(({ records }) => records);
      const query = new URL(request.originalUrl, 'http://localhost').searchParams;
      const args = inBody
        ? request.body
        : { ...Object.fromEntries(query), ...pathParameters(names, request) };
      const commits: MadeCommit[] = [];
      const options = untilClosed(response);
      const admission = backlog.admission(response, options.signal);
      const call: CallOptions = {
        ...options,
        onCommit: (made) => void commits.push(made),
        admit: (_effect, work) => admission(changes ? 'write' : 'read', work),
      };
      // The call that works in a review has been admitted already.
      const { admit: _, ...inside } = call;
      const result = await app.run(
        session,
        id,
        call,
        (context) =>
          operation.run(context, args, {
            toolsets,
            types,
            inReview: async (name, work) => app.run(reviewSession(name), id, inside, work, 'write'),
          }),
        changes ? 'write' : 'read',
      );
      setProvenance(response, commitMeta(commits)).json(result);
    },
  };
}
