import { realpathSync } from 'node:fs';
import { dirname, resolve, win32 } from 'node:path';
import packageJson from '../../../../package.json' with { type: 'json' };
import { isObject } from '../../../core/values/json.ts';

/** The name of the package in the registry, and the version of this program. */
export const { name: packageName, version: packageVersion } = packageJson;

/** The name of the program on the PATH. */
export const binName = 'memory-bank' satisfies keyof typeof packageJson.bin;

/** Names that npm installs as a `.cmd` file on Windows, which only a shell can start. */
export const shimNames: readonly string[] = [binName, 'npx'];

/**
 * Describes what an entry does if it does not start this program for this project.
 *
 * The program is recognized by its path, by its name (`memory-bank`, `npx memory-bank`, the path of an
 * installed one, which may be gone), or because the entry is what `init` would write now. An entry
 * without a folder serves the project that its client has open.
 *
 * @param program the command that `init` would write.
 * @param root absolute real path of the project.
 * @returns words that follow the name of the entry; undefined for an entry of this setup.
 */
export function otherUse(
  entry: unknown,
  program: readonly string[],
  root: string,
): string | undefined {
  if (!isObject(entry) || typeof entry.command !== 'string') return 'starts no program';
  const args: unknown[] = Array.isArray(entry.args) ? entry.args : [];
  const words = [entry.command, ...args.filter((word) => typeof word === 'string')];
  const started = startedBy(words);
  if (!program.every((word, i) => word === words[i]) && !isThisProgram(started)) {
    return `starts "${started === entry.command ? started : `${entry.command} ${started}`}"`;
  }
  const { MEMORY_BANK_ROOT } = isObject(entry.env) ? entry.env : {};
  const served = rootOption(words) ?? MEMORY_BANK_ROOT ?? entry.cwd;
  // A variable of the client means the project that it has open.
  if (typeof served !== 'string' || served === '' || served.includes('${')) return undefined;
  return realPath(resolve(root, served)) === root ? undefined : `serves ${served}`;
}

/** The path of this program's main file. */
export function ownMain(): string {
  return resolve(process.argv[1] ?? '');
}

/** The command by which git starts this program. Deno grants a program nothing by itself. */
export function ownProgram(): readonly string[] {
  const granted = process.versions.deno === undefined ? [] : ['run', '--allow-all'];
  return [process.execPath, ...granted, ownMain()];
}

/** The command that puts this program on the PATH, as the beginning of a sentence. */
export function pathAdvice(): string {
  const main = realPath(ownMain());
  return /[\\/]node_modules[\\/]/.test(main)
    ? `"npm install -g ${packageName}@${packageVersion}" puts it there`
    : `"npm link" in ${dirname(dirname(main))} puts it there, and "npm install -g ${packageName}" once the package is published`;
}

/** A command line without the shell of Windows before it, as in `cmd /c npx`. */
export function withoutCmd(words: readonly string[]): readonly string[] {
  const [command = '', ...rest] = words;
  if (!/^(?:.*[\\/])?cmd(?:\.exe)?$/i.test(command)) return words;
  const start = rest.findIndex((word) => !/^\/[a-z]$/i.test(word));
  const isRun = rest.slice(0, start).some((word) => /^\/c$/i.test(word));
  return isRun ? rest.slice(start) : words;
}

/** The program that a command line starts: the script or package where the command is a runner. */
function startedBy(words: readonly string[]): string {
  const [command = '', ...args] = withoutCmd(words);
  const runner = /^(?:node|npx)(?:\.exe|\.cmd)?$/i.test(win32.basename(command));
  return (runner ? args.find((arg) => !arg.startsWith('-')) : undefined) ?? command;
}

function isThisProgram(started: string): boolean {
  // On Windows, npm installs the program as this file, which is not a link.
  if (win32.basename(started).toLowerCase() === `${binName}.cmd`) return true;
  if ([binName, packageName].includes(started.replace(/(?!^)@[^/\\]*$/, ''))) return true;
  const installed = `/${packageName}/${packageJson.bin[binName]}`;
  if (started.replaceAll('\\', '/').endsWith(installed)) return true;
  return realPath(resolve(started)) === realPath(ownMain());
}

function rootOption(words: readonly string[]): string | undefined {
  const index = words.findIndex((word) => /^--root(?:=|$)/.test(word));
  const word = words[index];
  return word === '--root' ? words[index + 1] : word?.slice('--root='.length);
}

/** The path with its links resolved, or as it is where there is nothing. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
