import * as z from 'zod';
import { nearestName } from '../../../core/names/nearest-name.ts';
import { describeIssue, MemoryError } from '../../../core/values/error.ts';
import { toIssue } from '../../../core/values/input.ts';
import { readYaml } from '../../../core/yaml/yaml.ts';
import { projectName } from '../auth/projects.ts';
import { maxBodyBytes } from '../server/limits.ts';

const limit = z.int().min(1).max(1_000_000_000);

/** The limits of requests, under the names of the options. */
const limits = {
  'limit-minute': limit.describe('Requests per minute and caller.'),
  'limit-hour': limit.describe('Requests per hour and caller.'),
  'limit-body': z.int().min(1024).max(maxBodyBytes).describe('Bytes of the body of a request.'),
};

const project = z.strictObject({
  folder: z.string().min(1).describe('The folder of the project, relative to this file.'),
  ...z.strictObject(limits).partial().shape,
});

/** The content of the file of `serve --config`: its options, without the dashes before their names. */
export const serveConfig = z
  .strictObject({
    host: z.string().min(1).describe('The address to listen on.'),
    port: z.int().min(0).max(65_535).describe('The port to listen on, 0 for any.'),
    'api-key-file': z.string().min(1).describe('The file of the API keys, relative to this file.'),
    'person-key-file': z
      .string()
      .min(1)
      .describe('The file of the keys of people, who also review the changes of agents.'),
    'no-auth': z.boolean().describe('Whether no API key is required; on a loopback address only.'),
    issuer: z.url().describe('The authorization server whose access tokens are accepted.'),
    audience: z.string().min(1).describe('The audience of its tokens.'),
    'client-id': z
      .string()
      .min(1)
      .describe('The client of the issuer by which people sign in to the window.'),
    'client-secret-file': z
      .string()
      .min(1)
      .describe('The file of the secret of this client, relative to this file.'),
    'client-scope': z.array(z.string()).describe('The scopes that a sign-in asks for.'),
    'public-url': z.url().describe('Where clients reach the server.'),
    project: z
      .record(
        z.string().regex(projectName, 'is a name of other characters than a-z, 0-9, ".", "_", "-"'),
        z.union([z.string().min(1), project], 'must be a folder, or an object with a folder'),
      )
      .describe('Projects by name: a folder, or an object with the folder and limits of its own.'),
    'allow-host': z.array(z.string()).describe('More host names that requests may use.'),
    'allow-origin': z.array(z.string()).describe('Origins of web pages that may call the server.'),
    'allow-folder': z
      .array(z.string())
      .describe('Other folders that MCP clients may open, relative to this file.'),
    'log-format': z.enum(['text', 'json']).describe('The form of the messages on stderr.'),
    ...limits,
  })
  .partial();

export type ServeConfig = z.output<typeof serveConfig>;

/**
 * Reads the text of a configuration file, YAML or JSON.
 *
 * @throws MemoryError `invalid_input` that names every field which cannot be used.
 */
export function readServeConfig(text: string): ServeConfig {
  let data: unknown;
  try {
    data = text.trim() === '' ? {} : readYaml(text);
  } catch (cause) {
    if (!(cause instanceof MemoryError)) throw cause;
    throw new MemoryError('invalid_input', cause.message, { cause });
  }
  const result = serveConfig.safeParse(data);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, data));
  throw new MemoryError('invalid_input', problems.join('; '));
}

function problemsOf(issue: z.core.$ZodIssue, data: unknown): string[] {
  const at = (path: readonly PropertyKey[], message: string) =>
    describeIssue({ path: path.map(String), kind: 'value', message });
  switch (issue.code) {
    case 'unrecognized_keys': {
      const shape = issue.path[0] === 'project' ? project.shape : serveConfig.shape;
      return issue.keys.map((key) => {
        const nearest = nearestName(key, Object.keys(shape));
        const guess = nearest === undefined ? '' : `; did you mean ${nearest}`;
        return at([...issue.path, key], `is not a known field${guess}`);
      });
    }
    case 'invalid_key':
      return issue.issues.map(({ message }) => at(issue.path, message));
    case 'invalid_union': {
      // The object is the form whose problems help; any other value fits neither.
      const [, ofObject = []] = issue.errors;
      const inside = ofObject.filter(
        ({ path, code }) => path.length > 0 || code !== 'invalid_type',
      );
      if (inside.length === 0) return [at(issue.path, issue.message)];
      return inside.flatMap((one) =>
        problemsOf({ ...one, path: [...issue.path, ...one.path] } as z.core.$ZodIssue, data),
      );
    }
    default:
      return [describeIssue(toIssue(issue, data))];
  }
}
