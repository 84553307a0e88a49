import type { StoredLine } from '../../core/evidence/verdict.ts';
import { decisionAt } from './decision-entries.ts';
import { composeLog, type StoredFiles } from './entry-logs.ts';
import { decisions, logAt } from './log-paths.ts';
import { itemAt } from './progress-entries.ts';

/** Finds where a line of a log is stored. */
export function storedLine(files: StoredFiles, path: string, line: number): StoredLine | undefined {
  const log = logAt(path);
  const text = log && composeLog(files, path);
  if (!log || text === undefined) return undefined;
  const find = path === decisions.path ? decisionAt : itemAt;
  const place = find(text, files.entries(log.folder), line);
  if (place) return { path: `${log.folder}/${place.file.name}`, line: place.line };
  const own = files.text(path);
  return own === undefined ? undefined : { path, line: lineOfOwn(own, text, line) };
}

/** Entries are added at one place of a text, so its lines are the same up to there, and from the end on. */
function lineOfOwn(own: string, shown: string, line: number): number {
  const [before, after] = [own.split('\n'), shown.split('\n')];
  const differs = after.findIndex((text, at) => text !== before[at]);
  if (differs < 0 || line <= differs) return line;
  return Math.max(1, line - after.length + before.length);
}
