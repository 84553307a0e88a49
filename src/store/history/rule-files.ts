import { posix } from 'node:path';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import { maxFileBytes } from '../records/record-file.ts';
import type { Archive } from './archive.ts';
import { folderAt } from './last-change.ts';

/** Reads the rule files of modes in a commit; see `Snapshot.ruleFiles`. */
export function ruleFiles(archive: Archive, commit: string): ReadonlyMap<string, string> {
  const { odb } = archive.repository;
  const found = new Map<string, string>();
  const read = (folder: TreeFolder, below: string, source: (name: string) => string) => {
    for (const { name, kind } of folder.list(below) ?? []) {
      if (kind !== 'file' || !(below !== '' || name.startsWith('.clinerules-'))) continue;
      const path = posix.join(below, name);
      // The size limit of rule files is far below this one, and is reported with their names.
      const isLarge = (folder.stat(path)?.size ?? 0) > maxFileBytes;
      const text = isLarge ? '' : folder.read(path, maxFileBytes)?.toString('utf8');
      if (text !== undefined) found.set(source(name), text);
    }
  };
  const memory = archive.memory.inTree('');
  if (!archive.memory.isApart) {
    const root = posix.dirname(memory);
    const project = new TreeFolder(odb, folderAt(odb, commit, root === '.' ? '' : root));
    read(project, '', (name) => name);
  }
  const rules = new TreeFolder(odb, archive.tree(commit));
  read(rules, 'rules', (name) => `.memory-bank/rules/${name}`);
  return found;
}
