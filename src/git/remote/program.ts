import { type ChildProcess, spawn } from 'node:child_process';
import { MemoryError } from '../../core/values/error.ts';
import { errno } from '../disk/file-layer.ts';
import { firstGit, type GitVersion, installedGit, isAtLeast } from '../repository/git-version.ts';
import { endTree, programToStart } from '../repository/program-start.ts';

/** Limit of the output that is kept, in characters. */
const maxOutput = 64 * 1024;
/** Time for git to clean up after SIGTERM, in milliseconds. */
const grace = 5000;
/** Time for output after the program ends, in milliseconds: ssh can keep its pipes open. */
const drain = 1000;
/** Time between two calls of the guard, in milliseconds. */
const interval = 100;

/** Exit status and output of a run of git. */
export interface Outcome {
  readonly status: number | null;
  readonly output: string;
  readonly complaint: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Time after which the run is ended, in milliseconds. */
  readonly limit: number;
  /** Returns the error that ends the run; called often while git runs, and once after it. */
  readonly guard: () => MemoryError | undefined;
}

/**
 * Runs the installed git.
 *
 * Git leads its own session: programs that it starts have no terminal to prompt on, and end with it.
 *
 * @throws MemoryError `unsupported` if git is not installed, `remote` after `limit`.
 */
export function runGit(args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { cwd, env, signal, limit, guard } = options;
  signal.throwIfAborted();
  const git = programToStart('git', env);
  if (git === undefined) return Promise.reject(noProgram());
  return new Promise((resolve, reject) => {
    const child = spawn(git, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const texts = { output: '', complaint: '' };
    for (const [name, stream] of [
      ['output', child.stdout],
      ['complaint', child.stderr],
    ] as const) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        texts[name] = (texts[name] + text).slice(0, maxOutput);
      });
    }
    const timers: NodeJS.Timeout[] = [];
    const after = (time: number, action: () => void) => timers.push(setTimeout(action, time));
    let ended: { readonly why: unknown } | undefined;
    const end = (why: unknown) => {
      if (ended) return;
      ended = { why };
      // Git removes its lock files on SIGTERM, but not on SIGKILL.
      kill(child, 'SIGTERM');
      after(grace, () => kill(child, 'SIGKILL'));
    };
    const check = () => {
      try {
        const error = guard();
        if (error) end(error);
      } catch (thrown) {
        // In a timer nobody would catch it, and the run would never end.
        end(thrown);
      }
    };
    const abort = () => end(signal.reason);
    const clear = () => {
      clearInterval(watch);
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    signal.addEventListener('abort', abort);
    after(limit, () => end(tooSlow(limit)));
    const watch = setInterval(check, interval);
    child.on('error', (error) => {
      clear();
      reject(['ENOENT', 'EACCES'].includes(errno(error) ?? '') ? noProgram() : error);
    });
    child.on('exit', () =>
      after(drain, () => {
        child.stdout.destroy();
        child.stderr.destroy();
      }),
    );
    child.on('close', (status) => {
      check();
      clear();
      if (ended) reject(ended.why);
      else resolve({ status, ...texts });
    });
  });
}

/** Signals the program and all programs that it started. */
function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (process.platform === 'win32') endTree(child.pid);
    else process.kill(-child.pid, signal);
  } catch (error) {
    if (errno(error) !== 'ESRCH') throw error;
  }
}

/**
 * Refuses a git that is older than a version; one that cannot be started is left to `runGit`.
 *
 * @throws MemoryError `unsupported` with the version that is needed.
 */
export async function checkGit(env: NodeJS.ProcessEnv, needed: GitVersion): Promise<void> {
  const found = await installedGit(env);
  if (!found || isAtLeast(found, needed)) return;
  throw tooOld(`the installed git is ${found.join('.')}`, needed);
}

/** The error for a git that does not know a feature. */
export function tooOld(reason: string, needed: GitVersion): MemoryError {
  const version = needed.join('.');
  return new MemoryError('unsupported', `Sync needs git ${version} or later here: ${reason}.`, {
    hint: `Install git ${version} or later (https://git-scm.com), then sync again. Everything else works without it.`,
  });
}

function noProgram(): MemoryError {
  return new MemoryError('unsupported', 'Sync needs the git program, which is not installed.', {
    hint: `Install git ${firstGit.sync.join('.')} or later (https://git-scm.com), then sync again. Everything else works without it.`,
  });
}

function tooSlow(limit: number): MemoryError {
  return new MemoryError('remote', `The remote did not finish within ${limit / 1000} seconds.`, {
    hint: 'Run "git fetch" in a terminal, then sync again. Nothing was changed here.',
    data: { limit },
  });
}
