#!/usr/bin/env node
// A CommonJS module: Node.js reads it before libuv starts its threads, so it can still set how many.
const fs = require('node:fs');
const { dirname, join } = require('node:path');
const vm = require('node:vm');

// A change syncs eight or more files to the medium at a time. The default of four threads would do it
// in rounds, and each round would commit the journal of the file system.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16';

/** A CommonJS module, which Node.js loads in less time than an ES module. */
const quickProgram = './quick.cjs';
/** The scripts that this process has compiled, by the files that keep them for the next one. */
const compiled = new Map();
/** The parameters of the function that a CommonJS module is. */
const parameters = 'exports, require, module, __filename, __dirname';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `memory-bank needs Node.js 20.19 or later; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  const args = process.argv.slice(2);
  const packageFolder = join(__dirname, '..');
  main(args, packageFolder).catch((error) => {
    // The bundle imports nothing but its own files and modules of Node.js.
    if (error?.code !== 'ERR_MODULE_NOT_FOUND' && error?.code !== 'MODULE_NOT_FOUND') throw error;
    process.stderr.write(
      'memory-bank: a file of the program is missing: it was replaced or removed while it started or ran. Try again; if that does not help, install it again (in a clone: npm ci).\n',
    );
    process.exitCode = 1;
  });
}

/**
 * @param {string[]} args
 * @param {string} packageFolder
 */
async function main(args, packageFolder) {
  // Clients wait for a hook, so most are answered by a small part of the program.
  const isQuick = args[0] === 'hook' || args[0] === 'brief';
  const rest = isQuick ? await load(require.resolve(quickProgram)).answer(args, packageFolder) : {};
  if (rest === undefined) {
    // It has written everything, and the functions that it needs are compiled.
    for (const [path, script] of compiled) keep(path, script);
    process.exit(0);
  }
  // Loaded after the check of the version, because an older Node.js cannot parse it.
  const { run } = await import('./cli.js');
  exit(await run(args, packageFolder, rest.input));
}

/**
 * Loads a CommonJS module with the code that an earlier process has compiled: to compile it takes
 * longer than to run it. The code is next to the module, one file for each version of Node.js.
 *
 * @param {string} path
 * @returns {any}
 */
function load(path) {
  const kept = `${path}.${process.version}-${process.arch}.cache`;
  const opening = `(function (${parameters}) { `;
  const script = new vm.Script(`${opening}${fs.readFileSync(path, 'utf8')}\n})`, {
    filename: path,
    columnOffset: -opening.length,
    cachedData: readIfThere(kept),
  });
  const own = { exports: {} };
  const folder = dirname(path);
  /** @param {string} name */
  const requireFrom = (name) => (name.startsWith('./') ? load(join(folder, name)) : require(name));
  script.runInThisContext()(own.exports, requireFrom, own, path, folder);
  if (script.cachedDataRejected !== false) compiled.set(kept, script);
  return own.exports;
}

/** @param {string} path */
function readIfThere(path) {
  try {
    return fs.readFileSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Writes the compiled code of a script, unless the folder belongs to another user.
 *
 * @param {string} path
 * @param {vm.Script} script
 */
function keep(path, script) {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const file = fs.openSync(draft, 'w');
    try {
      fs.writeSync(file, script.createCachedData());
      // Node.js would trust half of the code after a power cut.
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(draft, path);
  } catch {
    // The next process compiles it again.
  }
}

/** @param {number} status */
function exit(status) {
  // Output to a pipe may not be written yet.
  process.stdout.write('', () => process.exit(status));
}
