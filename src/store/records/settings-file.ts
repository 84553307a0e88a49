import { type HookMoment, hookMoments } from '../../core/declarations/hook-moment.ts';
import type { ReviewRule } from '../../core/declarations/workspace.ts';
import type { MemoryPin } from '../../core/memory/pinned-memories.ts';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import type { Folder } from '../../git/disk/folder.ts';
import { hasEntryFiles } from '../layout/log-paths.ts';
import { configPath, lacksFormat, type MemoryConfig, readConfig } from './memory-config.ts';
import { checkWritten } from './memory-format.ts';
import { decodeText, maxFileBytes } from './record-file.ts';

/** `config.yaml` of a memory, read again when it changed. */
export class SettingsFile {
  readonly #folder: Folder;
  readonly #statNow = new MicrotaskMemo<Stat | undefined>();
  /** The content, and the stat of the file when it was read. */
  #known:
    | { readonly stat: Stat | undefined; readonly values: MemoryConfig | undefined }
    | undefined;

  #layout: { readonly stat: Stat | undefined; readonly isOn: boolean } | undefined;

  constructor(folder: Folder) {
    this.#folder = folder;
  }

  get exists(): boolean {
    return this.#statNow.get(() => this.#folder.stat(configPath))?.kind === 'file';
  }

  /** Whether the memory is exchanged with the remote by itself. */
  get syncs(): boolean {
    return this.#readable()?.sync === 'auto';
  }

  /** Whether a sync squashes the unpushed commits of the memory. */
  get squashesBeforeSync(): boolean {
    return this.#readable()?.squash_before_sync === true;
  }

  /** Whether commits of the memory are signed off. */
  get signsOff(): boolean {
    return this.#readable()?.sign_off === true;
  }

  /** Whether a check also compares instructions and documents with the project. */
  get checksDocs(): boolean {
    return this.#readable()?.docs === true;
  }

  /** Whether hooks speak at a moment of a session. */
  speaksAt(moment: HookMoment): boolean {
    return this.#readable()?.[`hook_${moment}`] ?? hookMoments[moment];
  }

  /** Whether the end of an agent session adds its commits to the progress. */
  get recordsCommits(): boolean {
    return this.#readable()?.record_commits === true;
  }

  /** Whether changes of agents wait for a review, and the name that all of them share. */
  get review(): ReviewRule | undefined {
    const settings = this.#readable();
    return settings?.review === 'required' ? { branch: settings.review_branch } : undefined;
  }

  /** Whether each entry of a log has a file of its own. */
  get hasEntryFiles(): boolean {
    const stat = this.#statNow.get(() => this.#folder.stat(configPath));
    if (!this.#layout || !sameStat(stat, this.#layout.stat)) {
      const bytes = this.#folder.read(configPath, maxFileBytes);
      this.#layout = { stat, isOn: hasEntryFiles(bytes?.toString('utf8')) };
    }
    return this.#layout.isOn;
  }

  /** Whether a setting that restricts is in a file of a format that older programs write. */
  get lacksFormat(): boolean {
    const settings = this.#readable();
    return settings !== undefined && lacksFormat(settings);
  }

  /** Groups of words that mean the same in this project. */
  get synonyms(): readonly (readonly string[])[] {
    return this.#readable()?.synonyms ?? [];
  }

  /** The memories of other repositories that the settings pin. */
  get pins(): readonly MemoryPin[] {
    return this.#readable()?.memories ?? [];
  }

  /**
   * Returns the settings; undefined if the file does not exist.
   *
   * @throws MemoryError `damaged`.
   */
  values(): MemoryConfig | undefined {
    return this.#valuesAt(this.#folder.stat(configPath));
  }

  /** Whether the file cannot be used. */
  get isDamaged(): boolean {
    return this.exists && this.#readable() === undefined;
  }

  /** Why this program must not write to the memory; undefined if it may. */
  get readOnly(): string | undefined {
    try {
      this.checkFormat();
      return undefined;
    } catch (error) {
      if (error instanceof MemoryError) return error.text;
      throw error;
    }
  }

  /** Refuses to write to a memory of a later format; see `checkWritten`. Damaged settings are left to others. */
  checkFormat(): void {
    const settings = this.#readable();
    if (settings) checkWritten(settings);
  }

  /** The settings as the calls of this step see them; undefined if they are damaged. */
  #readable(): MemoryConfig | undefined {
    try {
      return this.#valuesAt(this.#statNow.get(() => this.#folder.stat(configPath)));
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  #valuesAt(stat: Stat | undefined): MemoryConfig | undefined {
    if (!this.#known || !sameStat(stat, this.#known.stat)) {
      const bytes = this.#folder.read(configPath, maxFileBytes);
      const values = bytes && readConfig(decodeText(bytes));
      this.#known = { stat, values };
    }
    return this.#known.values;
  }
}
