import { isObject, type JsonObject } from '../../core/values/json.ts';
import { agentOf, type Params } from './methods.ts';
import { invalidParams, RpcError } from './rpc-error.ts';
import { invalidRequest } from './stdio.ts';

/** The revision of the protocol in which each request describes itself. */
export const modernRevision = '2026-07-28';

/** The error code for a revision that this server does not serve. */
const unsupportedVersion = -32022;

/** The levels of log messages, the least severe first. */
export const logLevels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const clientKey = 'io.modelcontextprotocol/clientInfo';
const logLevelKey = 'io.modelcontextprotocol/logLevel';

/** A request with what its `_meta` says about it. */
export interface ModernRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Params;
  readonly version: string;
  readonly capabilities: JsonObject;
  /** The client as commits name it. */
  readonly agent: string | undefined;
  /** The least severe level of log messages to send; undefined for no message. */
  readonly logLevel: string | undefined;
  readonly progressToken: string | number | undefined;
}

/** Whether a message is of a revision in which requests describe themselves. */
export function isModern(message: unknown): message is Record<string, unknown> {
  if (!isObject(message) || typeof message.method !== 'string') return false;
  // No earlier revision has this method.
  return message.method === 'server/discover' || metaOf(message)[versionKey] !== undefined;
}

/** Returns the id of a message, if it is valid. */
export function idOf(message: unknown): string | number | undefined {
  const id = isObject(message) ? message.id : undefined;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as string | number) : undefined;
}

/**
 * Reads a request and its `_meta`.
 *
 * @throws RpcError for a message that is not a request, and for a missing or invalid field.
 */
export function readRequest(message: unknown): ModernRequest {
  const id = idOf(message);
  const { jsonrpc, method, params = {} } = isObject(message) ? message : {};
  if (jsonrpc !== '2.0' || typeof method !== 'string' || id === undefined) {
    throw new RpcError(invalidRequest, 'The message is not a valid JSON-RPC 2.0 request.');
  }
  if (!isObject(params)) throw new RpcError(invalidParams, 'The parameters must be an object.');
  const meta = metaOf({ params });
  const { [versionKey]: version, [capabilitiesKey]: capabilities, progressToken } = meta;
  const { [clientKey]: client, [logLevelKey]: logLevel } = meta;
  if (typeof version !== 'string') throw wrongMeta(versionKey, 'a string');
  if (!isObject(capabilities)) throw wrongMeta(capabilitiesKey, 'an object');
  const named =
    client === undefined ||
    (isObject(client) && typeof client.name === 'string' && typeof client.version === 'string');
  if (!named) throw wrongMeta(clientKey, 'an object with a name and a version');
  if (logLevel !== undefined && !(typeof logLevel === 'string' && logLevels.includes(logLevel))) {
    throw wrongMeta(logLevelKey, `one of ${logLevels.join(', ')}`);
  }
  return {
    id,
    method,
    params,
    version,
    capabilities: capabilities as JsonObject,
    agent: agentOf(client),
    logLevel,
    progressToken: idOf({ id: progressToken }),
  };
}

/** @throws RpcError for a request of another revision. */
export function checkVersion({ version }: ModernRequest): void {
  if (version === modernRevision) return;
  throw new RpcError(unsupportedVersion, `Unsupported protocol version: ${version}`, {
    supported: [modernRevision],
    requested: version,
  });
}

function metaOf({ params }: Record<string, unknown>): Record<string, unknown> {
  return isObject(params) && isObject(params._meta) ? params._meta : {};
}

function wrongMeta(key: string, expected: string): RpcError {
  return new RpcError(invalidParams, `The request needs "${key}" in _meta, which is ${expected}.`);
}
