import type { Context } from '../../core/declarations/context.ts';
import { QuickMemory } from '../../store/session/quick-memory.ts';
import {
  firstUnknown,
  type KeyedPassage,
  surestFirst,
} from '../../toolsets/brief/keyed-passage.ts';
import { recordPassages } from '../../toolsets/brief/record-passages.ts';
import { briefSource } from '../../toolsets/index.ts';
import { isPlacedApart } from '../session/placed-apart.ts';
import { BriefDigest } from './brief-digest.ts';
import { doubtsOf } from './digest-writer.ts';

/** Finds the passages about what a session is about to do, in the digest or in all records. */
export class PassageSearch {
  readonly #context: Context;
  #quick: Promise<QuickMemory | undefined> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The first passages with one of some keys that are not known. */
  async find(
    keys: readonly string[],
    isKnown: (passage: KeyedPassage) => boolean,
    limit: number,
  ): Promise<readonly KeyedPassage[]> {
    const found = await this.#inDigest(keys, isKnown, limit);
    return found ?? firstUnknown(await this.#inRecords(keys), isKnown, limit);
  }

  /** The files that were changed since a commit; none where the memory is apart from the code. */
  async changedSince(earlier: string, limit: number): Promise<readonly string[]> {
    return (await this.#memory())?.changedSince(earlier, limit) ?? [];
  }

  /** The last commit that changed a path of the work tree; undefined if it is not known. */
  async lastChangeOf(path: string): Promise<string | undefined> {
    return (await this.#memory())?.lastChangeOf(path);
  }

  /** The passages of the digest; undefined if it is missing, damaged or outdated. */
  async #inDigest(
    keys: readonly string[],
    isKnown: (passage: KeyedPassage) => boolean,
    limit: number,
  ): Promise<readonly KeyedPassage[] | undefined> {
    const memory = await this.#memory();
    try {
      return memory && BriefDigest.read(memory)?.firstPassages(keys, isKnown, limit);
    } catch {
      // A part of it is damaged.
      return undefined;
    } finally {
      memory?.close();
    }
  }

  async #inRecords(keys: readonly string[]): Promise<readonly KeyedPassage[]> {
    const source = briefSource(this.#context);
    const { records } = await source.listing();
    const doubts = await doubtsOf(
      records.map(({ path }) => path),
      source,
    );
    const passages = records.flatMap((record) => {
      return recordPassages(record, doubts.get(record.path)?.evidence ?? []);
    });
    passages.sort(surestFirst);
    return keys.flatMap((key) => passages.filter((passage) => passage.keys.includes(key)));
  }

  /** The memory as a short process reads it; undefined for one that is apart from the code. */
  #memory(): Promise<QuickMemory | undefined> {
    this.#quick ??= this.#context.project.site().then(({ folder, root }) => {
      return isPlacedApart(root) ? undefined : QuickMemory.at(folder);
    });
    return this.#quick;
  }
}
