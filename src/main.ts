#!/usr/bin/env node
import { join } from 'node:path';
import process from 'node:process';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `memory-bank needs Node.js 20.19 or later; this is ${process.versions.node}.\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded after the check, because an older Node.js does not understand it.
  const { run } = await import('./server/cli.ts');
  const status = await run(process.argv.slice(2), join(import.meta.dirname, '..'));
  // To a pipe, what was printed may still be on its way.
  process.stdout.write('', () => process.exit(status));
}
