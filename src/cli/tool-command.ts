import { MemoryError } from '../core/error.ts';
import { inputSchema } from '../core/input.ts';
import { isObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { Tool } from '../core/tool.ts';
import type { Toolset } from '../core/toolset.ts';
import { writeYaml } from '../core/yaml/writer.ts';
import type { Command, Flag, FlagValues, Invocation } from './command.ts';
import { exitStatus } from './exit-status.ts';
import { inSession } from './run-in-session.ts';
import { Screen } from './terminal.ts';

/** A tool's or an argument's name as a word of the command line: `log_decision` is `log-decision`. */
export function commandName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** The tool that is called as a command with this name. */
export function findTool(toolsets: readonly Toolset[], name: string): Tool | undefined {
  return toolsets.flatMap(({ tools }) => tools).find((tool) => commandName(tool.name) === name);
}

/** A tool as a command: its options are its arguments, as its declaration describes them. */
export function toolCommand(tool: Tool): Command {
  const parameters = parametersOf(tool);
  return {
    about: tool.description,
    flags: {
      ...Object.fromEntries(parameters.flatMap(flagsOf)),
      json: { value: 'object', about: 'all arguments as one JSON object; - reads it from stdin' },
      output: {
        value: 'text|json',
        choices: ['text', 'json'],
        about: 'json: the answer as an MCP client gets it; default: text',
      },
    },
    async run(invocation) {
      const args = await argumentsOf(parameters, invocation.values);
      return inSession(invocation, async (session, options) => {
        const call = (name: string, given: unknown) =>
          invocation.app.call(session, name, given, { ...options, unlisted: true });
        let reply = await call(tool.name, args);
        // The documents want a session to be opened. Here a session is one call, so that is opened
        // with it, unless a read would create a memory where there is none.
        if (reply?.error === 'not_activated' && (await mayActivate(invocation, session, tool))) {
          const activation = await call('activate_project', {});
          reply = activation?.error === undefined ? await call(tool.name, args) : activation;
        }
        if (!reply) {
          throw new MemoryError('invalid_input', `--toolsets leaves out the tool ${tool.name}.`);
        }
        const screen = new Screen();
        if (invocation.values.output === 'json') {
          await screen.showJson(reply.body);
        } else if (reply.error === undefined) await showReadable(screen, reply.body);
        if (reply.error === undefined) return 0;
        process.stderr.write(`memory-bank: ${screen.plain(reply.text ?? reply.error)}\n`);
        return exitStatus[reply.error];
      });
    },
  };
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

/** One argument of a tool. */
interface Parameter {
  readonly name: string;
  readonly flag: string;
  readonly schema: JsonObject;
  readonly required: boolean;
}

function parametersOf(tool: Tool): Parameter[] {
  const { properties, required } = inputSchema(tool);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    flag: commandName(name),
    schema: isObject(schema) ? schema : {},
    required: Array.isArray(required) && required.includes(name),
  }));
}

function flagsOf({ flag, schema, required }: Parameter): [string, Flag][] {
  const kind = kindOf(schema);
  const notes = [
    typeof schema.description === 'string' ? schema.description : '',
    required ? 'required' : '',
    schema.default === undefined ? '' : `default: ${JSON.stringify(schema.default)}`,
  ];
  const about = notes.filter((note) => note !== '').join('; ');
  if (kind === 'boolean') {
    return [
      [flag, { about }],
      [`no-${flag}`, { about: `not ${flag}` }],
    ];
  }
  const choices = choicesOf(kind === 'list' && isObject(schema.items) ? schema.items : schema);
  const value = choices?.join('|') ?? (kind === 'list' ? 'text' : kind);
  return [[flag, { value, about, many: kind === 'list', ...(choices && { choices }) }]];
}

function choicesOf(schema: JsonObject): string[] | undefined {
  return Array.isArray(schema.enum) ? schema.enum.map(String) : undefined;
}

/** How an argument is written on a command line. */
function kindOf(schema: JsonObject): 'text' | 'number' | 'boolean' | 'list' | 'json' {
  switch (schema.type) {
    case 'string':
      return 'text';
    case 'boolean':
      return 'boolean';
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return isObject(schema.items) && schema.items.type === 'string' ? 'list' : 'json';
    default:
      return choicesOf(schema) ? 'text' : 'json';
  }
}

/** The arguments of the call; whether they are right is for the tool to say. */
async function argumentsOf(
  parameters: readonly Parameter[],
  values: FlagValues,
): Promise<JsonObject> {
  const whole = values.json === undefined ? {} : await readJson(String(values.json));
  if (!isObject(whole)) throw new MemoryError('invalid_input', '--json must be an object.');
  const given = parameters.flatMap(({ name, flag, schema }): [string, JsonValue][] => {
    const value = values[flag];
    if (values[`no-${flag}`] === true) return [[name, false]];
    if (value === undefined) return [];
    if (typeof value !== 'string') return [[name, typeof value === 'boolean' ? value : [...value]]];
    if (kindOf(schema) === 'json') return [[name, parseJson(`--${flag}`, value)]];
    const number = kindOf(schema) === 'number' && /^-?\d+(\.\d+)?$/.test(value);
    return [[name, number ? Number(value) : value]];
  });
  return { ...whole, ...Object.fromEntries(given) };
}

async function readJson(text: string): Promise<JsonValue> {
  if (text !== '-') return parseJson('--json', text);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return parseJson('stdin', Buffer.concat(chunks).toString('utf8'));
}

function parseJson(where: string, text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new MemoryError('invalid_input', `${where} is no JSON: ${why}`, { cause });
  }
}

/** The answer for a person: a text as it is, anything else as YAML. */
async function showReadable(screen: Screen, body: JsonObject): Promise<void> {
  const { success: _, status, data, ...rest } = body;
  const whole = { ...(status !== undefined && status !== 'success' && { status }), ...rest };
  const answer = isObject(data) ? { ...data, ...whole } : whole;
  const [only, ...others] = Object.values(answer);
  if (others.length === 0 && typeof only === 'string') await screen.showExactly(withEnd(only));
  else if (only !== undefined) await screen.showExactly(writeYaml(answer));

  function withEnd(text: string): string {
    return 'content' in answer || text.endsWith('\n') ? text : `${text}\n`;
  }
}
