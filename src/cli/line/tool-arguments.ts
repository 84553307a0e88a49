import type { Tool, ToolCommand } from '../../core/declarations/tool.ts';
import type { Toolset } from '../../core/declarations/toolset.ts';
import { describeIssue, type Issue, MemoryError } from '../../core/values/error.ts';
import { inputSchema, parseInput } from '../../core/values/input.ts';
import { repairInput } from '../../core/values/input-repair.ts';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  jsonProblem,
  readJsonText,
} from '../../core/values/json.ts';
import { type Flag, type FlagValues, flagText } from './command.ts';

/** The name of a tool or an argument as a word of the command line: `log_decision` is `log-decision`. */
export function commandName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** The name of a tool's command that people see. A single word says too little without its toolset. */
export function shownName(toolset: Toolset, tool: Tool): string {
  const name = tool.command?.name ?? commandName(tool.name);
  const isClear = tool.command || name.includes('-') || name === toolset.name;
  return isClear ? name : `${toolset.name} ${name}`;
}

/** One argument of a tool on the command line: an option, or an operand. */
export interface Parameter {
  readonly name: string;
  /** The name of its option. */
  readonly flag: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  /** Its position among the operands; undefined for an option. */
  readonly position: number | undefined;
  /** Whether `--no-…` sets it to false. */
  readonly negatable: boolean;
}

/** The arguments of a tool as a command. */
export function parametersOf(
  input: Tool['input'],
  form?: Pick<ToolCommand, 'operands' | 'options'>,
): Parameter[] {
  const { operands, options } = form ?? { operands: [], options: {} };
  const { properties, required } = inputSchema({ input });
  const named = operands.map((operand) => operand.replace(/\?$/, ''));
  return Object.entries(isObject(properties) ? properties : {}).map(([name, given]) => {
    const schema = isObject(given) ? given : {};
    const position = named.indexOf(name);
    return {
      name,
      flag: options[name] ?? commandName(name),
      schema,
      required: Array.isArray(required) && required.includes(name),
      position: position < 0 ? undefined : position,
      // In a form for people, an option that is off needs none that turns it off.
      negatable: form === undefined || schema.default === true,
    };
  });
}

/** The option of an argument, and the one that turns it off. */
export function flagsOf({
  flag,
  schema,
  required,
  position,
  negatable,
}: Parameter): [string, Flag][] {
  if (position !== undefined) return [];
  const kind = kindOf(schema);
  const usual = schema.default;
  const described = {
    about: typeof schema.description === 'string' ? schema.description : '',
    ...(required && { required }),
    ...(usual !== undefined && {
      default: typeof usual === 'string' ? usual : JSON.stringify(usual),
    }),
  };
  if (kind === 'boolean') {
    const off: [string, Flag] = [`no-${flag}`, { about: `not ${flag}` }];
    return [[flag, described], ...(negatable ? [off] : [])];
  }
  const item = kind === 'list' && isObject(schema.items) ? schema.items : schema;
  const choices = choicesOf(item);
  const title = typeof item.title === 'string' ? item.title : undefined;
  const value = choices?.join('|') ?? title ?? (kind === 'list' ? 'text' : kind);
  return [[flag, { value, ...described, many: kind === 'list', ...(choices && { choices }) }]];
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

/** The arguments that a command line gives, not yet validated. */
export async function argumentsOf(
  parameters: readonly Parameter[],
  values: FlagValues,
  operands: readonly string[],
): Promise<JsonObject> {
  const object = flagText(values, 'json');
  const whole = object === undefined ? {} : await readJson(object);
  if (!isObject(whole)) throw new MemoryError('invalid_input', '--json must be an object.');
  const given = parameters.flatMap(({ name, flag, schema, position }): [string, JsonValue][] => {
    const value = position === undefined ? values[flag] : operands[position];
    if (values[`no-${flag}`] === true) return [[name, false]];
    if (value === undefined) return [];
    if (typeof value !== 'string') return [[name, typeof value === 'boolean' ? value : [...value]]];
    if (kindOf(schema) === 'json') return [[name, parseJson(`--${flag}`, value)]];
    const number = kindOf(schema) === 'number' && /^-?\d+(\.\d+)?$/.test(value);
    return [[name, number ? Number(value) : value]];
  });
  return { ...whole, ...Object.fromEntries(given) };
}

/**
 * Validates the arguments of a command.
 *
 * @throws MemoryError `invalid_input` that names options and operands.
 */
export function checkArguments(
  parameters: readonly Parameter[],
  input: Tool['input'],
  args: JsonObject,
): void {
  try {
    parseInput(input, repairInput(input, args).args);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    const issues = error.issues.map((issue) => describe(parameters, issue, args));
    throw new MemoryError(error.code, issues.join('; ') || error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error,
    });
  }
}

function describe(parameters: readonly Parameter[], issue: Issue, args: JsonObject): string {
  const [first = '', ...rest] = issue.path;
  const found = parameters.find(({ name }) => name === first);
  if (!found) return describeIssue(issue);
  const { name, flag, position, schema } = found;
  const word = position === undefined ? `--${flag}` : `<${name}>`;
  if (rest.length > 0) return describeIssue({ ...issue, path: [word, ...rest] });
  if (issue.kind === 'type' && kindOf(schema) === 'number') {
    return `${word} must be a number, not ${JSON.stringify(args[name])}`;
  }
  return /^(?:is|must) /.test(issue.message)
    ? `${word} ${issue.message}`
    : `${word}: ${issue.message}`;
}

async function readJson(text: string): Promise<JsonValue> {
  if (text !== '-') return parseJson('--json', text);
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return parseJson('stdin', Buffer.concat(chunks).toString('utf8'));
}

function parseJson(where: string, text: string): JsonValue {
  try {
    return readJsonText(text);
  } catch (cause) {
    throw new MemoryError('invalid_input', `${where} is not valid JSON: ${jsonProblem(cause)}.`, {
      cause,
    });
  }
}
