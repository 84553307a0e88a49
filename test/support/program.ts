import { spawnSync } from 'node:child_process';
import { main, runtime, runtimeArgs, withHome } from './process.ts';

interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | undefined;
}

/** Runs a command of the built program in a folder; returns its status and what it has written. */
export function runProgram(cwd: string, args: readonly string[], options: ProgramOptions = {}) {
  const env = options.env && withHome(options.env);
  const words = [...runtimeArgs, main, ...args];
  return spawnSync(runtime, words, { ...options, env, cwd, encoding: 'utf8' });
}
