import { dirname, resolve } from 'node:path';
import { inFile, MemoryError } from '../../core/values/error.ts';
import type { WindowClient } from '../../server/http/auth/code-grant.ts';
import type { ServeConfig } from '../../server/http/rest/config-file.ts';
import type { HttpSettings } from '../../server/http/rest/settings.ts';
import { isSecure } from '../../server/http/server/address.ts';
import { type Limits, maxBodyBytes } from '../../server/http/server/limits.ts';
import {
  type FlagValues,
  flagNumber,
  flagText,
  flagTexts,
  type Invocation,
} from '../line/command.ts';
import { type LogFormat, logFormats } from '../screen/log.ts';
import { list, type MadeKeys, readText, serveKeys } from './serve-keys.ts';

/** A project that the command line or the configuration file names. */
export interface NamedFolder {
  readonly name: string;
  /** An absolute path. */
  readonly folder: string;
  readonly limits?: Partial<Limits>;
}

/** The options of `serve`: those of the command line, and the others from the configuration file. */
export interface ServeOptions {
  readonly values: FlagValues;
  readonly projects: readonly NamedFolder[];
}

/**
 * Reads the options of `serve`.
 *
 * @throws MemoryError `invalid_input` for a configuration file that cannot be used.
 */
export async function readServeOptions({ values, options }: Invocation): Promise<ServeOptions> {
  const { cwd } = options.place;
  const file = flagText(values, 'config');
  const given = flagTexts(values, 'project').map((value) => readProject(value, cwd));
  if (file === undefined) return { values, projects: given };
  const path = resolve(cwd, file);
  const { readServeConfig } = await import('../../server/http/rest/config-file.ts');
  const config = inFile(path, () => readServeConfig(readText(path, 'configuration file')));
  const folder = dirname(path);
  return {
    values: { ...toValues(config, folder), ...values },
    projects: given.length > 0 ? given : projectsIn(config, folder),
  };
}

/** Returns the fields of a configuration file as the options of the same names. */
function toValues(config: ServeConfig, folder: string): FlagValues {
  const { project: _, ...fields } = config;
  const files = (['api-key-file', 'person-key-file', 'client-secret-file'] as const).flatMap(
    (name) => {
      const file = fields[name];
      return file === undefined ? [] : [[name, resolve(folder, file)] as const];
    },
  );
  const inFolder = {
    ...fields,
    ...Object.fromEntries(files),
    'client-scope': fields['client-scope']?.join(','),
    'allow-host': fields['allow-host']?.join(','),
    'allow-origin': fields['allow-origin']?.join(','),
    'allow-folder': fields['allow-folder']?.map((one) => resolve(folder, one)),
  };
  return Object.fromEntries(
    Object.entries(inFolder)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

function projectsIn({ project = {} }: ServeConfig, folder: string): NamedFolder[] {
  return Object.entries(project).map(([name, value]) => {
    if (typeof value === 'string') return { name, folder: resolve(folder, value) };
    const limits = Object.entries({
      minute: value['limit-minute'],
      hour: value['limit-hour'],
      body: value['limit-body'],
    }).filter(([, limit]) => limit !== undefined);
    return {
      name,
      folder: resolve(folder, value.folder),
      ...(limits.length > 0 && { limits: Object.fromEntries(limits) }),
    };
  });
}

/** @throws MemoryError `invalid_input` for a value that is not `<name>=<folder>`. */
function readProject(value: string, cwd: string): NamedFolder {
  const [, name = '', folder = ''] = /^([^=]*)=(.+)$/s.exec(value) ?? [];
  if (folder !== '') return { name, folder: resolve(cwd, folder) };
  throw new MemoryError('invalid_input', `--project ${value} is not <name>=<folder>.`);
}

/** Returns the form of the log that the options name. */
export function logFormatOf(values: FlagValues): LogFormat {
  const name = flagText(values, 'log-format');
  return logFormats.find((one) => one === name) ?? 'text';
}

/**
 * The settings of the server from its options and the environment.
 *
 * @param made the generated keys, valid where they name none.
 */
export function readSettings(
  { options, version }: Invocation,
  values: FlagValues,
  env: NodeJS.ProcessEnv,
  made: MadeKeys,
) {
  const host = flagText(values, 'host') ?? '127.0.0.1';
  return {
    host,
    port: flagNumber(values, 'port', 3000, 0, 65_535),
    ...serveKeys(host, values, env, made),
    publicUrl: publicUrlOf(values),
    oauth: oauthOf(host, values, env),
    hosts: list(flagText(values, 'allow-host')),
    origins: list(flagText(values, 'allow-origin')),
    folders: flagTexts(values, 'allow-folder').map((folder) => resolve(folder)),
    limits: {
      minute: flagNumber(values, 'limit-minute', 60, 1, 1_000_000_000),
      hour: flagNumber(values, 'limit-hour', 1000, 1, 1_000_000_000),
      body: flagNumber(values, 'limit-body', maxBodyBytes, 1024, maxBodyBytes),
    },
    headTimeout: 10_000,
    requestTimeout: 30_000,
    readTimeout: 30_000,
    version,
    metrics: true,
    log: options.log,
  } satisfies HttpSettings;
}

/** The URL at which clients reach the server; undefined if no option says it. */
function publicUrlOf(values: FlagValues): string | undefined {
  const given = flagText(values, 'public-url');
  if (given === undefined || isWebAddress(given)) return given;
  const message = `--public-url ${given} is not an http or https URL without a query.`;
  throw new MemoryError('invalid_input', message);
}

/** The authorization server whose tokens are accepted; undefined for none. */
function oauthOf(host: string, values: FlagValues, env: NodeJS.ProcessEnv): HttpSettings['oauth'] {
  const issuer = flagText(values, 'issuer');
  const audience = flagText(values, 'audience');
  const client = clientOf(values, env);
  const port = flagNumber(values, 'port', 3000, 0, 65_535);
  const publicUrl = publicUrlOf(values) ?? `http://${host}:${port}`;
  if (issuer === undefined) {
    if (audience === undefined && client === undefined) return undefined;
    const option = audience === undefined ? '--client-id' : '--audience';
    throw new MemoryError('invalid_input', `${option} needs --issuer.`);
  }
  if (values['no-auth']) {
    throw new MemoryError('invalid_input', '--no-auth and --issuer exclude each other.');
  }
  if (!isSecure(issuer)) {
    throw new MemoryError('invalid_input', `--issuer ${issuer} is not an https URL.`);
  }
  if (port === 0 && values['public-url'] === undefined) {
    throw new MemoryError('invalid_input', '--issuer with --port 0 needs --public-url.');
  }
  return { issuer, audience, publicUrl, client };
}

/** The scopes of a person in the window. */
const personScopes = 'memory:read memory:write memory:review';

/** The window as a client of the authorization server; undefined if no option names it. */
function clientOf(values: FlagValues, env: NodeJS.ProcessEnv): WindowClient | undefined {
  const id = flagText(values, 'client-id');
  const file = flagText(values, 'client-secret-file');
  const scope = flagText(values, 'client-scope');
  if (id === undefined) {
    if (file === undefined && scope === undefined) return undefined;
    const option = file === undefined ? '--client-scope' : '--client-secret-file';
    throw new MemoryError('invalid_input', `${option} needs --client-id.`);
  }
  const secret = file === undefined ? env.MEMORY_BANK_CLIENT_SECRET : readText(file, 'secret file');
  const trimmed = secret?.trim();
  if (file !== undefined && trimmed === '') {
    throw new MemoryError('invalid_input', `There is no secret in ${file}.`);
  }
  return { id, secret: trimmed || undefined, scope: list(scope ?? personScopes).join(' ') };
}

/** Whether a URL is one to which the paths of the server can be added. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${protocol}//${host}${pathname}`;
}
