import type { HookEvent, NamedClient } from '../../../app/hook/client-event.ts';
import hookSettings from './hook-settings.json' with { type: 'json' };

/** A client that runs the commands in its settings, and its settings of them. */
export interface HookedClient {
  readonly title: string;
  /** The path of the file in the project. */
  readonly path: readonly string[];
  /** The keys that lead to the events. */
  readonly root: readonly string[];
  /** The client in its commands, where they name it. */
  readonly named?: NamedClient;
  /** The members of a file of hooks, with the command `memory-bank hook`. */
  readonly settings: {
    readonly version?: number | string;
    /** By the events of the client, or a list of hooks that name theirs. */
    readonly hooks: { readonly [event: string]: readonly object[] } | readonly ListedHook[];
  };
}

/** A hook of a client that has a list of them, each with its event. */
export interface ListedHook {
  readonly name: string;
  readonly trigger: string;
  /** A pattern of the names of tools, for the event of one. */
  readonly matcher?: string;
  readonly action: { readonly type: 'command'; readonly command: string };
  readonly timeout: number;
}

/** A client that runs the scripts in a folder: one for each event, or a plugin for all. */
export interface ScriptClient {
  readonly title: string;
  /** The path of the folder in the project. */
  readonly folder: readonly string[];
  /** The names of the scripts, each with its event. */
  readonly scripts: { readonly [name: string]: HookEvent };
  /** The file of a plugin, whose own events `scripts` has. */
  readonly plugin?: string;
}

/** Seconds, or milliseconds, that a hook may take. */
const seconds = 10;
const milliseconds = 10_000;

/** Events of a client, each with its own; an action also has the pattern of the tools that it is for. */
interface ClientEvents {
  readonly [name: string]: HookEvent | readonly [event: HookEvent, tools: string];
}

/** Hooks in the form of Claude Code, without those that only watch. */
function likeClaude(
  events: ClientEvents,
  timeout: number,
): { readonly [event: string]: readonly object[] } {
  const groups = withTools(events).map(({ name, event, matcher }) => {
    const hooks = [{ type: 'command', command: commandOf(event), timeout }];
    return [name, [{ ...matcher, hooks }]] as const;
  });
  return Object.fromEntries(groups);
}

function withTools(events: ClientEvents) {
  return Object.entries(events).map(([name, given]) => {
    const [event, tools] = typeof given === 'string' ? [given] : given;
    return { name, event, matcher: tools !== undefined && { matcher: tools } };
  });
}

function listed(events: ClientEvents): ListedHook[] {
  return withTools(events).map(({ name, event, matcher }) => ({
    name: `memory-bank ${event}`,
    trigger: name,
    ...matcher,
    action: { type: 'command', command: commandOf(event) },
    timeout: seconds,
  }));
}

function commandOf(event: HookEvent): string {
  return `memory-bank hook ${event}`;
}

const session = {
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  SessionEnd: 'session-end',
} as const;

const wrapped: readonly string[] = ['hooks'];

const claude: HookedClient = {
  title: 'Claude Code hooks',
  path: ['.claude', 'settings.json'],
  root: wrapped,
  settings: hookSettings.claude,
};

/** Clients with hooks in their settings, by the names that `--clients` takes. */
export const hookClients: { readonly [name: string]: HookedClient } = {
  claude,
  codex: {
    title: 'Codex hooks',
    path: ['.codex', 'hooks.json'],
    root: wrapped,
    settings: hookSettings.codex,
  },
  cursor: {
    title: 'Cursor hooks',
    path: ['.cursor', 'hooks.json'],
    root: wrapped,
    settings: hookSettings.cursor,
  },
  // It reads the hooks of Claude Code.
  vscode: { ...claude, title: 'VS Code hooks' },
  copilot: {
    title: 'Copilot CLI hooks',
    path: ['.github', 'hooks', 'memory-bank.json'],
    root: wrapped,
    settings: hookSettings.copilot,
  },
  gemini: {
    title: 'Gemini CLI hooks',
    path: ['.gemini', 'settings.json'],
    root: wrapped,
    settings: hookSettings.gemini,
  },
  devin: {
    title: 'Devin CLI hooks',
    path: ['.devin', 'hooks.v1.json'],
    root: [],
    settings: {
      hooks: likeClaude(
        { ...session, PreToolUse: ['action', 'read|edit|write|exec|patch'] },
        seconds,
      ),
    },
  },
  kiro: {
    title: 'Kiro hooks',
    path: ['.kiro', 'hooks', 'memory-bank.json'],
    root: wrapped,
    named: 'kiro',
    settings: {
      version: 'v1',
      hooks: listed({
        SessionStart: 'session-start',
        UserPromptSubmit: 'prompt',
        PreToolUse: ['action', 'read|write|edit|replace|append|execute|shell'],
      }),
    },
  },
  crush: {
    title: 'Crush hooks',
    path: ['crush.json'],
    root: wrapped,
    settings: {
      hooks: {
        PreToolUse: [
          {
            matcher: '^(bash|edit|multiedit|view|write)$',
            command: commandOf('action'),
            timeout: seconds,
          },
        ],
      },
    },
  },
  qwen: {
    title: 'Qwen Code hooks',
    path: ['.qwen', 'settings.json'],
    root: wrapped,
    settings: {
      hooks: likeClaude(
        {
          ...session,
          PostToolUse: [
            'action',
            '^(?:read_file|read_many_files|edit|replace|write_file|run_shell_command)$',
          ],
        },
        milliseconds,
      ),
    },
  },
  antigravity: {
    title: 'Antigravity hooks',
    path: ['.agents', 'hooks.json'],
    // The events of a hook are below its name.
    root: ['memory-bank'],
    settings: {
      hooks: {
        SessionStart: [{ type: 'command', command: commandOf('session-start'), timeout: seconds }],
        PreInvocation: [{ type: 'command', command: commandOf('prompt'), timeout: seconds }],
      },
    },
  },
  droid: {
    title: 'Droid hooks',
    path: ['.factory', 'hooks.json'],
    root: [],
    settings: {
      hooks: likeClaude(
        { ...session, PostToolUse: ['action', 'Read|Edit|MultiEdit|Create|ApplyPatch|Execute'] },
        seconds,
      ),
    },
  },
  augment: {
    title: 'Augment hooks',
    path: ['.augment', 'settings.json'],
    root: wrapped,
    settings: {
      hooks: likeClaude(
        {
          SessionStart: 'session-start',
          PostToolUse: ['action', 'view|str-replace-editor|save-file|launch-process'],
          SessionEnd: 'session-end',
        },
        milliseconds,
      ),
    },
  },
};

/** Clients with hooks as scripts, by the names that `--clients` takes. */
export const scriptClients: { readonly [name: string]: ScriptClient } = {
  cline: {
    title: 'Cline hooks',
    folder: ['.clinerules', 'hooks'],
    scripts: {
      TaskStart: 'session-start',
      TaskResume: 'session-start',
      UserPromptSubmit: 'prompt',
      PreToolUse: 'action',
    },
  },
  opencode: likeOpencode('opencode plugin', '.opencode'),
  kilo: likeOpencode('Kilo Code plugin', '.kilo'),
};

/** A client that loads plugins of opencode. */
function likeOpencode(title: string, folder: string): ScriptClient {
  return {
    title,
    folder: [folder, 'plugins'],
    plugin: 'memory-bank.js',
    scripts: {
      'first chat.message': 'session-start',
      'chat.message': 'prompt',
      'tool.execute.after': 'action',
    },
  };
}

/** The events of `memory-bank hook` that a client runs, by its own names of them. */
export function eventsOf(name: string): { readonly [event: string]: string } {
  const scripts = scriptClients[name]?.scripts;
  if (scripts) return scripts;
  const { hooks = {} } = hookClients[name]?.settings ?? {};
  const all: readonly (readonly [string, unknown])[] = isListed(hooks)
    ? hooks.map((hook) => [hook.trigger, hook] as const)
    : Object.entries(hooks);
  return Object.fromEntries(
    all.map(([event, groups]) => {
      const [, own = ''] = /memory-bank hook ([a-z-]+)/.exec(JSON.stringify(groups)) ?? [];
      return [event, own];
    }),
  );
}

/** Whether a client has hooks at all. */
export function hasHooks(name: string): boolean {
  return Object.keys(eventsOf(name)).length > 0;
}

/** Whether a client gets the brief by a hook; the others read it in their context file. */
export function getsBrief(name: string): boolean {
  return Object.values(eventsOf(name)).includes('session-start');
}

export function isListed(hooks: HookedClient['settings']['hooks']): hooks is readonly ListedHook[] {
  return Array.isArray(hooks);
}
