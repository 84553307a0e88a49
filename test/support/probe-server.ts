import { serve } from '../../src/cli/commands/serve-stdio.ts';
import { probeApp } from './app.ts';

// A process with the real server and the tools of probe.ts.
const { app, options } = probeApp({
  log: (level, message) => process.stderr.write(`${level}: ${message}\n`),
});
process.exit(await serve.run({ app, options, version: '0.0.0', values: {}, operands: [] }));
