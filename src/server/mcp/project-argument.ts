import { isObject } from '../../core/json.ts';
import type { ListedTool } from './methods.ts';

/** The argument of a tool that names a project, for a server that offers several. */
const argument = {
  type: 'string',
  description: 'Project of this server; an unknown name is answered with the known ones',
};

/** Adds the argument that names a project to a tool. */
export function withProject(listed: ListedTool): ListedTool {
  const { inputSchema } = listed;
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  return {
    ...listed,
    inputSchema: { ...inputSchema, properties: { ...properties, project: argument } },
  };
}

/** A tool call without the arguments that only choose the place where it runs. */
export interface PlacedCall {
  /** The project that the call names; undefined for none. */
  readonly project: unknown;
  /** The handle of its session; undefined for none. */
  readonly session: unknown;
  /** The message without the name of a project. */
  readonly message: unknown;
}

/** Reads where a call of a tool is to run; undefined for any other message. */
export function readPlace(message: unknown): PlacedCall | undefined {
  if (!isObject(message) || message.method !== 'tools/call') return undefined;
  const { params } = message;
  const args = isObject(params) ? params.arguments : undefined;
  if (!isObject(params) || !isObject(args)) return undefined;
  const { project, ...rest } = args;
  return {
    project,
    session: args.session,
    message: { ...message, params: { ...params, arguments: rest } },
  };
}
