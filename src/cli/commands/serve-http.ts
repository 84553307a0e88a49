import { randomBytes } from 'node:crypto';
import { MemoryError } from '../../core/values/error.ts';
import type { Command } from '../line/command.ts';
import { leaseBuild } from '../process/build-lease.ts';
import { keepDigests } from '../process/keep-digests.ts';
import { pageFolder } from '../process/page-folder.ts';
import { logFormatOf, readServeOptions, readSettings } from '../process/serve-settings.ts';
import { endInOrder } from '../process/shutdown.ts';
import { announce, logFormats, useLogFormat } from '../screen/log.ts';

/** `memory-bank serve`: serves the REST API and MCP over HTTP until a signal ends it. */
export const serveHttp: Command = {
  about: 'serve REST, MCP and the pages of the memory over HTTP',
  flags: {
    config: { value: 'file', about: 'a file with options, in YAML or JSON' },
    host: { value: 'address', about: 'the address to listen on', default: '127.0.0.1' },
    port: { value: 'number', about: 'the port to listen on, 0 for any', default: '3000' },
    'api-key-file': { value: 'file', about: 'the API keys, one a line (MEMORY_BANK_API_KEYS)' },
    'person-key-file': {
      value: 'file',
      about: 'the keys of people, who also review the changes of agents (MEMORY_BANK_PERSON_KEYS)',
    },
    issuer: {
      value: 'url',
      about: 'the OAuth authorization server whose access tokens are accepted',
    },
    audience: { value: 'text', about: 'the audience of its tokens', default: '<public-url>/mcp' },
    'client-id': {
      value: 'id',
      about: 'the client of the issuer by which people sign in to the window',
    },
    'client-secret-file': {
      value: 'file',
      about: 'the secret of this client, if it has one (MEMORY_BANK_CLIENT_SECRET)',
    },
    'client-scope': {
      value: 'a,b,...',
      about: 'the scopes that a sign-in asks for',
      default: 'memory:read,memory:write,memory:review',
    },
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
    'limit-body': {
      value: 'bytes',
      about: 'the body of a request; it cannot be raised',
      default: '8388608',
    },
    'log-format': {
      value: 'format',
      about: 'the messages on stderr: text, or json for one JSON object a line',
      choices: logFormats,
      default: 'text',
    },
  },
  async run(invocation) {
    const { app, options } = invocation;
    const newKey = () => randomBytes(32).toString('base64url');
    const made = { program: newKey(), person: newKey() };
    leaseBuild();
    const { values, projects: folders } = await readServeOptions(invocation);
    useLogFormat(logFormatOf(values));
    const settings = readSettings(invocation, values, process.env, made);
    // Loaded here, so that a client over stdio does not wait for it.
    const { listen } = await import('../../server/http/http.ts');
    const { viewFace } = await import('../../server/view/view-face.ts');
    const { servedProjects } = await import('../process/served-projects.ts');
    const projects = await servedProjects(folders, options);
    const apps = [app, ...projects.map((project) => project.app)];
    const renewals = apps.map((one) => keepDigests(one, invocation));
    const face = viewFace({ folder: pageFolder(), version: invocation.version });
    const server = await listen(app, { ...settings, projects }, face).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MemoryError('storage', `The server cannot listen: ${why}.`, { cause });
    });
    if (settings.keys?.includes(made.program)) {
      announce(`memory-bank: the API key of this run is ${made.program}`);
    }
    if (settings.personKeys.includes(made.person)) {
      announce(
        `memory-bank: the key of this run for people, at ${server.url}/view, is ${made.person}`,
      );
    }
    announce(`memory-bank listens on ${server.url}, with MCP at ${server.url}/mcp`);
    // The first request does not wait for the records; a problem is reported by its answer.
    for (const one of apps) one.warm(one.connect()).catch(() => {});
    for (const { name } of projects) {
      announce(`memory-bank serves project ${name} at ${server.url}/p/${name}`);
    }
    const status = await new Promise<() => number>((resolve) => {
      const ask = endInOrder(options.log, () => resolve(ask));
    });
    await server.close();
    await Promise.all(renewals.map((renew) => renew()));
    await Promise.all(apps.map((one) => one.close()));
    return status();
  },
};
