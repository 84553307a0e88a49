import { posix } from 'node:path';
import type { CommitInfo } from '../../core/memory/commit-log.ts';
import type { PastRecord, Snapshot } from '../../core/memory/history.ts';
import type {
  HitChange,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../core/memory/search-hit.ts';
import { TreeFolder } from '../../git/objects/tree-folder.ts';
import { readableIn } from '../modes/access.ts';
import { maxFileBytes, type RecordFile } from '../records/record-file.ts';
import { type HistoryReader, isBelow, memoryPath, noRecord, recordPath } from './history-reader.ts';
import { folderAt } from './last-change.ts';
import { stepsOf } from './log-walk.ts';
import type { MemoryHistory } from './memory-history.ts';
import type { PastRecords } from './past-records.ts';

/** Adds the last change of each hit; waits at most so many milliseconds for the index of the history. */
type DateHits = <T extends Pick<SearchHit, 'path' | 'section'>>(
  hits: readonly T[],
  wait?: number,
) => Promise<readonly (T & { readonly changed?: HitChange })[]>;

/** The records of a commit, for one call. */
export class CommitSnapshot implements Snapshot {
  readonly commit: CommitInfo;
  readonly #reader: HistoryReader;
  readonly #records: PastRecords;
  readonly #dated: DateHits;

  /** @param dated adds to each hit of a search when and by whom it was last changed. */
  constructor(commit: CommitInfo, reader: HistoryReader, records: PastRecords, dated: DateHits) {
    this.#dated = dated;
    this.commit = commit;
    this.#reader = reader;
    this.#records = records;
  }

  async read(given: string): ReturnType<Snapshot['read']> {
    const path = recordPath(given);
    this.#reader.checkRead(path);
    const file = this.#reader.mayRead(path) ? this.#records.view.read(path) : undefined;
    const text = file && this.#records.text(path);
    if (!file || text === undefined) throw noRecord(path, this.commit.oid);
    return { ...toPastRecord(file), text, last: await this.#lastChange(path) };
  }

  async list(under: string | undefined, limit: number, skip = 0): ReturnType<Snapshot['list']> {
    const folder = memoryPath(under);
    await this.#records.refresh();
    const { view } = this.#records;
    const paths = view
      .paths()
      .filter((path) => isBelow(path, folder) && this.#reader.mayRead(path))
      .sort();
    if (paths.length === 0 && folder !== undefined) throw noRecord(folder, this.commit.oid);
    const records = paths.slice(skip, skip + limit).flatMap((path) => view.read(path) ?? []);
    return { records: records.map(toPastRecord), total: paths.length };
  }

  async search(request: SearchRequest): Promise<SearchResult> {
    const found = await this.#records.find(request, readableIn(this.#reader.access));
    return { ...found, hits: await this.#dated(found.hits, request.maxWaitMs) };
  }

  dated: Snapshot['dated'] = (places) => this.#dated(places);

  ruleFiles(): ReadonlyMap<string, string> {
    return ruleFiles(this.#reader.history, this.commit.oid);
  }

  async #lastChange(path: string): Promise<CommitInfo> {
    const { index, number } = await this.#reader.indexedCommit(this.commit.oid);
    const [last] = stepsOf(this.#reader, { index, number }, path);
    return last ? this.#reader.describe(index.commit(last.commit).oid, { path }) : this.commit;
  }
}

function toPastRecord({ type, path, key, value, error }: RecordFile): PastRecord {
  return { type, path, key, value, error };
}

/** Reads the rule files of modes in a commit. */
function ruleFiles(history: MemoryHistory, commit: string): ReadonlyMap<string, string> {
  const { odb } = history.repository;
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
  const memory = history.memory.inTree('');
  if (!history.memory.isApart) {
    const root = posix.dirname(memory);
    const project = new TreeFolder(odb, folderAt(odb, commit, root === '.' ? '' : root));
    read(project, '', (name) => name);
  }
  const rules = new TreeFolder(odb, history.tree(commit));
  read(rules, 'rules', (name) => `.memory-bank/rules/${name}`);
  return found;
}
