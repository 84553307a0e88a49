import * as z from 'zod';
import type { App } from '../../../app/app.ts';
import { MemoryError } from '../../../core/values/error.ts';
import type { Projects } from '../auth/projects.ts';
import type { Endpoint } from '../server/endpoint.ts';
import { HttpError } from '../server/http-error.ts';
import type { Metrics } from './metrics.ts';

/** How long the answer of `/ready` is kept, in milliseconds: anybody may ask for it at any rate. */
const readyKept = 1_000;

/** Returns the probes, which answer every Host and are not counted: programs on this machine use them. */
export function probeEndpoints(projects: Projects): Endpoint[] {
  let checked: { readonly at: number; readonly result: Promise<unknown> } | undefined;
  const check = () => {
    const now = performance.now();
    if (!checked || now - checked.at > readyKept) {
      checked = {
        at: now,
        result: Promise.all(projects.all.map(({ app }) => isInitialized(app, 'ready'))),
      };
    }
    return checked.result;
  };
  return [
    {
      method: 'get',
      path: '/health',
      id: 'get_health',
      summary: 'Reports that the process answers; for the liveness probe of a supervisor.',
      ofServer: true,
      answer: z.object({ status: z.literal('ok') }),
      handle: (_request, response) => void response.json({ status: 'ok' }),
    },
    {
      method: 'get',
      path: '/ready',
      id: 'get_readiness',
      summary:
        'Reports that the memory of every project can be read; 503 if not, or while stopping.',
      ofServer: true,
      answer: z.object({ status: z.literal('ready') }),
      async handle(_request, response) {
        await check();
        response.json({ status: 'ready' });
      },
    },
  ];
}

/** Returns the operation that lists the projects which the caller may read. */
export function projectsEndpoint(projects: Projects): Endpoint {
  return {
    method: 'get',
    path: '/projects',
    id: 'list_projects',
    summary: 'Lists the projects of the server that the caller may read.',
    ofServer: true,
    answer: z.object({
      status: z.literal('success'),
      projects: z.array(z.object({ name: z.string(), path: z.string() })),
    }),
    handle(_request, response) {
      const listed = projects.of(response).map(({ name, path }) => ({ name, path }));
      response.json({ status: 'success', projects: listed });
    },
  };
}

/** Returns the operation that reports the counts of the server. */
export function metricsEndpoint(metrics: Metrics): Endpoint {
  return {
    method: 'get',
    path: '/metrics',
    id: 'get_metrics',
    summary: 'Returns the counts of the server for Prometheus.',
    ofServer: true,
    answer: z.string(),
    answerType: 'text/plain',
    async handle(_request, response) {
      response.type(metrics.type).send(await metrics.text());
    },
  };
}

/**
 * Returns whether a memory is initialized, for callers without a key.
 *
 * @throws HttpError 503 if it cannot be read; the message of the error itself could name files.
 */
export async function isInitialized(app: App, label: string): Promise<boolean> {
  try {
    const info = await app.run(app.connect(), label, {}, ({ project }) => project.info());
    return info.initialized;
  } catch (error) {
    // Without a project the server is up, because an MCP client may still choose one.
    if (error instanceof MemoryError && error.code === 'no_project') return false;
    throw new HttpError(503, 'The memory cannot be read; `memory-bank doctor` says why.');
  }
}
