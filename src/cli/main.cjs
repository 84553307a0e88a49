#!/usr/bin/env node
// A CommonJS module: Node.js reads it before libuv starts its threads, so it can still set how many.
const { join } = require('node:path');

// A change syncs eight or more files to the medium at a time. The default of four threads would do it
// in rounds, and each round would commit the journal of the file system.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16';

/** A CommonJS module, which Node.js loads in less time than an ES module. */
const quickProgram = './quick.cjs';

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
  const rest = isQuick ? await require(quickProgram).answer(args, packageFolder) : {};
  // It has written everything.
  if (rest === undefined) process.exit(0);
  // Loaded after the check of the version, because an older Node.js cannot parse it.
  const { run } = await import('./cli.js');
  exit(await run(args, packageFolder, rest.input));
}

/** @param {number} status */
function exit(status) {
  // Output to a pipe may not be written yet.
  process.stdout.write('', () => process.exit(status));
}
