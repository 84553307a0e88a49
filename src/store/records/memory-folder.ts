import { join, sep } from 'node:path';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { OnStored, Provenance } from '../../core/memory/store.ts';
import type { AnyRecordType } from '../../core/record/record-type.ts';
import { CoalescedRun } from '../../core/timing/coalesced-run.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Adoption } from '../../git/commit/commit-plan.ts';
import type { MutationCaller } from '../../git/commit/commit-waits.ts';
import type { Repository } from '../../git/commit/repository.ts';
import { type Files, type LoadedFile, sameStat } from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import { storageError, withStorageErrors } from '../../git/disk/storage-error.ts';
import { digestOf } from '../layout/entry-files.ts';
import {
  type Conversion,
  composeLog,
  type StoredFiles,
  storedChanges,
  toEntries,
  toLogs,
} from '../layout/entry-logs.ts';
import { LayoutFolder } from '../layout/layout-folder.ts';
import { isStoredApart, logAt } from '../layout/log-paths.ts';
import type { Access } from '../modes/access.ts';
import { SecretGuard, type TextChange } from '../secrets/guard.ts';
import { planChange } from './change-plan.ts';
import { type PlannedChange, type RepeatableChange, retried } from './change-round.ts';
import { LiveRecords } from './live-records.ts';
import { configPath, lacksFormat, type MemoryConfig } from './memory-config.ts';
import { MemoryHome, type MemoryHomeOptions } from './memory-home.ts';
import type { Actor } from './message.ts';
import { OwnFiles } from './own-files.ts';
import { decodeText, maxFileBytes, type RecordFile } from './record-file.ts';
import { SettingsFile } from './settings-file.ts';
import { LiveTransaction, RecordChangedError } from './transaction.ts';
import { Watcher } from './watcher.ts';

export interface MemoryFolderOptions extends MemoryHomeOptions {
  readonly types: readonly AnyRecordType[];
  readonly uuid: () => string;
}

/** One memory on disk: its records, and the repository to which they are committed. */
export class MemoryFolder {
  readonly view: LiveRecords;
  readonly settings: SettingsFile;
  readonly own: OwnFiles;
  readonly #options: MemoryFolderOptions;
  readonly #folder: LayoutFolder;
  readonly #watcher: Watcher;
  readonly #home: MemoryHome;
  readonly #refreshes = new CoalescedRun(async () => {
    await this.repair();
    await this.#look(1);
  });

  constructor(options: MemoryFolderOptions) {
    this.#options = options;
    const stored = new Folder(options.disk.files, options.path);
    this.settings = new SettingsFile(stored);
    this.#folder = new LayoutFolder(stored, () => this.settings.hasEntryFiles);
    this.own = new OwnFiles(this.settings, {
      text: (path) => this.text(path),
      project: new Folder(options.disk.files, options.root),
      uuid: options.uuid,
    });
    const checkCommit = () => this.settings.checkFormat();
    const signsOff = () => this.settings.signsOff;
    this.#home = new MemoryHome({ ...options, checkCommit, signsOff });
    this.view = new LiveRecords(this.#folder, options.types, (path) => this.#isTracked(path));
    this.#watcher = new Watcher(options.path, () => this.onHint?.());
  }

  /** Whether all files have been read once. */
  swept = false;
  /** Whether that look is under way: what it finds is not a change. */
  sweeping = false;
  /** The number of calls that read all records now: what depends on all of them can wait. */
  readers = 0;
  /** Called before the first look at the disk, and after each. */
  onFirstLook: (() => void) | undefined;
  onLooked: (() => void) | undefined;
  /** Called when something may have changed on disk. */
  onHint: (() => void) | undefined;

  get root(): string {
    return this.#options.root;
  }

  /** Access to files outside the memory folder. */
  get files(): Files {
    return this.#options.disk.files;
  }

  get types(): readonly AnyRecordType[] {
    return this.#options.types;
  }

  get path(): string {
    return this.#options.path;
  }

  /** The repository of the memory; undefined if there is none yet. */
  repository(): Repository | undefined {
    return this.#home.repository();
  }

  /** The repository of the project's code; see `MemoryHome.code`. */
  code(): Repository | undefined {
    return this.#home.code();
  }

  /** Whether there was no memory folder at the last look, so that nothing is watched. */
  get isMissing(): boolean {
    return !this.view.folders().has('');
  }

  /** Whether the memory is in another work tree than the code. */
  get isApart(): boolean {
    return this.#home.isApart;
  }

  /** The folder whose path the memory has in the trees of the code: `.memory-bank` at the root. */
  get folderInCode(): string {
    return this.#home.folderInCode;
  }

  /** Returns a path of the memory relative to the top of the work tree; '' means the folder itself. */
  inTree(path: string): string {
    return this.#home.inTree(path);
  }

  /** Returns the path of the memory folder with all links resolved; it need not exist yet. */
  realPath(): string {
    return this.#home.realPath();
  }

  /** Reads a file of the memory folder that is not a record: settings, rules. */
  text(path: string): string | undefined {
    const bytes = this.#folder.read(path, maxFileBytes);
    return bytes && decodeText(bytes);
  }

  /** Reads a record file, whose path is spelt as on disk; undefined for one that is too large. */
  recordFile(path: string): (LoadedFile & { readonly text: string }) | undefined {
    const { stat, bytes } = this.#folder.load(path, maxFileBytes) ?? {};
    return stat && bytes && { stat, bytes, text: decodeText(bytes) };
  }

  /**
   * Brings the known records in line with the disk, as it is at the time of the call or later.
   *
   * The calls of one turn of the event loop share a refresh, which begins after the last of them.
   */
  refresh(): Promise<void> {
    return this.#refreshes.run();
  }

  /** @param turns see `Watcher.take`. */
  async #look(turns: 1 | 2): Promise<void> {
    await this.#lookAgain(turns);
    this.onLooked?.();
  }

  async #lookAgain(turns: 1 | 2): Promise<void> {
    if (this.#watcher.exact) {
      const { paths, incomplete } = await this.#watcher.take(turns);
      const root = this.view.folders().get('')?.stat;
      const same = root !== undefined && this.#folder.stat('')?.ino === root.ino;
      if (!incomplete && same) {
        this.view.refreshPaths(paths);
        this.#watch();
        return;
      }
    }
    this.sweeping = !this.swept;
    if (this.sweeping) this.onFirstLook?.();
    this.view.refresh('folders');
    this.#watch();
    this.view.refresh('files');
    this.swept = true;
    this.sweeping = false;
  }

  /**
   * Computes a change and commits it.
   *
   * @returns the result of `edit`, and the commit if there was anything to commit.
   */
  async change<R>(
    why: Provenance | ((result: R) => Provenance),
    edit: (draft: LiveTransaction) => Promise<R> | R,
    access: Access,
    actor: Actor,
    options: {
      readonly caller?: MutationCaller;
      readonly initialize?: boolean;
      readonly onStored?: OnStored | undefined;
      /** Whether `edit` also reads the records otherwise than from the draft. */
      readonly alone?: boolean;
      /** Changes the settings in the same commit. */
      readonly configure?: (settings: MemoryConfig) => MemoryConfig;
      /** Changes how records are stored in the same commit. */
      readonly convert?: () => readonly TextChange[];
    } = {},
  ): Promise<{ readonly result: R; readonly made: MadeCommit | undefined }> {
    let outcome: { result: R } | undefined;
    // Before a missing repository is created.
    this.settings.checkFormat();
    let repository = this.repository();
    // The repository is cleaned up after dead processes before each change, so this only reads.
    const records = { view: this.view, refresh: () => this.#look(2) };
    const plan = async (earlier?: LiveTransaction): Promise<PlannedChange> => {
      const settings = this.settings.values();
      const draft = new LiveTransaction(records, access, (one) => this.#textOf(one), earlier);
      const result = await edit(draft);
      outcome = { result };
      const edits = draft.changes();
      const first = settings === undefined && edits.length > 0;
      const own = first || options.initialize ? this.own.changes() : [];
      const guard = this.#guard(settings);
      // A setting that restricts may have been written by hand, in a format that older programs write.
      const raises = own.length === 0 && edits.length > 0 && settings && lacksFormat(settings);
      const configured = options.configure || raises ? this.own.configured(options.configure) : [];
      const isDivided =
        this.settings.hasEntryFiles && edits.some(({ path }) => isStoredApart(path));
      const planned = planChange([...own, ...configured, ...edits], {
        stored: isDivided ? (changes) => this.#stored(changes, actor.session) : undefined,
        converted: options.convert?.() ?? [],
        why: () => (typeof why === 'function' ? why(result) : why),
        actor: this.isApart ? { ...actor, code: this.code()?.head().oid } : actor,
        guard,
        folder: this.#home.inTree(''),
        typeOf: (path) => this.view.typeOf(path),
      });
      if (planned) this.#checkAsCode(edits);
      const adopt = adoptionBy(guard);
      const proposal = planned && { ...planned, adopt, onStaged: options.onStored };
      // The next change must see these on disk.
      return {
        draft,
        proposal,
        last: isDivided || options.convert !== undefined || own.length + configured.length > 0,
      };
    };
    let newRepository: string | undefined;
    if (!repository) {
      await withStorageErrors('change the memory', async () => this.#home.checkMissing());
      newRepository = await this.#found(plan);
      repository = this.repository();
    }
    const alone = options.alone === true || options.onStored !== undefined;
    const commit = await this.#home.changes?.commit({ plan, alone }, options.caller);
    const made = commit && { ...commit, ...(newRepository !== undefined && { newRepository }) };
    if (!outcome) throw new MemoryError('internal', 'A change came to no outcome.');
    return { result: outcome.result, made };
  }

  /** The files as they are stored, where the layout shows them otherwise. */
  get storedFiles(): StoredFiles {
    return this.#folder.files;
  }

  /** The changes of files that give the logs a layout. */
  conversion(to: 'log' | 'entries'): Conversion {
    const { files } = this.#folder;
    const isOn = this.settings.hasEntryFiles;
    if (to === 'entries') return toEntries(files, isOn);
    return isOn ? toLogs(files) : { changes: [], decisions: 0, progress: 0 };
  }

  /** Stops watching the disk. */
  close(): void {
    this.#watcher.close();
    this.#home.close();
  }

  /**
   * Creates the missing repository, but only for a change that has something to commit.
   *
   * @returns the folder of the repository if this process created it.
   */
  async #found(plan: RepeatableChange['plan']): Promise<string | undefined> {
    try {
      const { proposal } = await retried(() => plan());
      if (proposal === undefined || !(await this.#home.missing().initialize())) return undefined;
      // Before the commit: after it, an error here would deny what was done.
      return this.#home.around;
    } catch (error) {
      throw storageError(error, 'change the memory');
    }
  }

  /** Whether there is any memory here, also one made by hand. */
  async initialized(): Promise<boolean> {
    if (this.settings.exists) return true;
    await this.refresh();
    return this.view.paths().length > 0;
  }

  /** Returns the check that keeps edits with a credential from being committed. */
  adoption(): Adoption {
    return adoptionBy(this.#guard(this.settings.values()));
  }

  /** Returns the judge of credentials; if the settings cannot be read, none of them is allowed. */
  secretGuard(): SecretGuard {
    try {
      return this.#guard(this.settings.values());
    } catch (error) {
      if (error instanceof MemoryError) return this.#guard(undefined);
      throw error;
    }
  }

  #guard(settings: MemoryConfig | undefined): SecretGuard {
    const allowed = settings?.secrets?.allow ?? [];
    return new SecretGuard(allowed, join(this.#home.name, configPath).split(sep).join('/'));
  }

  /**
   * Refuses files that git would convert on the branches of the code, for a memory that is on a branch of its
   * own in the same repository: reviews are merged into those branches.
   */
  #checkAsCode(edits: readonly TextChange[]): void {
    const code = this.isApart ? this.code() : undefined;
    if (code?.tree.commonDir !== this.repository()?.tree.commonDir) return;
    const written = edits.filter(({ after }) => after !== undefined);
    code?.checkUnconverted(written.map(({ path }) => `${this.folderInCode}/${path}`));
  }

  /** Whether git has a file of the memory; false if that cannot be found out. */
  #isTracked(path: string): boolean {
    try {
      return this.repository()?.staged(this.inTree(path)) !== undefined;
    } catch (error) {
      if (error instanceof MemoryError) return false;
      throw error;
    }
  }

  /** The changes of the files that records are stored in. */
  #stored(changes: readonly TextChange[], session: string): readonly TextChange[] {
    const { files } = this.#folder;
    for (const { path, before } of changes) {
      if (logAt(path) && composeLog(files, path) !== before) throw new RecordChangedError();
    }
    return storedChanges(changes, files, digestOf(session).slice(0, 8));
  }

  /** Reads the text of a record. */
  #textOf(record: RecordFile): string {
    const bytes = this.#folder.read(record.path, maxFileBytes, record.stat);
    if (!bytes || !sameStat(this.#folder.stat(record.path), record.stat))
      throw new RecordChangedError();
    return decodeText(bytes, record.path);
  }

  /** Cleans up after a dead process. An error does not stop a read; a change reports it. */
  async repair(): Promise<void> {
    try {
      const repository = this.repository() ?? this.#home.halfMade();
      await repository?.repair();
      // A move of the memory that was interrupted may have left a change there half done.
      if (this.isApart) await this.code()?.repair();
    } catch (thrown) {
      const error = storageError(thrown, 'look for a change that was left half done');
      if (!(error instanceof MemoryError)) throw error;
      this.#options.warn(error.text);
    }
  }

  #watch(): void {
    for (let added = this.#watcher.setFolders(this.view.folders()); added.length > 0; ) {
      // Changes between the refresh and the start of the watch need another refresh.
      if (this.swept) this.view.refreshPaths(added);
      else this.view.refresh('folders');
      added = this.#watcher.setFolders(this.view.folders());
    }
  }
}

function adoptionBy(guard: SecretGuard): Adoption {
  return (...edit) => guard.checkEdit(...edit);
}
