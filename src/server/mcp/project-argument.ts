import { isObject, jsonText, readJsonText } from '../../core/values/json.ts';
import type { ListedTool } from './methods.ts';

const description = 'Project of this server; an unknown name is answered with the known ones';

/** The argument of a tool that names a project, for a server that offers several. */
const argument = { type: 'string', description };

/** The argument of a prompt that names a project. */
export const projectOfPrompt = { name: 'project', description };

/** The fields of `_meta` that name the place of a request without arguments. */
const projectKey = 'memory-bank/project';
const sessionKey = 'memory-bank/session';

/** The methods with arguments, which name the place of the request. */
const withArguments = ['tools/call', 'prompts/get'];

/** Adds the argument that names a project to a tool. */
export function withProject(listed: ListedTool): ListedTool {
  const { inputSchema } = listed;
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  return {
    ...listed,
    inputSchema: { ...inputSchema, properties: { ...properties, project: argument } },
  };
}

/** Where a request is to run. */
export interface RequestPlace {
  /** The project that the request names; undefined for none. */
  readonly project: unknown;
  /** The handle of its session; undefined for none. */
  readonly session: unknown;
}

/** Reads where a request is to run: from its arguments, or from `_meta` for a method without any. */
export function readPlace(method: unknown, params: unknown): RequestPlace {
  const { arguments: args, _meta: meta } = isObject(params) ? params : {};
  const given = withArguments.includes(String(method)) ? args : {};
  const fields = isObject(meta) ? meta : {};
  return {
    project: takeArgument(given, 'project').value ?? fields[projectKey],
    session: takeArgument(given, 'session').value ?? fields[sessionKey],
  };
}

/**
 * Takes an argument that no tool knows from the arguments of a call.
 *
 * @param given the arguments, which some clients send as JSON text; the rest keeps their form.
 * @returns the value; undefined for none, which null and an empty text also mean.
 */
export function takeArgument(given: unknown, name: string): TakenArgument {
  const args = typeof given === 'string' ? parsed(given) : given;
  if (!isObject(args) || !Object.hasOwn(args, name)) return { value: undefined, rest: given };
  const { [name]: value, ...rest } = args;
  return {
    value: value === null || value === '' ? undefined : value,
    rest: args === given ? rest : jsonText(rest),
  };
}

interface TakenArgument {
  readonly value: unknown;
  /** The other arguments. */
  readonly rest: unknown;
}

function parsed(text: string): unknown {
  try {
    return readJsonText(text);
  } catch {
    return undefined;
  }
}

/** Returns a message without the argument that names a project, which no tool knows. */
export function withoutProject(message: Record<string, unknown>): Record<string, unknown> {
  const { params } = message;
  if (!isObject(params)) return message;
  const { rest } = takeArgument(params.arguments, 'project');
  if (rest === params.arguments) return message;
  return { ...message, params: { ...params, arguments: rest } };
}
