import type { Tool, ToolCommand } from '../../core/declarations/tool.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { MemoryError } from '../../core/values/error.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { writeYaml } from '../../core/yaml/writer.ts';
import { Screen } from '../screen/terminal.ts';
import type { Command, Flags, Invocation } from './command.ts';
import { withWordedDamage, wordingFor } from './error-wording.ts';
import { exitStatus } from './exit-status.ts';
import { pastOf, withPathOf } from './record-lookup.ts';
import { inReadingSession, inSession } from './run-in-session.ts';
import {
  argumentsOf,
  checkArguments,
  commandName,
  flagsOf,
  type Parameter,
  parametersOf,
  shownName,
} from './tool-arguments.ts';

/** A command that is made from the declaration of a tool. */
export interface DeclaredCommand {
  readonly name: string;
  readonly tool: Tool;
  readonly toolset: Toolset;
  readonly command: Command;
}

/** The command of every tool, under the name that people see: the short one where there is one. */
export function declaredCommands(toolsets: readonly Toolset[]): DeclaredCommand[] {
  return toolsets.flatMap((toolset) =>
    toolset.tools.map((tool) => ({
      name: shownName(toolset, tool),
      tool,
      toolset,
      command: tool.command
        ? shortCommand(toolset, tool, tool.command)
        : toolCommand(toolset, tool),
    })),
  );
}

/**
 * The command with a name: the short name of an operation, the name of its tool, or that name after
 * the name of its toolset.
 */
export function findCommand(toolsets: readonly Toolset[], name: string): Command | undefined {
  for (const toolset of toolsets) {
    for (const tool of toolset.tools) {
      if (tool.command?.name === name) return shortCommand(toolset, tool, tool.command);
      const plain = commandName(tool.name);
      const long = plain === toolset.name ? plain : `${toolset.name} ${plain}`;
      if (name === plain || name === long) return toolCommand(toolset, tool);
    }
  }
  return undefined;
}

const output: Flags = {
  output: {
    value: 'text|json',
    choices: ['text', 'json'],
    about: 'json: the answer as an MCP client gets it',
    default: 'text',
  },
};

/** An operation as people call it: operands, options and a result in their own form. */
function shortCommand(toolset: Toolset, tool: Tool, form: ToolCommand): Command {
  const parameters = parametersOf(form.input, form);
  return {
    about: form.about,
    operands: form.operands,
    flags: { ...Object.fromEntries(parameters.flatMap(flagsOf)), ...output },
    async run(invocation) {
      const { app, values, operands } = invocation;
      const args = await argumentsOf(parameters, values, operands);
      checkArguments(parameters, form.input, args);
      const word = await wordingFor(parameters);
      const screen = new Screen(process.stdout, process.env, word);
      const json = values.output === 'json';
      const run = tool.effect === 'read' ? inReadingSession : inSession;
      const notes: string[] = [];
      const note = (text: string) => void notes.push(text);
      try {
        const result = await run(invocation, (session, options) =>
          app.run(session, form.name, { ...options, note }, async (context) => {
            await toolset.before?.(context, tool);
            const name = typeof args.record === 'string' ? 'record' : 'path';
            const path = args[name];
            if (typeof path !== 'string') return form.run(context, args);
            const types = (await app.toolsets()).flatMap(({ records }) => records);
            const run = (found: string) => form.run(context, { ...args, [name]: found });
            const { revision } = args;
            const named = typeof revision === 'string' ? revision : undefined;
            const past = () => pastOf(context.history, named);
            return withPathOf(context.store, types, path, run, past);
          }),
        );
        if (json) await screen.showJson(toolset.success(tool, result.answer()));
        else await screen.show(textOf(result.show(screen)));
        for (const text of notes) showNote(screen, text);
        if (!json && result.nothing) process.stderr.write(`${screen.message(result.nothing)}\n`);
        return result.failure === undefined ? 0 : exitStatus[result.failure];
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        if (json) await screen.showJson(toolset.failure(tool, error).body);
        throw new MemoryError(error.code, word(error.text), { cause: error });
      }
    },
  };
}

function showNote(screen: Screen, text: string): void {
  process.stderr.write(`memory-bank: note: ${screen.message(text)}\n`);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** A tool as a command: its options are its arguments, as its declaration describes them. */
function toolCommand(toolset: Toolset, tool: Tool): Command {
  const parameters = parametersOf(tool.input);
  return {
    toolset: toolset.name,
    about: tool.description,
    flags: {
      ...Object.fromEntries(parameters.flatMap(flagsOf)),
      json: { value: 'object', about: 'all arguments as one JSON object; - reads it from stdin' },
      ...output,
    },
    async run(invocation) {
      const args = await argumentsOf(parameters, invocation.values, []);
      if (invocation.values.output !== 'json') checkArguments(parameters, tool.input, args);
      return callTool(invocation, tool, parameters, args);
    },
  };
}

/** Calls a tool as an MCP client does, and shows its answer. */
function callTool(
  invocation: Invocation,
  tool: Tool,
  parameters: readonly Parameter[],
  args: JsonObject,
): Promise<number> {
  const run = tool.effect === 'read' ? inReadingSession : inSession;
  return run(invocation, async (session, options) => {
    const call = (name: string, given: unknown) =>
      invocation.app.call(session, name, given, { ...options, unlisted: true });
    let reply = await call(tool.name, args);
    let opened: string | undefined;
    // Some toolsets want a session to be opened. Here a session is one call, so the command opens it,
    // unless a read would create a memory.
    if (reply?.error === 'not_activated' && (await mayActivate(invocation, session, tool))) {
      const activation = await call('activate_project', {});
      opened = activation?.note;
      reply = activation?.error === undefined ? await call(tool.name, args) : activation;
    }
    if (!reply) {
      throw new MemoryError('invalid_input', `--toolsets leaves out the tool ${tool.name}.`);
    }
    const screen = new Screen(process.stdout, process.env, await wordingFor(parameters));
    if (invocation.values.output === 'json') {
      await screen.showJson(reply.body);
    } else if (reply.error === undefined) await showReadable(screen, reply.body);
    if (reply.error === undefined) {
      for (const note of [opened, reply.note]) {
        if (note) showNote(screen, note);
      }
      return 0;
    }
    process.stderr.write(`memory-bank: ${screen.message(reply.text ?? reply.error)}\n`);
    return exitStatus[reply.error];
  });
}

async function mayActivate(
  { app }: Invocation,
  session: Parameters<Invocation['app']['run']>[0],
  tool: Tool,
): Promise<boolean> {
  if (tool.effect !== 'read') return true;
  // Without an id, activating would write one.
  const info = await app.run(session, tool.name, {}, ({ project }) => project.info());
  return info.projectId !== undefined;
}

/** Shows an answer to a person: a text as it is, anything else as YAML. */
async function showReadable(screen: Screen, body: JsonObject): Promise<void> {
  const { success: _, status, data, ...rest } = body;
  const whole = { ...(status !== undefined && status !== 'success' && { status }), ...rest };
  const answer = withWordedDamage(isObject(data) ? { ...data, ...whole } : whole, (text) =>
    screen.message(text),
  );
  const [only, ...others] = Object.values(answer);
  if (others.length === 0 && typeof only === 'string') await screen.showExactly(withEnd(only));
  else if (only !== undefined) await screen.showExactly(writeYaml(answer));

  function withEnd(text: string): string {
    return 'content' in answer || text === '' || text.endsWith('\n') ? text : `${text}\n`;
  }
}
