import * as z from 'zod';
import { inputSchema } from '../../../core/values/input.ts';
import { isObject, type JsonObject, type JsonValue } from '../../../core/values/json.ts';
import { accessTo } from '../auth/route-access.ts';
import { type Endpoint, parametersOf } from '../server/endpoint.ts';
import { apiVersion } from '../server/guards.ts';

const error = {
  type: 'object',
  description: 'An error, in the format of seed 003 ("Error Response Format").',
  properties: {
    status: { type: 'string', enum: ['error'] },
    error: {
      type: 'object',
      properties: {
        code: {
          type: 'string',
          enum: [
            'file_not_found',
            'invalid_request',
            'unauthorized',
            'server_error',
            'mode_not_found',
            'invalid_format',
            'rate_limit_exceeded',
          ],
        },
        message: { type: 'string' },
      },
      required: ['code', 'message'],
    },
  },
  required: ['status', 'error'],
};

const limitHeaders = {
  'X-RateLimit-Limit': header('The limit of requests in the time window.', 'integer'),
  'X-RateLimit-Remaining': header('The number of requests left in the time window.', 'integer'),
  'X-RateLimit-Reset': header('The end of the time window, in seconds since 1970.', 'integer'),
  'X-API-Version': header('The API version of the answer.', 'string'),
};

const commitHeaders = {
  'X-Memory-Commit': header('The commit of the change; absent if nothing changed.', 'string'),
  'X-Memory-Branch': header('The branch that holds the commit.', 'string'),
  'X-Memory-Warning': header(
    'Present if no branch contains the commit, with the command that keeps it.',
    'string',
  ),
};

const versionParameter = {
  name: 'X-API-Version',
  in: 'header',
  description: 'The API version that the client expects.',
  schema: { type: 'string', default: apiVersion },
};

/**
 * Returns the OpenAPI 3.1 description of the REST API, made from its endpoints.
 *
 * @param ofSeveral whether the server has several projects.
 * @param base the path before all paths.
 */
export function describeApi(
  endpoints: readonly Endpoint[],
  ofSeveral: boolean,
  base = '/',
): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method]: {
        ...describeOperation(endpoint, accessTo(endpoint, ofSeveral) === 'anyone'),
        ...(endpoint.ofServer && base !== '/' && { servers: [{ url: '/' }] }),
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Memory Bank',
      version: apiVersion,
      description:
        'The memory of a project over HTTP. Every change is one git commit. MCP clients connect to /mcp.',
    },
    servers: [{ url: base }],
    security: [{ key: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        session: { type: 'apiKey', in: 'cookie', name: 'session_id' },
      },
      schemas: { Error: error },
      responses: {
        Error: {
          description: 'The request failed.',
          headers: {
            ...limitHeaders,
            'Retry-After': header(
              'The seconds to wait before a retry, if a retry can help.',
              'integer',
            ),
          },
          content: content({ $ref: '#/components/schemas/Error' }),
        },
      },
    },
  };
}

function describeOperation(endpoint: Endpoint, open: boolean): JsonObject {
  const { path, id, summary, ofServer, input, inQuery, answer, answerType, commits } = endpoint;
  const names = parametersOf(path);
  const schema = input && inputSchema({ input });
  const properties = isObject(schema?.properties) ? schema.properties : {};
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const inBody = schema && names.length === 0 && !inQuery;
  return {
    operationId: id,
    summary,
    ...(open && { security: [] }),
    parameters: [
      ...names.map((name) => ({
        name,
        in: 'path',
        required: true,
        ...describeParameter(properties[name]),
      })),
      ...Object.keys(inQuery ? properties : {})
        .filter((name) => !names.includes(name))
        .map((name) => ({
          name,
          in: 'query',
          required: required.includes(name),
          ...describeParameter(properties[name]),
        })),
      ...(ofServer ? [] : [versionParameter]),
    ],
    ...(inBody && { requestBody: { required: true, content: content(schema) } }),
    responses: {
      200: {
        description: 'Success.',
        headers: { ...(!ofServer && limitHeaders), ...(commits && commitHeaders) },
        content: content(outputSchema(answer), answerType),
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function describeParameter(property: JsonValue | undefined): JsonObject {
  if (!isObject(property)) return { schema: {} };
  const { description, ...schema } = property;
  return { ...(description !== undefined && { description }), schema };
}

function outputSchema(answer: z.ZodType): JsonObject {
  const { $schema: _, additionalProperties: __, ...schema } = z.toJSONSchema(answer);
  return schema as JsonObject;
}

function content(schema: JsonObject, type = 'application/json'): JsonObject {
  return { [type]: { schema } };
}

function header(description: string, type: string): JsonObject {
  return { description, schema: { type } };
}
