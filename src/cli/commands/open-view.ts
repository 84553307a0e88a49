import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { windowsProgram } from '../../app/session/programs.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Command, flagNumber } from '../line/command.ts';
import { leaseBuild } from '../process/build-lease.ts';
import { pageFolder } from '../process/page-folder.ts';
import { endInOrder } from '../process/shutdown.ts';

/** `memory-bank view`: opens the memory of the project as pages in the browser. */
export const view: Command = {
  about: 'open the memory in the browser: what matters now, records, history, search',
  flags: {
    port: { value: 'number', about: 'the port to listen on', default: 'any free one' },
    'no-open': { about: 'print the address and open no browser' },
  },
  async run({ app, options, values, version }) {
    const port = flagNumber(values, 'port', 0, 0, 65_535);
    const folder = pageFolder();
    leaseBuild();
    const token = randomBytes(24).toString('base64url');
    const { listen } = await import('../../server/http/http.ts');
    const { viewFace } = await import('../../server/view/view-face.ts');
    const settings = {
      host: '127.0.0.1',
      port,
      // Only the link below opens a session.
      keys: [randomBytes(32).toString('base64url')],
      cookie: `view_${randomBytes(6).toString('hex')}`,
      hosts: [],
      origins: [],
      folders: [],
      limits: { minute: 1_000, hour: 100_000 },
      headTimeout: 10_000,
      requestTimeout: 30_000,
      readTimeout: 30_000,
      version,
      log: options.log,
    };
    const face = viewFace({ folder, version, token });
    const server = await listen(app, settings, face).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new MemoryError('storage', `The server cannot listen: ${why}.`, { cause });
    });
    const link = `${server.url}/view?token=${token}`;
    process.stdout.write(`${link}\n`);
    process.stderr.write('The link works once, in one browser. Ctrl+C ends the server.\n');
    if (values['no-open'] !== true) openBrowser(link);
    // The browser takes longer to start; a problem is shown on its page.
    app.warm(app.connect()).catch(() => {});
    const status = await new Promise<() => number>((resolve) => {
      const ask = endInOrder(options.log, () => resolve(ask));
    });
    await server.close();
    await app.close();
    return status();
  },
};

/** Opens a link; where the system has no command for it, the person uses the printed one. */
function openBrowser(link: string): void {
  const { command, args } = browserStart(link, process.platform, process.env);
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

/** The command that opens a link with the browser of the person. */
export function browserStart(link: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv) {
  if (platform === 'darwin') return { command: 'open', args: [link] };
  if (platform !== 'win32') return { command: 'xdg-open', args: [link] };
  // The shell of Windows would take the & of an address for its own.
  const args = ['url.dll,FileProtocolHandler', link];
  return { command: windowsProgram('rundll32', env), args };
}
