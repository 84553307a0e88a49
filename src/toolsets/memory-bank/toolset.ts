import type { Toolset } from '../../core/declarations/toolset.ts';
import type { ErrorCode, MemoryError } from '../../core/values/error.ts';
import { coreReaders, deleteFile, listFiles, readFile, writeFile } from './file-tools.ts';
import { getStatus, initialize, setPath } from './initialize.ts';
import { logDecision, trackProgress, updateActiveContext } from './logging-tools.ts';
import { memoryFile } from './memory-file.ts';
import { completeUmb, getCurrentMode, processUmbCommand, switchMode } from './mode-tools.ts';
import { ruleFile } from './rule-record.ts';
import { updatePrompt } from './update-prompt.ts';

/** The error codes of seed 003. */
const codes: Record<ErrorCode, string> = {
  invalid_input: 'invalid_request',
  not_found: 'file_not_found',
  already_exists: 'invalid_request',
  forbidden: 'unauthorized',
  confirmation_required: 'invalid_request',
  not_activated: 'invalid_request',
  damaged: 'invalid_format',
  too_large: 'invalid_request',
  secret: 'invalid_request',
  conflict: 'invalid_format',
  busy: 'server_error',
  unsupported: 'server_error',
  ignored: 'server_error',
  no_project: 'invalid_request',
  cannot_create: 'server_error',
  storage: 'server_error',
  remote: 'server_error',
  cancelled: 'server_error',
  unauthorized: 'unauthorized',
  rate_limited: 'rate_limit_exceeded',
  internal: 'server_error',
};

/** The markdown files of the memory bank, and the modes that restrict a session (seed 003). */
export const memoryBank: Toolset = {
  name: 'memory-bank',
  title: 'Markdown files of the project’s memory, progress, decisions, modes',
  tools: [
    initialize,
    setPath,
    readFile,
    writeFile,
    listFiles,
    getStatus,
    trackProgress,
    updateActiveContext,
    logDecision,
    ...coreReaders,
    switchMode,
    getCurrentMode,
    processUmbCommand,
    completeUmb,
    deleteFile,
  ],
  records: [memoryFile, ruleFile],
  formats: async () => (await import('./memory-bank-formats.ts')).formats,
  resources: { scheme: 'memory-bank', type: memoryFile },
  prompts: [updatePrompt],
  success: (_tool, value) => ({ status: 'success', ...value }),
  failure: (_tool, error) => ({
    body: { status: 'error', error: { code: codeOf(error), message: error.text } },
  }),
};

function codeOf(error: MemoryError): string {
  return error.code === 'not_found' && 'mode' in error.data ? 'mode_not_found' : codes[error.code];
}
