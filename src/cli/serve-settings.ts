import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { inFile, MemoryError } from '../core/error.ts';
import { counted } from '../core/painter.ts';
import { isLoopback, isSecure } from '../server/http/address.ts';
import type { ServeConfig } from '../server/http/config-file.ts';
import { type Limits, maxBodyBytes } from '../server/http/limits.ts';
import type { HttpSettings } from '../server/http/settings.ts';
import { type FlagValues, flagNumber, flagText, flagTexts, type Invocation } from './command.ts';
import { type LogFormat, logFormats } from './log.ts';

/** Minimum length of an API key, in characters: a shorter one could be guessed. */
const leastKey = 16;

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
  const { readServeConfig } = await import('../server/http/config-file.ts');
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
  const file = fields['api-key-file'];
  const inFolder = {
    ...fields,
    ...(file !== undefined && { 'api-key-file': resolve(folder, file) }),
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
 * @param made the generated key, valid where they name none.
 */
export function readSettings(
  { options, version }: Invocation,
  values: FlagValues,
  env: NodeJS.ProcessEnv,
  made: string,
) {
  const host = flagText(values, 'host') ?? '127.0.0.1';
  return {
    host,
    port: flagNumber(values, 'port', 3000, 0, 65_535),
    keys: keysFor(host, values, env, made),
    oauth: oauthOf(host, values),
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

/** The valid API keys; undefined when the server requires none. */
function keysFor(
  host: string,
  values: FlagValues,
  env: NodeJS.ProcessEnv,
  made: string,
): readonly string[] | undefined {
  if (values['no-auth']) {
    if (isLoopback(host)) return undefined;
    throw new MemoryError('invalid_input', `--no-auth is refused on ${host}.`, {
      hint: 'Without a key the server listens on a loopback address only.',
    });
  }
  const file = flagText(values, 'api-key-file');
  const given = file === undefined ? env.MEMORY_BANK_API_KEYS : readText(file, 'key file');
  const keys = list(given);
  const short = keys.find((key) => key.length < leastKey);
  if (short !== undefined) {
    const source = file ?? 'MEMORY_BANK_API_KEYS';
    // The key itself stays out of the message, which may be kept in a log.
    const text = `An API key in ${source} has only ${counted(short.length, 'character')}.`;
    throw new MemoryError('invalid_input', text, {
      hint: `Use at least ${leastKey}: "openssl rand -hex 32" makes a good one.`,
    });
  }
  // An access token is a way in, so no key has to be made up.
  if (keys.length > 0 || (file === undefined && values.issuer !== undefined)) return keys;
  if (file !== undefined) throw new MemoryError('invalid_input', `There is no key in ${file}.`);
  return [made];
}

/** The authorization server whose tokens are accepted; undefined for none. */
function oauthOf(host: string, values: FlagValues): HttpSettings['oauth'] {
  const issuer = flagText(values, 'issuer');
  const audience = flagText(values, 'audience');
  const port = flagNumber(values, 'port', 3000, 0, 65_535);
  const publicUrl = flagText(values, 'public-url') ?? `http://${host}:${port}`;
  if (issuer === undefined) {
    const given = ['audience', 'public-url'].find((name) => values[name] !== undefined);
    if (given === undefined) return undefined;
    throw new MemoryError('invalid_input', `--${given} needs --issuer.`);
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
  if (!isWebAddress(publicUrl)) {
    const message = `--public-url ${publicUrl} is not an http or https URL without a query.`;
    throw new MemoryError('invalid_input', message);
  }
  return { issuer, audience, publicUrl };
}

/** Whether a URL is one to which the paths of the server can be added. */
function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${protocol}//${host}${pathname}`;
}

function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MemoryError('invalid_input', `The ${what} ${file} cannot be read.`, { cause });
  }
}

function list(text = ''): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}
