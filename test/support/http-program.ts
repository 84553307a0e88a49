import { type ChildProcess, spawn } from 'node:child_process';
import { type Answer, type Asked, ask } from './http.ts';
import { main, withHome } from './process.ts';
import { Repo } from './repo.ts';

/** The exit status after a signal to end; Windows ends the process without asking it. */
export const endStatus = process.platform === 'win32' ? null : 0;

/** A `memory-bank serve` process with its own repository. */
export class HttpProgram {
  readonly repo: Repo;
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  url = '';
  /** Output on stdout and stderr so far. */
  out = '';
  err = '';

  private constructor(args: readonly string[], env: NodeJS.ProcessEnv, repo: Repo) {
    this.repo = repo;
    const { PATH } = process.env;
    this.child = spawn(process.execPath, [main, 'serve', '--port', '0', ...args], {
      cwd: repo.root,
      env: withHome({ PATH, HOME: '/home/me', ...env }),
    });
    // A failing test does not stop the process.
    process.once('exit', () => this.child.kill('SIGKILL'));
    this.exit = new Promise((resolve) => this.child.on('close', resolve));
  }

  /** Starts the process and waits until it listens. */
  static async start(
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
    repo = Repo.create(),
  ): Promise<HttpProgram> {
    const program = new HttpProgram(args, env, repo);
    const { stdout, stderr } = program.child;
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      program.out += text;
    });
    await new Promise<void>((resolve, reject) => {
      stderr?.setEncoding('utf8').on('data', (text: string) => {
        program.err += text;
        const [, url] = /listens on (\S+), /.exec(program.err) ?? [];
        if (url === undefined) return;
        program.url = url;
        resolve();
      });
      void program.exit.then(() => reject(new Error(program.err)));
    });
    return program;
  }

  ask(method: string, path: string, asked?: Asked): Promise<Answer> {
    return ask(method, `${this.url}${path}`, asked);
  }

  /** Stops the process and waits for its exit. */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    return this.exit;
  }
}
