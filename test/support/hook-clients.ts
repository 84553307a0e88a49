/** The input of hooks as a client sends it, and the events whose answers it adds to the context. */
export interface RecordedClient {
  /** The fields that every event has. */
  common(name: string, cwd: string): { readonly [field: string]: unknown };
  /** The client's own names of the events. */
  readonly names: { readonly start: string; readonly prompt: string; readonly stop: string };
  readonly takes: { readonly prompt: boolean; readonly stop: boolean };
}

/** Recorded input of each client. */
export const hookInputs = {
  'Claude Code': {
    common: (name: string, cwd: string) => ({
      session_id: 's1',
      transcript_path: '/home/me/.claude/projects/p/s1.jsonl',
      cwd,
      hook_event_name: name,
    }),
    names: { start: 'SessionStart', prompt: 'UserPromptSubmit', stop: 'Stop' },
    takes: { prompt: true, stop: true },
  },
  Codex: {
    common: (name: string, cwd: string) => ({
      session_id: 's1',
      transcript_path: '/home/me/.codex/sessions/s1.jsonl',
      cwd,
      hook_event_name: name,
      model: 'gpt',
      permission_mode: 'default',
    }),
    names: { start: 'SessionStart', prompt: 'UserPromptSubmit', stop: 'Stop' },
    takes: { prompt: true, stop: false },
  },
  Cursor: {
    common: (name: string, cwd: string) => ({
      conversation_id: 's1',
      generation_id: 'g1',
      hook_event_name: name,
      cursor_version: '2.1.0',
      workspace_roots: [cwd],
    }),
    names: { start: 'sessionStart', prompt: 'beforeSubmitPrompt', stop: 'stop' },
    takes: { prompt: false, stop: false },
  },
  'VS Code': {
    common: (name: string, cwd: string) => ({
      timestamp: '2026-02-09T10:30:00.000Z',
      cwd,
      sessionId: 's1',
      hookEventName: name,
      transcript_path: '/tmp/transcript.json',
    }),
    names: { start: 'SessionStart', prompt: 'UserPromptSubmit', stop: 'Stop' },
    takes: { prompt: true, stop: false },
  },
  'Copilot CLI': {
    common: (_name: string, cwd: string) => ({
      timestamp: 1_704_614_400_000,
      cwd,
      sessionId: 's1',
    }),
    names: { start: '', prompt: '', stop: '' },
    takes: { prompt: false, stop: false },
  },
  'Gemini CLI': {
    common: (name: string, cwd: string) => ({
      session_id: 's1',
      transcript_path: '/home/me/.gemini/tmp/s1.json',
      cwd,
      hook_event_name: name,
      timestamp: '2026-02-09T10:30:00.000Z',
    }),
    names: { start: 'SessionStart', prompt: 'BeforeAgent', stop: 'AfterAgent' },
    takes: { prompt: true, stop: false },
  },
} satisfies { readonly [title: string]: RecordedClient };

/** The text that an answer adds to the context, in whichever field the client reads. */
export function contextOf(answer: unknown, name: string): string {
  if (answer === undefined) return '';
  const fields = answer as { readonly [field: string]: string | undefined };
  const { hookSpecificOutput } = answer as {
    readonly hookSpecificOutput?: { readonly [field: string]: string };
  };
  if (!hookSpecificOutput) return fields.additional_context ?? fields.additionalContext ?? '';
  if (hookSpecificOutput.hookEventName !== name)
    throw new Error('The answer is for another event.');
  return hookSpecificOutput.additionalContext ?? '';
}
