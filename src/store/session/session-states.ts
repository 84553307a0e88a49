import type { CopiedRecord, Damaged } from '../../core/memory/listing.ts';
import type { LearnedWords, RecordStates, TypedRecord } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { statNumbers } from '../../git/disk/file-layer.ts';
import type { ChangeLog } from '../records/change-log.ts';
import { copiedFrom } from '../records/copied-file.ts';
import type { LiveRecords } from '../records/live-records.ts';
import { type RecordReader, toListing } from '../records/record-reader.ts';
import { inSlices } from '../records/slices.ts';

/** The search index of the workspace. */
export type SearchIndexStates = Pick<RecordStates, 'saveIndex' | 'learnedWords'>;

/** The states of the records for one call of one session. */
export class SessionStates implements RecordStates {
  readonly #view: LiveRecords;
  readonly #log: ChangeLog;
  readonly #reader: () => Promise<RecordReader>;
  readonly #index: SearchIndexStates;

  constructor(
    view: LiveRecords,
    log: ChangeLog,
    reader: () => Promise<RecordReader>,
    index: SearchIndexStates,
  ) {
    this.#view = view;
    this.#log = log;
    this.#reader = reader;
    this.#index = index;
  }

  async count(): Promise<number> {
    await this.#refresh();
    return this.#view.count;
  }

  async changedFiles(
    known: string,
    isKnown: (path: string, state: readonly number[]) => boolean,
  ): Promise<readonly string[]> {
    await this.#refresh();
    return inSlices(this.#log.since(known, (path, stat) => isKnown(path, statNumbers(stat))));
  }

  async readAt(paths: readonly string[]): Promise<readonly TypedRecord[]> {
    const reader = await this.#refresh();
    return paths.flatMap((path) => {
      const record = reader.mayRead(path) ? this.#view.read(path) : undefined;
      if (!record?.value || record.error) return [];
      if (record.key === undefined || this.#view.shadowedBy(record) !== undefined) return [];
      const { type, key, value } = record;
      return [{ type, key, path, value }];
    });
  }

  async damage(types: readonly AnyRecordType[]): Promise<{
    readonly damaged: readonly Damaged[];
    readonly copies: readonly CopiedRecord[];
  }> {
    const reader = await this.#refresh();
    const damaged: Damaged[] = [];
    const copies: CopiedRecord[] = [];
    for (const type of types) {
      await inSlices(this.#view.reading(type));
      const named = [...this.#view.pathsOf(type)].filter((path) => copiedFrom(path) !== undefined);
      const files = [
        ...this.#view.broken(type),
        ...named.sort().flatMap((path) => this.#view.known(path) ?? []),
      ];
      const readable = files.filter(({ path }) => reader.mayRead(path));
      const found = toListing(readable, this.#view, () => undefined);
      const paths = new Set<string>();
      for (const one of found.damaged) {
        if (!paths.has(one.path)) damaged.push(one);
        paths.add(one.path);
      }
      copies.push(...(found.copies ?? []));
    }
    return { damaged, copies };
  }

  async saveIndex(): Promise<boolean> {
    const reader = await this.#refresh();
    return reader.readsAll && this.#index.saveIndex();
  }

  async learnedWords(): Promise<LearnedWords | undefined> {
    await this.#refresh();
    return this.#index.learnedWords();
  }

  async #refresh(): Promise<RecordReader> {
    const reader = await this.#reader();
    await reader.refresh();
    return reader;
  }
}
