import { plainSuccess, type Toolset } from '../../core/declarations/toolset.ts';
import type { ErrorCode, Issue, MemoryError } from '../../core/values/error.ts';
import { activateProject, requireActivation } from './activate-project.ts';
import { documentRecord } from './document.ts';
import { deleteMemory, getMemory, listMemories, storeMemory, updateMemory } from './memories.ts';

/** Argument errors, most severe first; the answer reports only the first that applies. */
const inputFailures = ['missing_required_field', 'invalid_json', 'invalid_memory_type'] as const;

/** Codes of all other errors. Seed 002 has no more specific ones, so the note gives the details. */
const failures: Record<Exclude<ErrorCode, 'invalid_input'>, string> = {
  not_activated: 'project_not_activated',
  not_found: 'memory_not_found',
  cannot_create: 'cannot_create_project_dir',
  no_project: 'cannot_create_project_dir',
  already_exists: 'storage_error',
  forbidden: 'storage_error',
  confirmation_required: 'storage_error',
  damaged: 'storage_error',
  too_large: 'storage_error',
  secret: 'storage_error',
  conflict: 'storage_error',
  busy: 'storage_error',
  unsupported: 'storage_error',
  ignored: 'storage_error',
  storage: 'storage_error',
  remote: 'storage_error',
  cancelled: 'storage_error',
  unauthorized: 'storage_error',
  rate_limited: 'storage_error',
  internal: 'storage_error',
};

/**
 * Typed documents of the project: designs, plans, trackers, rules (seed 002).
 *
 * A failure is `{ error: <code> }`, with the message as a second text. If several apply, the first of
 * these is reported: not activated; arguments that are not an object; a field that is missing or null,
 * or a blank title; a field of another JSON type; an unknown type; an unknown id; a storage error.
 */
export const documents: Toolset = {
  name: 'documents',
  title: 'Typed project documents: designs, plans, trackers, rules',
  tools: [activateProject, storeMemory, getMemory, listMemories, updateMemory, deleteMemory],
  records: [documentRecord],
  formats: async () => (await import('./documents-formats.ts')).formats,
  before: requireActivation,
  success: plainSuccess,
  failure: (_tool, error) => ({ body: { error: code(error) }, note: error.text }),
};

function code(error: MemoryError): string {
  if (error.code !== 'invalid_input') return failures[error.code];
  const found = error.issues.map(inputFailure);
  return inputFailures.find((failure) => found.includes(failure)) ?? 'invalid_json';
}

function inputFailure({ path: [field], kind }: Issue): (typeof inputFailures)[number] {
  if (field === undefined) return 'invalid_json';
  if (kind === 'missing' || kind === 'null') return 'missing_required_field';
  if (field === 'type') return 'invalid_memory_type';
  return field === 'title' && kind === 'value' ? 'missing_required_field' : 'invalid_json';
}
