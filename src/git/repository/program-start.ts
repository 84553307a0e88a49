import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { pathFolders, windowsFolder } from './system-config.ts';

/** The system on which a program is looked for; by default the real one. */
export interface ProgramSystem {
  readonly platform?: NodeJS.Platform;
  readonly isFile?: (path: string) => boolean;
}

/**
 * Returns the name or path by which a program is started; undefined if Windows does not have it.
 *
 * Windows prefers a program of that name in the current folder to those on the PATH, and a project could
 * contain a `git.exe`. So its path is looked up first.
 *
 * @param name of the program, or its path.
 */
export function programToStart(
  name: string,
  env: NodeJS.ProcessEnv,
  system: ProgramSystem = {},
): string | undefined {
  const { platform = process.platform } = system;
  return platform === 'win32' ? findProgram(name, env, system) : name;
}

/** The path of a program, by its name or path; undefined if there is none. */
export function findProgram(
  name: string,
  env: NodeJS.ProcessEnv,
  { platform = process.platform, isFile = isRegular }: ProgramSystem = {},
): string | undefined {
  const isWindows = platform === 'win32';
  const { join, isAbsolute } = isWindows ? win32 : posix;
  const isPath = isWindows ? /[\\/:]/.test(name) : name.includes('/');
  const endings = isWindows ? ['', '.com', '.exe'] : [''];
  const folders = isPath
    ? ['']
    : pathFolders(env, platform).filter((folder) => !isWindows || isAbsolute(folder));
  // A file without an ending is not a program of Windows.
  const isProgram = (path: string) => (!isWindows || /\.\w+$/.test(path)) && isFile(path);
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isProgram);
}

/** The environment of a shell that runs a command line of the user, in a folder that can be anybody's. */
export function shellEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  // cmd.exe then looks for a program on the PATH only.
  return process.platform === 'win32' ? { ...env, NoDefaultCurrentDirectoryInExePath: '1' } : env;
}

/** The path of a program of Windows itself. */
export function windowsProgram(name: string, env: NodeJS.ProcessEnv): string {
  return win32.join(windowsFolder(env), 'System32', `${name}.exe`);
}

/** Ends a process and all that it has started, on Windows, where there are no groups of processes. */
export function endTree(pid: number): void {
  const args = ['/pid', `${pid}`, '/T', '/F'];
  const child = spawn(windowsProgram('taskkill', process.env), args, {
    stdio: 'ignore',
    windowsHide: true,
  });
  // It has ended by itself.
  child.on('error', () => {});
}

function isRegular(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
