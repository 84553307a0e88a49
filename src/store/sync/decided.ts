import { createHash } from 'node:crypto';
import type { Decisions } from '../../core/memory/conflict.ts';
import { conflictAddress } from '../../core/memory/conflict-address.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import { logOfEntry } from '../layout/log-paths.ts';
import type { Sides } from '../merge/diff3.ts';
import type { FieldDecision } from '../merge/field-conflicts.ts';
import { type MergedFile, mergeFile } from '../merge/merge-file.ts';
import type { FieldDecisions } from '../merge/record-merge.ts';

/** Merges files with the decisions of a person, and identifies the conflicts that they are about. */
export class Decided {
  readonly #types: readonly AnyRecordType[];
  readonly #decisions: Decisions;
  readonly #hash = createHash('sha256');
  #state: string | undefined;

  /** @throws MemoryError `invalid_input` for two decisions of one conflict. */
  constructor(types: readonly AnyRecordType[], decisions: Decisions) {
    [this.#types, this.#decisions] = [types, decisions];
    const twice = decisions.ours.find((one) => decisions.theirs.includes(one));
    if (twice !== undefined) throw invalid(['theirs'], `${twice} is also in \`ours\`.`);
  }

  /**
   * Merges one file.
   *
   * @param record its path in the memory.
   * @throws MemoryError `invalid_input` for a decision of a field that is not in conflict, `damaged` for
   *   a text that is not a record of its type.
   */
  merge(record: string, path: string, sides: Sides<Buffer | undefined>): MergedFile {
    const merged = mergeFile(this.#types, path, sides, 7);
    if (!merged.conflict) return merged;
    this.note(record, sides);
    const { fields, others, text } = this.of(record);
    if (text !== undefined) return { ...merged, ...this.#written(record, text) };
    const names = merged.fields.map(({ field }) => field);
    for (const name of fields.keys()) {
      if (names.includes(name)) continue;
      const known = names.length === 0 ? 'only the record as a whole' : names.join(', ');
      throw invalid(
        ['ours'],
        `${conflictAddress(record, name)} is not in conflict. In conflict: ${known}.`,
      );
    }
    if (fields.size === 0 && others === undefined) return merged;
    return mergeFile(this.#types, path, sides, { fields, others });
  }

  /** Makes the versions of a record in conflict a part of the state. */
  note(record: string, { base, ours, theirs }: Sides<Buffer | undefined>): void {
    this.#hash.update(JSON.stringify([record, base?.length, ours?.length, theirs?.length]));
    for (const bytes of [base, ours, theirs]) this.#hash.update(bytes ?? '');
  }

  /** Identifies the versions of all records in conflict, once they are merged. */
  get state(): string {
    this.#state ??= this.#hash.digest('hex');
    return this.#state;
  }

  /** @throws MemoryError `conflict` where the decisions are about other versions. */
  checkState(): void {
    if ((this.#decisions.decided ?? this.state) === this.state) return;
    throw new MemoryError('conflict', 'A record in conflict has changed since it was decided.', {
      hint: 'Nothing was changed. Look at the conflicts again.',
    });
  }

  /** The decisions of one record. That of a log as a whole is also one of each of its files. */
  of(record: string): FieldDecisions & { readonly text: string | undefined } {
    const { ours, theirs, texts = new Map<string, string>() } = this.#decisions;
    const start = conflictAddress(record, '');
    const named = (addresses: Iterable<string>) =>
      [...addresses].filter((one) => one.startsWith(start)).map((one) => one.slice(start.length));
    const fields = new Map<string, FieldDecision>([
      ...named(ours).map((name) => [name, 'ours'] as const),
      ...named(theirs).map((name) => [name, 'theirs'] as const),
      ...named(texts.keys()).map(
        (name) => [name, { text: texts.get(start + name) ?? '' }] as const,
      ),
    ]);
    const log = logOfEntry(record);
    const sideOf = (path: string) =>
      ours.includes(path) ? 'ours' : theirs.includes(path) ? 'theirs' : undefined;
    const others = sideOf(record) ?? (log === undefined ? undefined : sideOf(log));
    return { fields, others, text: texts.get(record) };
  }

  #written(record: string, text: string): Pick<MergedFile, 'bytes' | 'conflict' | 'fields'> {
    this.#types.find((type) => type.owns(record))?.codec.decode(text, record);
    return { bytes: Buffer.from(text), conflict: false, fields: [] };
  }
}
