import { isObject } from '../../core/values/json.ts';
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
  const given = withArguments.includes(String(method)) && isObject(args) ? args : {};
  const fields = isObject(meta) ? meta : {};
  return {
    project: given.project ?? fields[projectKey],
    session: given.session ?? fields[sessionKey],
  };
}

/** Returns a message without the argument that names a project, which no tool knows. */
export function withoutProject(message: Record<string, unknown>): Record<string, unknown> {
  const { params } = message;
  if (!isObject(params) || !isObject(params.arguments)) return message;
  const { project: _, ...rest } = params.arguments;
  return { ...message, params: { ...params, arguments: rest } };
}
