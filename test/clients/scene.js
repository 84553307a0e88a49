// A project with a memory, and a home directory, in which a client runs.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

/** The built program. */
export const main = resolve(import.meta.dirname, '../../dist/main.cjs');

/** The file that a client edits, and that a decision of the memory names. */
export const cited = 'src/tokens.ts';

/** A prompt that a decision of the memory answers. */
export const prompt = 'When do JWT access tokens expire? Log a decision about it.';

/**
 * The memory-bank on the PATH of a client: this program, none, or one that knows no `hook` and `--profile`.
 *
 * @typedef {'this' | 'missing' | 'older'} Installed
 */

/**
 * The end of a process.
 *
 * @typedef {{ readonly status: number | null, readonly output: string, readonly ms: number }} Ended
 */

/**
 * Acts that end the programs of scenes and remove their folders, when the run is interrupted.
 *
 * @type {Set<() => void>}
 */
const ends = new Set();
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.once(signal, () => {
    for (const end of ends) end();
    process.kill(process.pid, signal);
  });
}

export class Scene {
  /** @param {string} name the first word of the folder's name. */
  constructor(name) {
    this.folder = mkdtempSync(join(tmpdir(), `memory-bank-${name}-`));
    this.removeNow = () => this.remove();
    ends.add(this.removeNow);
    this.home = join(this.folder, 'home');
    /** @type {string} */
    this.root = join(this.folder, 'project');
    for (const folder of [this.home, join(this.root, dirname(cited))]) {
      mkdirSync(folder, { recursive: true });
    }
    const run = 'exec node "$MAIN" "$@"'.replace('$MAIN', main);
    this.program('this', run);
    // It ends with 2, as a program of today does with a command that it does not know.
    this.program(
      'older',
      `case "$1" in hook) echo 'unknown command "hook"' >&2; exit 2;; *) ${run};; esac`,
    );
    writeFileSync(join(this.root, cited), 'export const minutes = 15;\n');
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Ada Lovelace');
    this.git('config', 'user.email', 'ada@example.org');
    this.git('add', '.');
    this.git('commit', '-q', '-m', 'Add tokens');
    this.memoryBank('update-active-context', '--tasks', 'Rotate the signing keys');
    this.memoryBank(
      'log-decision',
      ...['--title', 'Token expiry', '--context', 'Stolen laptops', '--decision'],
      `JWT access tokens expire after fifteen minutes, see ${cited}`,
    );
  }

  /**
   * Writes a program `memory-bank` into a folder for the PATH.
   *
   * @param {string} folder @param {string} line
   */
  program(folder, line) {
    this.write(join(this.folder, 'bin', folder, 'memory-bank'), `#!/bin/sh\n${line}\n`, 0o755);
  }

  /** @param {string} path @param {string | object} content @param {number} [mode] */
  write(path, content, mode = 0o644) {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
  }

  /** @param {string} path below the home directory. @param {string | object} content */
  atHome(path, content) {
    this.write(join(this.home, path), content);
  }

  /**
   * The variables of a client: nothing of the user's but the PATH, and no memory-bank but ours.
   *
   * @param {Installed} installed
   * @returns {Record<string, string>}
   */
  env(installed) {
    const own = installed === 'missing' ? [] : [join(this.folder, 'bin', installed)];
    const path = (process.env.PATH ?? '')
      .split(delimiter)
      .filter((folder) => !existsSync(join(folder, 'memory-bank')));
    return {
      PATH: [...own, ...path].join(delimiter),
      HOME: this.home,
      TMPDIR: join(this.home, 'tmp'),
      TERM: 'dumb',
      LANG: 'C.UTF-8',
      SHELL: '/bin/sh',
      DO_NOT_TRACK: '1',
      // A proxy that is not there: what is not on this machine cannot be reached by programs that ask for one.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
    };
  }

  /** @param {string[]} args */
  git(...args) {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: this.root,
      env: this.env('this'),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Runs our program. @param {string[]} args */
  memoryBank(...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
      cwd: this.root,
      env: this.env('this'),
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`memory-bank ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  /**
   * Runs a client in the project; ends it after a time.
   *
   * @param {readonly string[]} words
   * @param {NodeJS.ProcessEnv} env
   * @returns {Promise<Ended>}
   */
  run([command = '', ...args], env, limitMs = 90_000) {
    mkdirSync(join(this.home, 'tmp'), { recursive: true });
    const begun = Date.now();
    const child = spawn(command, args, {
      cwd: this.root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that the servers that it has started end with it.
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const end = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All have ended.
      }
    };
    const timer = setTimeout(end, limitMs);
    // Before the folder is removed.
    ends.delete(this.removeNow);
    ends.add(end).add(this.removeNow);
    return new Promise((done, fail) => {
      child.on('error', fail);
      child.on('exit', (status) => {
        clearTimeout(timer);
        // The output is complete when the pipe closes, which a child of the client may hold open.
        setTimeout(() => {
          end();
          ends.delete(end);
          done({ status, output, ms: Date.now() - begun });
        }, 200);
      });
    });
  }

  remove() {
    ends.delete(this.removeNow);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
