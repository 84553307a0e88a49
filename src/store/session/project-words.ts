import { DerivedFile } from '../derived/derived-file.ts';
import { jsonBytes } from '../derived/section-file.ts';
import { projectDocuments } from '../history/project-texts.ts';
import { derivedPlace } from '../records/derived-place.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { commonContent, maxCommonBytes } from '../records/saved-layout.ts';
import { inSlices } from '../records/slices.ts';
import { type CommonWords, commonWords, readCommonWords } from '../search/text/common-words.ts';

/**
 * The words that the documents and the manifest of a project use often, in a derived file.
 *
 * A search only reads the file, as a hook does, so that both find the same. It is learned again when
 * the index of the memory is saved and there are new commits.
 */
export class ProjectWords {
  readonly #memory: MemoryFolder;
  readonly #file: DerivedFile;
  #version: string | undefined;
  #weights: CommonWords = new Map();

  constructor(memory: MemoryFolder) {
    this.#memory = memory;
    this.#file = new DerivedFile(
      () => derivedPlace(memory),
      'common',
      commonContent,
      maxCommonBytes,
    );
  }

  /** The weights of the words; empty before they are learned. */
  get weights(): CommonWords {
    const version = this.#file.version();
    if (version !== this.#version) {
      this.#version = version;
      this.#weights = new Map(readCommonWords(this.#file.read())?.words);
    }
    return this.#weights;
  }

  /** Learns the words, unless that was done at this commit. */
  async learn(): Promise<void> {
    const repository = this.#memory.code();
    const head = repository?.canReadRefs ? repository.head().oid : undefined;
    if (!repository || head === undefined || !this.#file.hasPlace) return;
    if (readCommonWords(this.#file.read())?.head === head) return;
    const texts = await inSlices(projectDocuments(repository, this.#memory.folderInCode));
    const words = await inSlices(commonWords(texts));
    await this.#file.writeIdentified([jsonBytes({ head, words })]);
  }
}
