import { MemoryError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import { treeOf } from '../../git/objects/odb.ts';
import type { TreeDifference } from '../../git/objects/tree.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import type { GitConfig } from '../../git/repository/config.ts';

/** Attributes and settings by which a file in the work tree holds something else than git keeps. */
const conversion = /^\s*[^#\s].*\s(?:filter|working-tree-encoding|ident|eol=crlf|crlf)\b/m;
const maxAttributes = 1024 * 1024;

/** The error for what only native git can bring into the work tree. */
function leftToGit(path: string, what: string): MemoryError {
  return new MemoryError('unsupported', `The upstream changes ${path}, and ${what}.`, {
    hint: 'Run "git pull", then sync again. Nothing was changed.',
    data: { path },
  });
}

/**
 * Refuses changes that are more than other bytes in an ordinary file.
 *
 * @throws MemoryError `unsupported`.
 */
export function checkPlain(differences: readonly TreeDifference[]): void {
  const gone = differences.filter(({ after }) => !after).map(({ path }) => path);
  const [removed, emptied] = [new Set(gone), new Set(gone.flatMap(foldersAbove))];
  for (const { path, before, after } of differences) {
    const modes = [before, after].flatMap((entry) => (entry ? [entry.mode] : []));
    if (modes.some((mode) => mode !== '100644' && mode !== '100755')) {
      throw leftToGit(path, 'it is not a regular file');
    }
    if (before && after && before.mode !== after.mode) throw leftToGit(path, 'its mode with it');
    if (path.split('/').some(isStrange)) throw leftToGit(path, 'its name is not valid here');
    const swapped = emptied.has(path) || foldersAbove(path).some((folder) => removed.has(folder));
    if (after && swapped) throw leftToGit(path, 'a file and a folder change places');
  }
}

function foldersAbove(path: string): string[] {
  const names = path.split('/');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'));
}

/** Names that lead elsewhere on some system or other, or that are in no encoding that is known here. */
function isStrange(name: string): boolean {
  const plain = name
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/[ .]+$/, '')
    .toLowerCase();
  const isGit = plain === '.git' || plain === 'git~1' || /^\.git:/.test(plain);
  return plain === '' || isGit || /[\\\0\ufffd]/.test(name);
}

/**
 * Refuses files that git converts on their way into the work tree: that would run a program.
 *
 * @param tip the commit that the files are of.
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
    throw leftToGit(first, 'the configuration has its line ends converted');
  }
  const tree = new TreeFolder(odb, treeOf(odb, tip));
  const folders = new Set(paths.flatMap(foldersAbove));
  for (const path of ['.gitattributes', ...[...folders].map((one) => `${one}/.gitattributes`)]) {
    const text = tree.read(path, maxAttributes)?.toString('utf8') ?? '';
    if (conversion.test(text)) throw leftToGit(first, `${path} asks for a conversion`);
  }
}
