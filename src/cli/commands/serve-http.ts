import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import { counted } from '../../core/painter.ts';
import { isLoopback, isSecure } from '../../server/http/address.ts';
import type { HttpSettings } from '../../server/http/settings.ts';
import { leaseBuild } from '../build-lease.ts';
import {
  type Command,
  type FlagValues,
  flagNumber,
  flagText,
  flagTexts,
  type Invocation,
} from '../command.ts';
import { pageFolder } from '../page-folder.ts';
import { endInOrder } from '../shutdown.ts';
import { keepHeapSmall } from '../v8-heap.ts';

/** Minimum length of an API key, in characters: a shorter one could be guessed. */
const leastKey = 16;

/** `memory-bank serve`: serves the REST API and MCP over HTTP until a signal ends it. */
export const serveHttp: Command = {
  about: 'serve the REST API, MCP and the pages of the memory over HTTP',
  flags: {
    host: { value: 'address', about: 'the address to listen on', default: '127.0.0.1' },
    port: { value: 'number', about: 'the port to listen on, 0 for any', default: '3000' },
    'api-key-file': { value: 'file', about: 'the API keys, one a line (MEMORY_BANK_API_KEYS)' },
    issuer: {
      value: 'url',
      about: 'the OAuth authorization server whose access tokens are accepted',
    },
    audience: { value: 'text', about: 'the audience of its tokens', default: '<public-url>/mcp' },
    'public-url': {
      value: 'url',
      about: 'where clients reach the server',
      default: 'http://<host>:<port>',
    },
    project: {
      value: 'name=folder',
      about: 'a project to serve at /p/<name>, in place of --root',
      many: true,
    },
    'no-auth': { about: 'require no API key; on a loopback address only' },
    'allow-host': { value: 'a,b,...', about: 'more host names that requests may use' },
    'allow-origin': { value: 'a,b,...', about: 'origins of web pages that may call the server' },
    'allow-folder': {
      value: 'folder',
      about: 'another folder that MCP clients may open; / for any folder',
      many: true,
    },
    'limit-minute': { value: 'number', about: 'requests a minute of each caller', default: '60' },
    'limit-hour': { value: 'number', about: 'requests an hour of each caller', default: '1000' },
  },
  async run(invocation) {
    const { app, options } = invocation;
    const made = randomBytes(32).toString('base64url');
    keepHeapSmall();
    leaseBuild();
    const settings = readSettings(invocation, process.env, made);
    // Loaded here, so that a client over stdio does not wait for it.
    const { listen } = await import('../../server/http/http.ts');
    const { viewFace } = await import('../../server/view/view-face.ts');
    const { servedProjects } = await import('../served-projects.ts');
    const { version, values } = invocation;
    const projects = await servedProjects(flagTexts(values, 'project'), options);
    const face = viewFace({ folder: pageFolder(), version });
    const server = await listen(app, { ...settings, projects }, face).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MemoryError('storage', `The server cannot listen: ${why}.`, { cause });
    });
    if (settings.keys?.includes(made)) {
      process.stderr.write(`memory-bank: the API key of this run is ${made}\n`);
    }
    process.stderr.write(`memory-bank listens on ${server.url}, with MCP at ${server.url}/mcp\n`);
    for (const { name } of projects) {
      process.stderr.write(`memory-bank serves project ${name} at ${server.url}/p/${name}\n`);
    }
    const status = await new Promise<() => number>((resolve) => {
      const ask = endInOrder(options.log, () => resolve(ask));
    });
    await server.close();
    await Promise.all([app, ...projects.map((project) => project.app)].map((one) => one.close()));
    return status();
  },
};

/**
 * The settings of the server from the command line and the environment.
 *
 * @param made the generated key, valid where they name none.
 */
function readSettings(
  { values, options, version }: Invocation,
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
    },
    headTimeout: 10_000,
    requestTimeout: 30_000,
    readTimeout: 30_000,
    version,
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
  const given = file === undefined ? env.MEMORY_BANK_API_KEYS : readKeys(file);
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
  if (!URL.canParse(publicUrl)) {
    throw new MemoryError('invalid_input', `--public-url ${publicUrl} is not a URL.`);
  }
  return { issuer, audience, publicUrl };
}

function readKeys(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MemoryError('invalid_input', `The key file ${file} cannot be read.`, { cause });
  }
}

function list(text = ''): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}
