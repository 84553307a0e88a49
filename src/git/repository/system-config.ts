import { posix, win32 } from 'node:path';

/** Returns a variable of a copied environment. Windows ignores the case of names: `PATH` is `Path` there. */
function variable(env: NodeJS.ProcessEnv, name: string, platform: NodeJS.Platform) {
  if (platform !== 'win32' || env[name] !== undefined) return env[name];
  const found = Object.keys(env).find((key) => key.toUpperCase() === name.toUpperCase());
  return found === undefined ? undefined : env[found];
}

/** The folder of Windows itself. */
export function windowsFolder(env: NodeJS.ProcessEnv): string {
  return variable(env, 'SystemRoot', 'win32') ?? 'C:\\Windows';
}

/** The folders in which programs are looked for by name. */
export function pathFolders(env: NodeJS.ProcessEnv, platform = process.platform): string[] {
  const { delimiter } = platform === 'win32' ? win32 : posix;
  return (variable(env, 'PATH', platform) ?? '').split(delimiter);
}

/**
 * Returns the folder of git's system files, `gitconfig` and `gitattributes`.
 *
 * Git for Windows has a folder of its own: in the installation on the PATH, else in the usual place.
 *
 * @param isFile whether there is such a file.
 */
export function systemFolder(
  env: NodeJS.ProcessEnv,
  isFile: (path: string) => boolean,
  platform = process.platform,
): string {
  if (platform !== 'win32') return '/etc';
  const usual = win32.join(variable(env, 'ProgramFiles', platform) ?? 'C:\\Program Files', 'Git');
  const programs = pathFolders(env, platform).find(
    (folder) => win32.isAbsolute(folder) && isFile(win32.join(folder, 'git.exe')),
  );
  // The programs are in "cmd", "bin" or "mingw64\bin".
  const own = programs?.replace(/(?:[\\/](?:mingw|clangarm)\d+)?[\\/](?:cmd|bin)[\\/]*$/i, '');
  const top = [own, usual].find((one) => one && isFile(win32.join(one, 'etc', 'gitconfig')));
  return win32.join(top ?? usual, 'etc');
}
