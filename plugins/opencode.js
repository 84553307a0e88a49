// Made by "memory-bank init", which replaces this file.
//
// Gives the model of this client what the memory of the project says: a brief with the first prompt of a
// session, records about each prompt, and records about a file or command with the result of the tool.
// It never fails: where the program is missing, older or broken, nothing is added. Version 1 of opencode and Kilo
// Code call `server`, version 2 of opencode calls `setup`.
import { spawn } from 'node:child_process';

const client = 'opencode';
const program = ['memory-bank'];
/** Whether the plugin registers the server as well, which `init` does in the configuration. */
const registers = false;
const environment = { MEMORY_BANK_PROFILE: 'agent' };
/** The entry of the server, which both versions read. */
const entry = { type: 'local', command: program, environment };

/** How long the program may take, in milliseconds. */
const limit = 10_000;
/** Tools that use a file or run a command. */
const tools = /^(?:read|edit|multiedit|write|patch|apply_patch|bash|shell)$/;
/** The end of the id of a part with a text of the memory, which a second copy of this plugin sees. */
const mark = 'memorybank';
const isWindows = process.platform === 'win32';

/**
 * Asks the program about an event; empty if it says nothing.
 *
 * @param {string} event
 * @param {Record<string, unknown>} input
 * @returns {Promise<string>}
 */
function ask(event, input) {
  return new Promise((done) => {
    const words = [...program, 'hook', event];
    // On Windows only a shell starts a command that npm has installed.
    const line = isWindows ? words.map((word) => (/\s/.test(word) ? `"${word}"` : word)) : words;
    const [command = '', ...args] = line;
    const child = spawn(command, args, {
      cwd: String(input.cwd),
      shell: isWindows,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const timer = setTimeout(() => {
      child.kill();
      done('');
    }, limit);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.on('error', () => done(''));
    child.stdin.on('error', () => done(''));
    child.on('close', (status) => {
      clearTimeout(timer);
      done(status === 0 ? textIn(output) : '');
    });
    child.stdin.end(JSON.stringify({ ...input, client }));
  }).catch(() => '');
}

/** The text in an answer of the program. @param {string} output */
function textIn(output) {
  try {
    const text = JSON.parse(output).hookSpecificOutput.additionalContext;
    return typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
}

/**
 * @typedef {{ id: string, type: string, text?: string, synthetic?: boolean, [key: string]: unknown }} Part
 */

/** @param {{ directory: string }} project */
const server = async ({ directory: cwd }) => {
  /** The sessions whose model has a brief. @type {Set<string>} */
  const begun = new Set();
  /** The sessions whose context was shortened. @type {Set<string>} */
  const shortened = new Set();
  /** The texts about calls of tools that no result has taken yet. @type {Map<string, Promise<string>[]>} */
  const waiting = new Map();

  return {
    /** @param {{ mcp?: Record<string, unknown> }} config */
    config: async (config) => {
      if (!registers) return;
      config.mcp = { 'memory-bank': entry, ...config.mcp };
    },

    /** @param {{ event: { type: string, properties?: { sessionID?: string } } }} input */
    event: async ({ event }) => {
      const session = event.properties?.sessionID;
      if (event.type !== 'session.compacted' || session === undefined) return;
      begun.delete(session);
      shortened.add(session);
    },

    /** @param {{ sessionID: string }} input @param {{ message: { id: string }, parts: Part[] }} output */
    'chat.message': async ({ sessionID }, { message, parts }) => {
      const last = parts.at(-1);
      if (!last || parts.some(({ id }) => id.endsWith(mark))) return;
      const texts = parts.filter(({ type, synthetic }) => type === 'text' && !synthetic);
      const prompt = texts.map(({ text }) => text).join('\n');
      const about = { session_id: sessionID, cwd };
      /** @type {Part} */
      const part = { id: `${last.id}${mark}`, sessionID, messageID: message.id, type: 'text' };
      // Taken before the program answers, so that a second copy sees it.
      parts.push(Object.assign(part, { text: '', synthetic: true }));
      const found = [];
      if (!begun.has(sessionID)) {
        begun.add(sessionID);
        const source = shortened.delete(sessionID) ? 'compact' : 'startup';
        const event = { hook_event_name: 'SessionStart', source };
        found.push(await ask('session-start', { ...about, ...event }));
      }
      const event = { hook_event_name: 'UserPromptSubmit', prompt };
      found.push(await ask('prompt', { ...about, ...event }));
      part.text = found.filter(Boolean).join('\n\n');
      if (part.text === '') parts.splice(parts.indexOf(part), 1);
    },

    /** @param {{ tool: string, sessionID: string }} input @param {{ args: unknown }} output */
    'tool.execute.before': async ({ tool, sessionID }, { args }) => {
      if (!tools.test(tool)) return;
      const event = { hook_event_name: 'PreToolUse', tool_name: tool, tool_input: args };
      const found = ask('action', { session_id: sessionID, cwd, ...event });
      waiting.set(sessionID, [...(waiting.get(sessionID) ?? []), found]);
    },

    /** @param {{ tool: string, sessionID: string }} input @param {{ output?: unknown }} result */
    'tool.execute.after': async ({ tool, sessionID }, result) => {
      if (!tools.test(tool) || typeof result?.output !== 'string') return;
      // Those of a call that has failed as well, which the program does not repeat.
      const found = waiting.get(sessionID) ?? [];
      waiting.delete(sessionID);
      const texts = (await Promise.all(found)).filter(Boolean);
      result.output = [result.output, ...texts].join('\n\n');
    },
  };
};

/**
 * The parts of the interface of version 2 that are used here.
 *
 * @typedef {object} Context
 * @property {{ directory?: string }} [location]
 * @property {{ hook(name: string, act: (event: any) => Promise<void>): Promise<unknown> }} session
 * @property {{ hook(name: string, act: (event: any) => Promise<void>): Promise<unknown> }} tool
 * @property {{ transform(act: (servers: Servers) => void): Promise<unknown> }} mcp
 */

/**
 * @typedef {{ get(name: string): unknown, set(name: string, entry: object): void }} Servers
 */

/**
 * Adds texts of the memory to the system prompt of each request of a session, and to the results of tools.
 *
 * @param {Context} context
 */
async function setup({ location, session, tool, mcp }) {
  const cwd = location?.directory ?? process.cwd();
  /** The texts of each session. @type {Map<string, Promise<string>[]>} */
  const texts = new Map();
  /** The texts about the calls of tools, by their ids. @type {Map<string, Promise<string>>} */
  const waiting = new Map();

  await session.hook('prompt', async ({ sessionID, prompt }) => {
    const about = { session_id: sessionID, cwd };
    // A session that an earlier process has begun lost its texts with it.
    const start = { ...about, hook_event_name: 'SessionStart', source: 'clear' };
    const earlier = texts.get(sessionID) ?? [ask('session-start', start)];
    const event = { hook_event_name: 'UserPromptSubmit', prompt: prompt?.text ?? '' };
    const found = Promise.all(earlier).then(() => ask('prompt', { ...about, ...event }));
    texts.set(sessionID, [...earlier, found]);
  });

  await session.hook('context', async ({ sessionID, system }) => {
    const found = (await Promise.all(texts.get(sessionID) ?? [])).filter(Boolean);
    if (found.length > 0) system.push({ type: 'text', text: found.join('\n\n') });
  });

  await tool.hook('execute.before', async ({ tool: name, sessionID, id, input }) => {
    if (!tools.test(name)) return;
    const event = { hook_event_name: 'PreToolUse', tool_name: name, tool_input: input };
    waiting.set(id, ask('action', { session_id: sessionID, cwd, ...event }));
  });

  await tool.hook('execute.after', async ({ id, status, result }) => {
    const found = await waiting.get(id);
    waiting.delete(id);
    if (!found || status !== 'completed') return;
    const { content = result.output } = result;
    if (typeof content === 'string') result.content = `${content}\n\n${found}`;
    else if (Array.isArray(content)) {
      result.content = [...content, { type: 'text', text: found }];
    }
  });

  if (!registers) return;
  await mcp.transform((servers) => {
    if (servers.get('memory-bank') === undefined) servers.set('memory-bank', entry);
  });
}

// The loader of version 1 takes `server` of a default export, and then no other export.
export default { id: 'memory-bank', server, setup };
