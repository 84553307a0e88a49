import type { TextFinding } from '../../core/evidence/verdict.ts';
import { own } from '../../core/values/json.ts';
import { Folder } from '../../git/disk/folder.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { join } from '../records/record-path.ts';
import type { MendCommands } from './mend-commands.ts';
import { textFinding } from './text-findings.ts';

/** Extensions that mean the same as that of a record, which no record type takes. */
const meant = { yml: 'yaml', markdown: 'md', mdx: 'md' };

/** Finds files that would be records under another extension, and that nothing reads. */
export function strayFindings(
  reader: HistoryReader,
  mend: MendCommands,
): ReadonlyMap<string, readonly TextFinding[]> {
  const { files, path: root, view } = reader.history.memory;
  const disk = new Folder(files, root);
  const found = new Map<string, readonly TextFinding[]>();
  for (const folder of view.folders().keys()) {
    for (const { name, kind } of disk.list(folder) ?? []) {
      const dot = name.lastIndexOf('.');
      const wanted = dot > 0 ? own(meant, name.slice(dot + 1)) : undefined;
      if (wanted === undefined || kind !== 'file' || name.startsWith('.')) continue;
      const path = join(folder, name);
      if (view.typeOf(path)) continue;
      const record = join(folder, `${name.slice(0, dot)}.${wanted}`);
      if (!reader.mayRead(record)) continue;
      const isTaken = view.typeOf(record) !== undefined && view.read(record) !== undefined;
      const command = !isTaken
        ? mend.rename(path, record)
        : mend.isTracked(path)
          ? mend.remove(path)
          : undefined;
      const rest = isTaken
        ? ', and there is one: take over what that lacks, then remove this file.'
        : '.';
      const message = `Nothing reads it: the name of a record here ends in .${wanted}${rest}`;
      found.set(path, [textFinding('stray', message, { mend: command })]);
    }
  }
  return found;
}
