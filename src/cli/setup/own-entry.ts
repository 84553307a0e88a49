import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { isObject } from '../../core/json.ts';

const { name: packageName, bin } = packageJson;

/**
 * What else an entry is for than to start this program for a project, in words that follow the entry;
 * undefined where it is for that alone.
 *
 * Its program is known by where it lies, by its name (`memory-bank`, `npx memory-bank`, the path of an
 * installed one, which may be gone), or because it is written as `init` would write it now. An entry
 * that names no folder is for whichever project its client is in.
 *
 * @param program the words that `init` would have clients start it by.
 * @param root absolute real path of the project.
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
  // A variable of the client stands for the project that it is in.
  if (typeof served !== 'string' || served === '' || served.includes('${')) return undefined;
  return realPath(resolve(root, served)) === root ? undefined : `serves ${served}`;
}

/** What a command line starts: a script or package, where the command itself only runs one. */
function startedBy([command = '', ...args]: readonly string[]): string {
  const runner = /^(?:node|npx)(?:\.exe|\.cmd)?$/i.test(basename(command));
  return (runner ? args.find((arg) => !arg.startsWith('-')) : undefined) ?? command;
}

function isThisProgram(started: string): boolean {
  if (started.replace(/@[^/\\]*$/, '') === packageName) return true;
  const installed = `/${packageName}/${bin['memory-bank']}`;
  if (started.replaceAll('\\', '/').endsWith(installed)) return true;
  return realPath(resolve(started)) === realPath(resolve(process.argv[1] ?? ''));
}

function rootOption(words: readonly string[]): string | undefined {
  const place = words.findIndex((word) => /^--root(?:=|$)/.test(word));
  const word = words[place];
  return word === '--root' ? words[place + 1] : word?.slice('--root='.length);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
