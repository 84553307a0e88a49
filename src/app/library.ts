import { homedir } from 'node:os';
import { type ErrorCode, MemoryError } from '../core/values/error.ts';
import { inputSchema } from '../core/values/input.ts';
import type { JsonObject, JsonValue } from '../core/values/json.ts';
import { App, redactText } from './app.ts';
import type { Reply } from './session/call-report.ts';
import { findRoot, homeFolder } from './session/root.ts';

export { type ErrorCode, type JsonObject, type JsonValue, MemoryError };

/** Options for opening a memory. */
export interface OpenOptions {
  /** The folder of the project, used without a search; relative to the current one. */
  readonly root: string;
  /** The name of the caller in commits: `my-script/1.0`. */
  readonly agent?: string;
  /** The names of the toolsets to offer; all of them by default. */
  readonly toolsets?: readonly string[];
  /** The mode at the start; none by default. */
  readonly mode?: string;
  /** The memory shared by all projects; `MEMORY_BANK_HOME` or `~/.memory-bank` by default. */
  readonly home?: string;
  /** Receives warnings, and each call at the level `debug`; default: nothing is logged. */
  readonly log?: (level: string, message: string) => void;
}

/** The declaration of a tool. */
export interface ToolInfo {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The effect of a call: it changes nothing, adds or changes, or can remove. */
  readonly effect: 'read' | 'write' | 'destroy';
  /** The JSON Schema of its arguments. */
  readonly inputSchema: JsonObject;
}

/** The answer of a tool. */
export interface Answer {
  /** The wire format of its toolset, as an MCP client gets it. */
  readonly body: JsonObject;
  /** The id of the last commit of the call; undefined if it changed nothing. */
  readonly commit: string | undefined;
  /** The branch that contains it; undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** A sentence next to the body, for a model: unknown arguments, a new repository. */
  readonly note: string | undefined;
}

/** An open memory of a project, for one caller. */
export interface Memory {
  /** The tools that can be called. */
  tools(): Promise<readonly ToolInfo[]>;
  /**
   * Calls a tool; calls run one after the other.
   *
   * @throws MemoryError with the code of the failure, `cancelled` after `close()`; nothing was
   *   committed.
   */
  call(tool: string, args?: JsonObject): Promise<Answer>;
  /** Waits for running calls and closes everything. */
  close(): Promise<void>;
}

/**
 * Opens the memory of a project in this process, next to any servers of it; creates nothing.
 *
 * @throws MemoryError `no_project` if the root is not a folder, is `/` or the home directory;
 *   `invalid_input` for an unknown toolset, `not_found` for an unknown mode.
 */
export async function openMemory(options: OpenOptions): Promise<Memory> {
  const { root, agent, toolsets, mode, home: shared, log = () => {} } = options;
  const { env } = process;
  const [cwd, home] = [process.cwd(), homedir()];
  const place = { flag: root, env: {}, cwd, home };
  await findRoot({ ...place, clientRoots: async () => [] });
  const folder = homeFolder({ ...env, ...(shared && { MEMORY_BANK_HOME: shared }) }, cwd, home);
  const app = new App({
    place,
    homeFolder: folder,
    durability: 'full',
    enabled: toolsets,
    mode,
    log,
  });
  const offered = await app.toolsets();
  const session = app.connect({ isAgent: agent !== undefined });
  session.agent = agent;
  // A session enters its mode when it first reads the memory.
  if (mode !== undefined) await app.run(session, 'open', {}, ({ modes }) => modes.current());
  let closing: Promise<void> | undefined;
  return {
    async tools() {
      return offered
        .flatMap((toolset) => toolset.tools.filter(({ listed }) => listed !== false))
        .map((tool) => {
          const { name, title, description, effect } = tool;
          return { name, title, description, effect, inputSchema: inputSchema(tool) };
        });
    },
    async call(tool, args = {}) {
      if (closing) {
        throw new MemoryError('cancelled', 'The memory is closed; nothing was written.', {
          hint: 'openMemory opens it again.',
        });
      }
      return answerOf(tool, await app.call(session, tool, args));
    },
    close() {
      closing ??= app.close();
      return closing;
    },
  };
}

function answerOf(tool: string, reply: Reply | undefined): Answer {
  if (!reply) throw new MemoryError('not_found', redactText(`There is no tool "${tool}".`));
  const { body, note, error, text, meta } = reply;
  if (error) throw new MemoryError(error, text ?? error, { data: { body } });
  const metaText = (name: string) => {
    const value = meta[`memory-bank/${name}`];
    return typeof value === 'string' ? value : undefined;
  };
  return { body, commit: metaText('commit'), branch: metaText('branch'), note };
}
