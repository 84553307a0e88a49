#!/usr/bin/env node
// A CommonJS module: Node.js reads it before libuv starts its threads, so it can still set how many.
const { join } = require('node:path');

// A change syncs eight or more files to the medium at a time. The default of four threads would do it
// in rounds, and each round would commit the journal of the file system.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `memory-bank needs Node.js 20.19 or later; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded after the check, because an older Node.js cannot parse it.
  import('./cli.js')
    .then(async ({ run }) => {
      const status = await run(process.argv.slice(2), join(__dirname, '..'));
      // Output to a pipe may not be written yet.
      process.stdout.write('', () => process.exit(status));
    })
    .catch((error) => {
      // The bundle imports nothing but its own files and modules of Node.js.
      if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      process.stderr.write(
        'memory-bank: a file of the program is missing: it was replaced or removed while it started or ran. Try again; if that does not help, install it again (in a clone: npm ci).\n',
      );
      process.exitCode = 1;
    });
}
