import type { Toolset } from '../../core/declarations/toolset.ts';
import type { ErrorCode } from '../../core/values/error.ts';
import { contextTools } from './contexts.ts';
import { featureTools } from './features.ts';
import { objectiveTools } from './objectives.ts';
import { pathTools } from './paths.ts';
import { feature, objective, path, requirement, task, ticket } from './records.ts';
import { requirementTools } from './requirements.ts';
import { taskTools } from './tasks.ts';
import { ticketTools } from './tickets.ts';

/** The four error types of seed 000. */
type ErrorType = 'validation_error' | 'not_found' | 'constraint_violation' | 'db_error';

const errorTypes: Record<ErrorCode, ErrorType> = {
  invalid_input: 'validation_error',
  confirmation_required: 'validation_error',
  too_large: 'validation_error',
  secret: 'validation_error',
  not_found: 'not_found',
  already_exists: 'constraint_violation',
  forbidden: 'constraint_violation',
  not_activated: 'constraint_violation',
  unauthorized: 'constraint_violation',
  rate_limited: 'constraint_violation',
  damaged: 'db_error',
  conflict: 'db_error',
  busy: 'db_error',
  unsupported: 'db_error',
  ignored: 'db_error',
  no_project: 'db_error',
  cannot_create: 'db_error',
  storage: 'db_error',
  remote: 'db_error',
  cancelled: 'db_error',
  internal: 'db_error',
};

/** Features, paths, requirements, objectives, tasks, tickets and their context (seed 000). */
export const graph: Toolset = {
  name: 'graph',
  title: 'Features, paths, requirements, objectives, tasks and tickets',
  tools: [
    ...featureTools,
    ...pathTools,
    ...requirementTools,
    ...objectiveTools,
    ...taskTools,
    ...ticketTools,
    ...contextTools,
  ],
  records: [feature, path, requirement, objective, task, ticket],
  formats: async () => (await import('./graph-formats.ts')).formats,
  success: (_tool, data) => ({ success: true, data }),
  failure: (_tool, error) => ({
    body: { success: false, error: { type: errorTypes[error.code], message: error.text } },
  }),
};
