import type { RecordFile } from '../records/record-file.ts';
import type { HistoryReader } from './history-reader.ts';
import { stepsOf } from './log-walk.ts';
import type { PastRecords } from './past-records.ts';

/** Finds the record of a path in an earlier state, in which it may have another path. */
export async function recordInCommit(
  reader: HistoryReader,
  records: PastRecords,
  path: string,
): Promise<RecordFile | undefined> {
  const here = records.view.read(path);
  const now = reader.history.memory.view.read(path);
  if (here || !now) return here;
  const key = now.key ?? (await lastKey(reader, path));
  return key === undefined ? undefined : records.view.find(now.type, key);
}

/** The key of a record that cannot be read now, from the last commit in which it could be. */
async function lastKey(reader: HistoryReader, path: string): Promise<string | undefined> {
  const { index, number } = await reader.indexedCommit(await reader.resolve('HEAD'));
  const steps = [...stepsOf(reader, { index, number }, path)];
  steps.sort((a, b) => index.compare(a.commit, b.commit));
  for (const { path, blob } of steps) {
    const key = reader.versions.read(path, blob)?.key;
    if (key !== undefined) return key;
  }
  return undefined;
}
