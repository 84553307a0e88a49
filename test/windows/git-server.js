// Runs the git of the machine for the git.exe of the Windows bench: git.c describes the protocol.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';

/**
 * What the server knows about the machine.
 *
 * @typedef {object} Machine
 * @property {string} path its PATH, for git and its helpers.
 * @property {string} driveC the folder that is drive C; drive Z is the file system of the machine.
 * @property {string} shares a folder with one for each server of shared folders, such as `\\bench`.
 * @property {string} starter a script that starts Node.js for Windows.
 */

/** The variables of Windows that the machine's git gets as well; the last ones are those of CGI. */
const passed =
  /^(?:GIT_|LC_|LANG|EMAIL$|HOME$|XDG_|SSH_|MEMORY_BANK|REQUEST_|PATH_INFO$|QUERY_|CONTENT_|HTTP_|REMOTE_)/;

/**
 * Writes paths of Windows as the machine does.
 *
 * @param {string} text an argument or variable, in which a path may be a part.
 * @param {Machine} machine
 */
function machinePaths(text, { driveC, shares }) {
  const slashed = (/** @type {string} */ path) => path.replaceAll('\\', '/');
  return text
    .replace(
      /(?<![A-Za-z0-9])([CZ]):(?=[\\/])([^\s"';,)]*)/gi,
      (_, drive, path) => (/c/i.test(drive) ? driveC : '') + slashed(path),
    )
    .replace(/(?<![A-Za-z0-9:])[\\/]{2}(bench|wsl\$)(?=[\\/])([^\s"';,)]*)/gi, (_, server, path) =>
      join(shares, server.toLowerCase(), slashed(path)),
    );
}

/**
 * Writes a path that is relative to a folder as the machine does. A text with a backslash may be none.
 *
 * @param {string} text an argument.
 * @param {string} folder
 */
function machineRelative(text, folder) {
  const path = text.replaceAll('\\', '/');
  const full = resolve(folder, path);
  return text !== path && existsSync(text.startsWith('\\') ? dirname(full) : full) ? path : text;
}

/**
 * Translates the paths that the program has written into a git directory for git.
 *
 * @param {string} gitDir
 * @param {Machine} machine
 */
function translatePaths(gitDir, machine) {
  const trees = join(gitDir, 'worktrees');
  const names = existsSync(trees) ? readdirSync(trees) : [];
  // The configuration of a sync is not that of a user.
  const own = gitDir.includes('/tmp_objdir-sync-') ? ['config'] : [];
  for (const name of [
    ...own,
    'objects/info/alternates',
    ...names.map((one) => `worktrees/${one}/gitdir`),
  ]) {
    const path = join(gitDir, name);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const translated = machinePaths(name === 'config' ? unescaped(text) : text, machine);
    if (translated !== text) writeFileSync(path, translated);
  }
}

/**
 * Reads the backslashes of a configuration: each is written twice.
 *
 * @param {string} text
 */
function unescaped(text) {
  return text.replaceAll('\\\\', '\\');
}

/**
 * Marks scripts as executable: git for Windows starts each file that begins with `#!`.
 *
 * @param {string} gitDir
 * @param {Record<string, string>} env
 */
function markScripts(gitDir, env) {
  const hooks = join(gitDir, 'hooks');
  const names = existsSync(hooks) ? readdirSync(hooks) : [];
  const named = [env.GIT_EDITOR, env.GIT_SSH, env.GIT_SSH_COMMAND];
  for (const path of [...names.map((name) => join(hooks, name)), ...named]) {
    if (path && isFile(path) && beginning(path) === '#!') chmodSync(path, 0o755);
  }
}

/** @param {string} path */
function beginning(path) {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(2);
    return bytes.toString('latin1', 0, readSync(fd, bytes, 0, 2, 0));
  } finally {
    closeSync(fd);
  }
}

/**
 * The options with which git starts the merge driver of a repository, whose program is one for Windows.
 *
 * @param {string} gitDir
 * @param {Machine} machine
 */
function driverOptions(gitDir, { path, starter }) {
  const config = join(gitDir, 'config');
  if (!isFile(config) || !readFileSync(config, 'utf8').includes('merge-driver')) return [];
  const args = ['config', '--file', config, 'merge.memory-bank.driver'];
  const { stdout } = spawnSync('git', args, { encoding: 'utf8', env: { PATH: path } });
  const line = stdout.trim().replace(/^'[^']*node\.exe'/i, `'${starter}'`);
  return ['-c', `merge.memory-bank.driver=${line}`];
}

/**
 * The git directories that a command may use.
 *
 * @param {string} folder
 * @param {readonly string[]} args
 * @param {string | undefined} gitDir the variable GIT_DIR.
 */
function gitDirs(folder, args, gitDir) {
  let top = folder;
  for (let i = 0; args[i] === '-C'; i += 2) top = resolve(top, args[i + 1] ?? '');
  if (gitDir !== undefined) return [resolve(top, gitDir)];
  for (; ; top = dirname(top)) {
    const entry = join(top, '.git');
    // The file `.git` of a linked work tree names a folder in the git directory.
    const [, admin] = isFile(entry)
      ? (/^gitdir: (.+)/.exec(readFileSync(entry, 'utf8')) ?? [])
      : [];
    if (admin) return [dirname(dirname(resolve(top, admin)))];
    if (existsSync(entry) || top === dirname(top)) return [entry, folder];
  }
}

/** @param {string} path */
function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Starts the server.
 *
 * @param {Machine} machine
 * @returns its port, and a function that ends it.
 */
export async function serveGit(machine) {
  const server = createServer((socket) => run(socket, machine));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, close: () => server.close() };
}

/**
 * @param {import('node:net').Socket} socket
 * @param {Machine} machine
 */
function run(socket, machine) {
  const frame = (/** @type {number} */ kind, /** @type {Buffer} */ content) => {
    const head = Buffer.alloc(5);
    head[0] = kind;
    head.writeUInt32LE(content.length, 1);
    return socket.write(Buffer.concat([head, content]));
  };
  socket.on('error', () => {});
  /** @type {import('node:child_process').ChildProcessWithoutNullStreams | undefined} */
  let child;
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const length = rest.length < 4 ? 0 : rest.readUInt32LE(0);
      if (rest.length < 4 + length) return;
      const piece = rest.subarray(4, 4 + length);
      rest = rest.subarray(4 + length);
      if (child === undefined) child = start(parse(piece.toString('utf8'), machine));
      else if (length > 0) child.stdin.write(piece);
      else child.stdin.end();
    }
  });
  socket.on('close', () => child?.exitCode ?? child?.kill());

  /** @param {ReturnType<typeof parse>} request */
  function start({ folder, args, env }) {
    const options = gitDirs(folder, args, env.GIT_DIR).flatMap((gitDir) => {
      translatePaths(gitDir, machine);
      markScripts(gitDir, env);
      return driverOptions(gitDir, machine);
    });
    const all = { ...env, PATH: machine.path };
    const git = spawn('git', [...options, ...args], { cwd: folder, env: all });
    git.stdin.on('error', () => {});
    git.on('error', (error) => frame(2, Buffer.from(`${error.message}\n`)));
    for (const [kind, stream] of /** @type {const} */ ([
      [1, git.stdout],
      [2, git.stderr],
    ])) {
      stream.on('data', (/** @type {Buffer} */ content) => {
        if (frame(kind, content)) return;
        stream.pause();
        socket.once('drain', () => stream.resume());
      });
    }
    // The client closes the connection.
    git.on('close', (code) => frame(0, Buffer.from([code ?? 128])));
    return git;
  }
}

/**
 * Parses a request.
 *
 * @param {string} text
 * @param {Machine} machine
 */
function parse(text, machine) {
  const [folder = '/', ...rest] = text.split('\0').map((part) => machinePaths(part, machine));
  const end = rest.indexOf('');
  const args = rest
    .slice(0, end)
    .map((argument) => (argument === '\x01' ? '' : machineRelative(argument, folder)));
  const variables = rest.slice(end + 1).map((entry) => {
    const at = entry.indexOf('=', 1);
    return /** @type {const} */ ([entry.slice(0, at), entry.slice(at + 1)]);
  });
  const env = Object.fromEntries(variables.filter(([name]) => passed.test(name)));
  return { folder, args, env };
}
