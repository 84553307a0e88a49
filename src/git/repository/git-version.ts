import { spawn } from 'node:child_process';
import { programToStart } from './program-start.ts';

/** The major and the minor number of a version of git. */
export type GitVersion = readonly [major: number, minor: number];

/** The first versions of git with a feature. */
export const firstGit = {
  /** Hooks of a remote that is a folder can be switched off (`core.hooksPath`). */
  sync: [2, 9],
  sha256: [2, 29],
  tables: [2, 45],
} as const satisfies { readonly [feature: string]: GitVersion };

/** Time that git gets to print its version, in milliseconds. */
const limit = 10_000;

/** The version of the installed git; undefined if none can be started. */
export function installedGit(env: NodeJS.ProcessEnv): Promise<GitVersion | undefined> {
  const git = programToStart('git', env);
  if (git === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const child = spawn(git, ['version'], { env, stdio: [...stdio], windowsHide: true });
    const timer = setTimeout(() => child.kill(), limit);
    let text = '';
    child.stdout?.setEncoding('latin1').on('data', (more: string) => {
      text = (text + more).slice(0, 1000);
    });
    const end = () => {
      clearTimeout(timer);
      const [, major, minor] = /^git version (\d+)\.(\d+)/m.exec(text) ?? [];
      resolve(major === undefined ? undefined : [Number(major), Number(minor)]);
    };
    child.on('error', end).on('close', end);
  });
}

/** Whether a version of git is not older than another one. */
export function isAtLeast([major, minor]: GitVersion, [wanted, part]: GitVersion): boolean {
  return major > wanted || (major === wanted && minor >= part);
}
