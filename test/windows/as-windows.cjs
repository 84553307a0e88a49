// Loaded by Node.js on the Windows bench: does what Windows does and Wine 8 does not.
const { ChildProcess } = require('node:child_process');
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { Socket } = require('node:net');
const { win32 } = require('node:path');

// Wine refuses the option of a socket that `fetch` sets on each connection, so that every call of it would fail.
Socket.prototype.setKeepAlive = function setKeepAlive() {
  return this;
};

const { realpathSync } = fs;
const { native } = realpathSync;

/**
 * Resolves a path. Windows names a shared folder by its server; Wine names a drive on which it is as well.
 *
 * @param {string} path
 */
function realpath(path) {
  const full = win32
    .resolve(path)
    .replace(/^\\\\\?\\UNC\\/i, '\\\\')
    .replace(/^\\\\\?\\(?=[a-z]:)/i, '');
  // Wine resolves no path of more than 260 characters.
  const real = full.length < 260 ? native(path) : realpathSync(full);
  return /^\\\\[^?.]/.test(full) ? full : real;
}

Object.assign(realpathSync, { native: realpath });
Object.assign(fs.promises, {
  /** @param {string} path */
  async realpath(path) {
    return realpath(path);
  },
});
syncBuiltinESMExports();

const start = Reflect.get(ChildProcess.prototype, 'spawn');

// A server that a test starts with an environment of its own loads this file as well.
Object.assign(ChildProcess.prototype, {
  /** @param {{ envPairs: string[] }} options */
  spawn(options) {
    options.envPairs.push(`NODE_OPTIONS=${process.env.NODE_OPTIONS}`);
    return Reflect.apply(start, this, [options]);
  },
});
