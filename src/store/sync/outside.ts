import { MemoryError } from '../../core/values/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import type { TreeDifference } from '../../git/objects/tree.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import type { GitConfig } from '../../git/repository/config.ts';
import { isUnsafe } from '../history/safe-name.ts';

/** Attributes with which a file in the work tree differs from its blob. */
const conversion = /^\s*[^#\s].*\s(?:filter|working-tree-encoding|ident|eol=crlf|crlf)\b/m;
const maxAttributes = 1024 * 1024;

/** The error for a change that only native git can make in the work tree. */
function leftToGit(path: string, reason: string): MemoryError {
  return new MemoryError('unsupported', `The upstream changes ${path}, and ${reason}.`, {
    hint: 'Run "git pull", then sync again. Nothing was changed.',
    data: { path },
  });
}

/**
 * Refuses changes of anything but the content of regular files.
 *
 * @throws MemoryError `unsupported`.
 */
export function checkPlain(differences: readonly TreeDifference[]): void {
  const gone = differences.filter(({ after }) => !after).map(({ path }) => path);
  const [removed, shrunk] = [new Set(gone), new Set(gone.flatMap(foldersAbove))];
  for (const { path, before, after } of differences) {
    const modes = [before, after].flatMap((entry) => (entry ? [entry.mode] : []));
    if (modes.some((mode) => mode !== '100644' && mode !== '100755')) {
      throw leftToGit(path, 'it is not a regular file');
    }
    if (before && after && before.mode !== after.mode)
      throw leftToGit(path, 'also changes its mode');
    if (path.split('/').some(isUnsafe))
      throw leftToGit(path, 'its name is not safe on every system');
    const replaces = shrunk.has(path) || foldersAbove(path).some((folder) => removed.has(folder));
    if (after && replaces)
      throw leftToGit(path, 'a file and a folder of the same name replace each other');
  }
}

function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'));
}

/**
 * Refuses files that git converts when it writes them to the work tree: that may run a program.
 *
 * @param tip the commit that contains the files.
 * @throws MemoryError `unsupported`.
 */
export function checkUnconverted(
  odb: ObjectDatabase,
  tip: Oid,
  config: GitConfig,
  paths: readonly string[],
): void {
  const [first] = paths;
  if (first === undefined) return;
  if (config.bool('core.autocrlf') || config.get('core.eol')?.toLowerCase() === 'crlf') {
    throw leftToGit(first, 'the configuration converts its line endings');
  }
  const tree = new TreeFolder(odb, treeOf(odb, tip));
  const folders = new Set(paths.flatMap(foldersAbove));
  for (const path of ['.gitattributes', ...[...folders].map((one) => `${one}/.gitattributes`)]) {
    const text = tree.read(path, maxAttributes)?.toString('utf8') ?? '';
    if (conversion.test(text)) throw leftToGit(first, `${path} requires a conversion`);
  }
}
