/** The input of hooks as a client sends it, and the events whose answers it adds to the context. */
export interface RecordedClient {
  /** The fields that every event has. */
  common(name: string, cwd: string): { readonly [field: string]: unknown };
  /** The client's own names of the events. */
  readonly names: {
    readonly start: string;
    readonly prompt: string;
    readonly action: string;
    readonly stop: string;
  };
  /** The fields of an event before a file is read, or a command runs. */
  readonly reads: (file: string) => object;
  readonly runs: (command: string) => object;
  readonly takes: {
    readonly prompt: boolean;
    readonly action: boolean;
    readonly stop: boolean;
    readonly end: boolean;
  };
}

/** The tools that Claude Code has, and others under the same names. */
const tools = {
  reads: (file: string) => ({ tool_name: 'Read', tool_input: { file_path: file } }),
  runs: (command: string) => ({ tool_name: 'Bash', tool_input: { command } }),
};

/** Recorded input of each client. */
export const hookInputs = {
  'Claude Code': {
    common: (name: string, cwd: string) => ({
      session_id: 's1',
      transcript_path: '/home/me/.claude/projects/p/s1.jsonl',
      cwd,
      hook_event_name: name,
    }),
    names: {
      start: 'SessionStart',
      prompt: 'UserPromptSubmit',
      action: 'PreToolUse',
      stop: 'Stop',
    },
    ...tools,
    takes: { prompt: true, action: true, stop: true, end: true },
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
    names: {
      start: 'SessionStart',
      prompt: 'UserPromptSubmit',
      action: 'PreToolUse',
      stop: 'Stop',
    },
    reads: (file: string) => ({
      tool_name: 'apply_patch',
      tool_input: {
        command: `*** Begin Patch\n*** Update File: ${file}\n@@\n-a\n+b\n*** End Patch`,
      },
    }),
    runs: tools.runs,
    takes: { prompt: true, action: true, stop: false, end: true },
  },
  Cursor: {
    common: (name: string, cwd: string) => ({
      conversation_id: 's1',
      generation_id: 'g1',
      hook_event_name: name,
      cursor_version: '2.1.0',
      workspace_roots: [cwd],
    }),
    names: {
      start: 'sessionStart',
      prompt: 'beforeSubmitPrompt',
      action: 'preToolUse',
      stop: 'stop',
    },
    ...tools,
    takes: { prompt: false, action: false, stop: false, end: false },
  },
  'VS Code': {
    common: (name: string, cwd: string) => ({
      timestamp: '2026-02-09T10:30:00.000Z',
      cwd,
      sessionId: 's1',
      hookEventName: name,
      transcript_path: '/tmp/transcript.json',
    }),
    names: {
      start: 'SessionStart',
      prompt: 'UserPromptSubmit',
      action: 'PreToolUse',
      stop: 'Stop',
    },
    reads: (file: string) => ({ tool_name: 'read_file', tool_input: { filePath: file } }),
    runs: (command: string) => ({ tool_name: 'run_in_terminal', tool_input: { command } }),
    takes: { prompt: true, action: true, stop: false, end: true },
  },
  'Copilot CLI': {
    common: (_name: string, cwd: string) => ({
      timestamp: 1_704_614_400_000,
      cwd,
      sessionId: 's1',
    }),
    names: { start: '', prompt: '', action: '', stop: '' },
    reads: (file: string) => ({ toolName: 'view', toolArgs: JSON.stringify({ path: file }) }),
    runs: (command: string) => ({ toolName: 'bash', toolArgs: { command } }),
    takes: { prompt: false, action: true, stop: false, end: false },
  },
  'Gemini CLI': {
    common: (name: string, cwd: string) => ({
      session_id: 's1',
      transcript_path: '/home/me/.gemini/tmp/s1.json',
      cwd,
      hook_event_name: name,
      timestamp: '2026-02-09T10:30:00.000Z',
    }),
    names: {
      start: 'SessionStart',
      prompt: 'BeforeAgent',
      action: 'BeforeTool',
      stop: 'AfterAgent',
    },
    ...tools,
    takes: { prompt: true, action: false, stop: false, end: false },
  },
} satisfies { readonly [title: string]: RecordedClient };

/** The text that an answer adds to the context, in whichever field the client reads. */
export function contextOf(answer: unknown, name: string): string {
  if (answer === undefined) return '';
  const fields = answer as { readonly [field: string]: string | undefined };
  const { hookSpecificOutput } = answer as {
    readonly hookSpecificOutput?: { readonly [field: string]: string };
  };
  if (!hookSpecificOutput) {
    return fields.additional_context ?? fields.additionalContext ?? fields.reason ?? '';
  }
  if (hookSpecificOutput.hookEventName !== name)
    throw new Error('The answer is for another event.');
  return hookSpecificOutput.additionalContext ?? hookSpecificOutput.reason ?? '';
}
