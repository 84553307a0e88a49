import { asciiJson, isObject } from '../../core/values/json.ts';
import { type ClientAction, readAction } from './client-action.ts';
import { lastUserInput } from './transcript.ts';

/** Events of a session, under the names of the command line. */
export const hookEvents = [
  'session-start',
  'prompt',
  'action',
  'pre-compact',
  'stop',
  'session-end',
] as const;
export type HookEvent = (typeof hookEvents)[number];

/** The shapes of hook input and output that clients have. */
export type HookClient =
  | 'claude'
  | 'codex'
  | 'cursor'
  | 'copilot'
  | 'vscode'
  | 'gemini'
  | 'qwen'
  | 'droid'
  | 'augment'
  | 'cline'
  | 'crush'
  | 'kiro'
  | 'antigravity'
  | 'opencode'
  | 'kilo';

/**
 * Clients that the command of a hook names, because their input does not. They add its output to the
 * context as it is.
 */
export const namedClients = ['kiro'] as const;
export type NamedClient = (typeof namedClients)[number];

/** An answer that a client takes as plain text; it begins with a mark that only this program writes. */
export class PlainAnswer {
  static readonly mark = '# Project memory';
  readonly text: string;

  constructor(text: string) {
    this.text = `${PlainAnswer.mark}\n\n${text}`;
  }
}

/** An event that a client reports on stdin. */
export interface ClientEvent {
  readonly client: HookClient;
  readonly event: HookEvent;
  /** The client's own name of the event; its answer repeats it. */
  readonly name: string;
  /** With the agent, for one that has a context of its own; undefined if the client gives none. */
  readonly session: string | undefined;
  /** The folder of the project. */
  readonly cwd: string | undefined;
  readonly prompt: string;
  /** The call of a tool that is about to be made. */
  readonly action: ClientAction | undefined;
  /** Whether the client has dropped the context of the session. */
  readonly forgotten: boolean;
  /** Whether an answer of a hook has already made the agent go on. */
  readonly goesOn: boolean;
}

const maxId = 200;
/** Longest byte order mark before the input: three characters where a shell took it for text. */
const maxMark = 3;

/** The agent of the session in which a hook of a client runs. */
export function hookAgent({ client }: ClientEvent, version: string): string {
  return `${client}-hook/${version}`;
}

/**
 * Reads the input of a hook.
 *
 * @param named the client that the command names.
 * @returns undefined for a text that is not a JSON object.
 */
export function readEvent(
  event: HookEvent,
  input: string,
  named?: NamedClient,
): ClientEvent | undefined {
  const value = parseInput(input);
  if (!isObject(value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = (...names: string[]) => {
    for (const name of names) {
      const field = fields.get(name);
      if (typeof field === 'string' && field !== '') return field;
    }
    return undefined;
  };
  const name = text('hook_event_name', 'hookEventName', 'hookName', 'event') ?? '';
  const source = text('source', 'trigger') ?? '';
  const client = named ?? clientOf(fields, name);
  const roots =
    fields.get('workspace_roots') ?? fields.get('workspaceRoots') ?? fields.get('workspacePaths');
  const root: unknown = Array.isArray(roots) ? roots[0] : undefined;
  return {
    client,
    event,
    name: name || usualNames[event],
    session: sessionOf(
      text('session_id', 'sessionId', 'conversation_id', 'conversationId', 'taskId'),
      text('agent_id'),
    ),
    cwd: text('cwd') ?? (typeof root === 'string' ? root : undefined),
    prompt: client === 'antigravity' && event === 'prompt' ? newPrompt(fields) : promptIn(fields),
    action: event === 'action' ? actionIn(fields) : undefined,
    forgotten: event === 'session-start' && ['compact', 'clear'].includes(source),
    goesOn: fields.get('stop_hook_active') === true,
  };
}

/** Names the session of one agent: another agent of it does not have what this one was given. */
function sessionOf(id: string | undefined, agent: string | undefined): string | undefined {
  const own = id?.slice(0, maxId);
  return own === undefined || agent === undefined ? own : `${own} ${agent.slice(0, maxId)}`;
}

function promptIn(fields: ReadonlyMap<string, unknown>): string {
  const prompt = fields.get('prompt');
  const given = typeof prompt === 'string' ? prompt : '';
  return given || (textIn(fields.get('userPromptSubmit'), 'prompt') ?? '');
}

/** The prompt that Antigravity is about to send; it runs the hook before each other call of the model as well. */
function newPrompt(fields: ReadonlyMap<string, unknown>): string {
  const path = fields.get('transcriptPath');
  const isNew = fields.get('invocationNum') === 0 && typeof path === 'string';
  return isNew ? lastUserInput(path) : '';
}

function actionIn(fields: ReadonlyMap<string, unknown>): ClientAction | undefined {
  // Cline has them in an object of their own, and its command line in another one.
  const call = fields.get('preToolUse') ?? fields.get('tool_call');
  const own = textIn(call, 'toolName') ?? textIn(call, 'name');
  const tool = fields.get('tool_name') ?? fields.get('toolName') ?? own;
  const input = fields.get('tool_input') ?? fields.get('toolArgs') ?? fields.get('tool_args');
  const given = input ?? (isObject(call) ? (call.parameters ?? call.input) : undefined);
  return typeof tool === 'string' && tool !== '' ? readAction(tool, given) : undefined;
}

function textIn(value: unknown, key: string): string | undefined {
  const field = isObject(value) ? value[key] : undefined;
  return typeof field === 'string' ? field : undefined;
}

/**
 * Parses the input of a hook; undefined for a text that is not a JSON object.
 *
 * Shells of Windows put a byte order mark before it, as such or in the characters of a code page.
 */
export function parseInput(text: string): unknown {
  const start = text.trimStart().indexOf('{');
  if (start < 0 || start > maxMark) return undefined;
  try {
    return JSON.parse(text.trimStart().slice(start));
  } catch {
    return undefined;
  }
}

const usualNames: Record<HookEvent, string> = {
  'session-start': 'SessionStart',
  prompt: 'UserPromptSubmit',
  action: 'PreToolUse',
  'pre-compact': 'PreCompact',
  stop: 'Stop',
  'session-end': 'SessionEnd',
};

/** Events that only Gemini CLI has. */
const geminiEvents = ['BeforeAgent', 'AfterAgent', 'AfterTool', 'PreCompress'];

function clientOf(fields: ReadonlyMap<string, unknown>, name: string): HookClient {
  // Our own plugin says it.
  const named = fields.get('client');
  if (named === 'opencode' || named === 'kilo') return named;
  if (fields.has('hookName')) return 'cline';
  if (fields.has('workspacePaths') && fields.has('conversationId')) return 'antigravity';
  if (fields.has('event')) return 'crush';
  if (['cursor_version', 'conversation_id', 'workspace_roots'].some((key) => fields.has(key))) {
    // Augment has the fields of Cursor, and the events of Claude Code.
    return /^[A-Z]/.test(name) && !fields.has('cursor_version') ? 'augment' : 'cursor';
  }
  if (name === '') return 'copilot';
  const transcript = String(fields.get('transcript_path') ?? '');
  if (geminiEvents.includes(name) || /[\\/]\.gemini[\\/]/.test(transcript)) return 'gemini';
  if (/[\\/]\.qwen[\\/]/.test(transcript)) return 'qwen';
  if (/[\\/]\.factory[\\/]/.test(transcript)) return 'droid';
  if (fields.has('turn_id') || /[\\/]\.codex[\\/]/.test(transcript)) return 'codex';
  if (fields.has('timestamp')) return 'vscode';
  return 'claude';
}

/**
 * Returns the answer of a hook that adds a text to the context of the session.
 *
 * @returns undefined if the client takes no context from this event.
 */
export function contextAnswer(event: ClientEvent, text: string): object | undefined {
  if (!takesContext(event)) return undefined;
  if (event.client === 'cursor') return { additional_context: text };
  if (event.client === 'copilot') return { additionalContext: text };
  if (event.client === 'cline') return { cancel: false, contextModification: text };
  // Without a decision, it asks for approval of the call as before.
  if (event.client === 'crush') return { context: text };
  if (event.client === 'kiro') return new PlainAnswer(text);
  if (event.client === 'antigravity') {
    // It takes no other member. Its other kinds of messages last for one call, or look like the user's.
    return { injectSteps: [{ systemMessage: { systemMessage: text } }] };
  }
  return { hookSpecificOutput: { hookEventName: event.name, additionalContext: text } };
}

/** The output of a hook that gives an answer. */
export function printedAnswer(answer: object): string {
  // Without letters that a code page of Windows would change.
  return answer instanceof PlainAnswer ? answer.text : asciiJson(answer);
}

/** Clients that only let a hook allow, refuse or change a call; they add what one says after it. */
const watchers: readonly HookClient[] = [
  'cursor',
  'gemini',
  'qwen',
  'droid',
  'augment',
  'antigravity',
];
/** The names of the events after a call. */
const afterCall = ['PostToolUse', 'postToolUse', 'AfterTool'];

/** Whether the client adds the answer to this event to the context. */
export function takesContext({ client, event, name }: ClientEvent): boolean {
  if (event === 'session-start') return true;
  // Cursor and Copilot only let a hook watch a prompt.
  if (event === 'prompt') return client !== 'cursor' && client !== 'copilot';
  if (event === 'action') return !watchers.includes(client) || afterCall.includes(name);
  // The other clients can only be kept from stopping, which a reminder is not worth.
  return event === 'stop' && client === 'claude';
}

/** Whether the client can be told something when the agent is about to stop, and goes on with it. */
export function takesEnd({ client, event }: ClientEvent): boolean {
  return event === 'stop' && ['claude', 'codex', 'vscode'].includes(client);
}

/** Returns the answer of a hook that says something to the agent before it stops. */
export function endAnswer(event: ClientEvent, text: string): object | undefined {
  if (takesContext(event)) return contextAnswer(event, text);
  const block = { decision: 'block', reason: text };
  if (event.client === 'codex') return block;
  return { hookSpecificOutput: { hookEventName: event.name, ...block } };
}
