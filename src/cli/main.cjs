#!/usr/bin/env node
// A CommonJS module, because node reads it without any of libuv's threads: how many of them there are
// to be can still be said here.
const { join } = require('node:path');

// A change takes eight files and more to the medium at a time. The usual four threads would do it in
// rounds, each with a commit of the file system's journal of its own.
if (process.env.UV_THREADPOOL_SIZE === undefined) process.env.UV_THREADPOOL_SIZE = '16';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `memory-bank needs Node.js 20.19 or later; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded after the check, because an older Node.js does not understand it.
  void import('./cli.js').then(async ({ run }) => {
    const status = await run(process.argv.slice(2), join(__dirname, '..'));
    // To a pipe, what was printed may still be on its way.
    process.stdout.write('', () => process.exit(status));
  });
}
