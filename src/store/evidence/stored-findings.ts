import type { RecordFindings } from '../../core/evidence/verdict.ts';
import { storedLine } from '../layout/entry-places.ts';
import { logAt } from '../layout/log-paths.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';

/** Adds the files and lines where the entries are stored that findings about logs are about. */
export function withStoredLines(
  memory: MemoryFolder,
  records: readonly RecordFindings[],
): readonly RecordFindings[] {
  if (!memory.settings.hasEntryFiles) return records;
  return records.map(({ path, findings }) => {
    if (!logAt(path)) return { path, findings };
    const placed = findings.map((finding) => {
      const { line, stored } = finding;
      if (line === undefined || stored !== undefined) return finding;
      const found = storedLine(memory.storedFiles, path, line);
      return found ? { ...finding, stored: found } : finding;
    });
    return { path, findings: placed };
  });
}
