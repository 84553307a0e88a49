import { join, relative, sep } from 'node:path';
import { MemoryError } from '../../core/error.ts';
import type { AnyRecordType } from '../../core/record-type.ts';
import type { OnStored, Provenance } from '../../core/store.ts';
import type { Adoption } from '../../git/commit/commit-plan.ts';
import { Repository } from '../../git/commit/repository.ts';
import { type Disk, missingRepository, storageError } from '../../git/disk/disk.ts';
import { type Stat, sameStat } from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import { findWorkTree, isStillThere, type WorkTree } from '../../git/repository/discover.ts';
import type { Access } from '../modes/access.ts';
import { SecretGuard, type TextChange } from '../secrets/guard.ts';
import { planChange } from './change-plan.ts';
import { ChangeQueue } from './change-queue.ts';
import { type PlannedChange, type RepeatableChange, retried } from './change-round.ts';
import { earlierId } from './earlier-id.ts';
import { LiveRecords } from './live-records.ts';
import { configPath, type MemoryConfig, ownFiles, readConfig } from './memory-config.ts';
import type { Actor } from './message.ts';
import type { MadeChange } from './permit.ts';
import { decodeText, maxFileBytes, type RecordFile } from './record-file.ts';
import { LiveTransaction, RecordChangedError } from './transaction.ts';
import { Watcher } from './watcher.ts';

export interface MemoryFolderOptions {
  readonly disk: Disk;
  /** Absolute path of the folder of the project. */
  readonly root: string;
  /** Absolute path of the memory folder: `<root>/.memory-bank`, or the root itself for the user's store. */
  readonly path: string;
  /** Whether the memory has a separate repository at the root, also inside another repository. */
  readonly own: boolean;
  readonly types: readonly AnyRecordType[];
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  readonly uuid: () => string;
  readonly lockTimeout: number;
  readonly calm: number;
  warn(message: string): void;
}

/** One memory on disk: its records, and the repository to which they are committed. */
export class MemoryFolder {
  readonly view: LiveRecords;
  readonly #options: MemoryFolderOptions;
  readonly #folder: Folder;
  readonly #watcher: Watcher;
  #repository: Repository | undefined;
  #changes: ChangeQueue | undefined;
  /** The work tree of the repository at the last look-up. */
  #tree: WorkTree | undefined;
  /** The content of `config.yaml`, and the stat of the file when it was read. */
  #config:
    | { readonly stat: Stat | undefined; readonly values: MemoryConfig | undefined }
    | undefined;

  constructor(options: MemoryFolderOptions) {
    this.#options = options;
    this.#folder = new Folder(options.disk.files, options.path);
    this.view = new LiveRecords(this.#folder, options.types);
    this.#watcher = new Watcher(options.path, () => this.onHint?.());
  }

  /** Whether all files have been read once. */
  swept = false;
  /** Called before the first look at the disk, and after each. */
  onFirstLook: (() => void) | undefined;
  onLooked: (() => void) | undefined;
  /** Called when something may have changed on disk. */
  onHint: (() => void) | undefined;

  get root(): string {
    return this.#options.root;
  }

  get types(): readonly AnyRecordType[] {
    return this.#options.types;
  }

  get path(): string {
    return this.#options.path;
  }

  /** The repository of the memory; undefined if there is none yet. */
  repository(): Repository | undefined {
    try {
      return this.#lookForRepository();
    } catch (error) {
      throw storageError(error, 'look for the repository');
    }
  }

  #lookForRepository(): Repository | undefined {
    const { disk, root, own } = this.#options;
    const start = disk.files.realpath(root) ?? root;
    const known = this.#repository;
    if (known && isStillThere(disk.files, known.tree, start)) return known;
    known?.close();
    this.#repository = undefined;
    this.#changes = undefined;
    const tree = findWorkTree(disk.files, start);
    // The user's store is a separate repository, even if the home directory is one.
    if (!tree || (own && tree.top !== start)) return undefined;
    // If the repository is missing, a repository around it does not replace it.
    if (this.#tree && relative(this.#tree.top, tree.top).startsWith('..')) return undefined;
    this.#tree = tree;
    const repository = new Repository(disk, tree, this.#options);
    this.#changes = new ChangeQueue((...round) => repository.commitAll(...round));
    this.#repository = repository;
    return repository;
  }

  /** Reads a file of the memory folder that is not a record: settings, rules. */
  text(path: string): string | undefined {
    const bytes = this.#folder.read(path, maxFileBytes);
    return bytes && decodeText(bytes);
  }

  /**
   * Finishes or undoes the unfinished change of a dead process, and checks the format.
   *
   * @throws MemoryError `unsupported` for a memory of a later format.
   */
  async prepare(): Promise<void> {
    await this.#repair();
    this.#checkFormat();
  }

  /** Brings the known records in line with the disk, as it is at the time of the call. */
  async refresh(): Promise<void> {
    await this.prepare();
    await this.#look();
  }

  async #look(): Promise<void> {
    await this.#lookAgain();
    this.onLooked?.();
  }

  async #lookAgain(): Promise<void> {
    if (this.#watcher.exact) {
      const { paths, incomplete } = await this.#watcher.take();
      const root = this.view.folders().get('')?.stat;
      const same = root !== undefined && this.#folder.stat('')?.ino === root.ino;
      if (!incomplete && same) {
        this.view.refreshPaths(paths);
        this.#watch();
        return;
      }
    }
    if (!this.swept) this.onFirstLook?.();
    this.view.refresh('names');
    this.#watch();
    this.view.refresh('files');
    this.swept = true;
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
      readonly signal?: AbortSignal;
      readonly initialize?: boolean;
      readonly onStored?: OnStored | undefined;
      /** Whether `edit` also reads the records otherwise than from the draft. */
      readonly alone?: boolean;
    } = {},
  ): Promise<{ readonly result: R; readonly made: MadeChange | undefined }> {
    let outcome: { result: R } | undefined;
    let repository = this.repository();
    // The repository is cleaned up after dead processes before each change, so this only reads.
    const records = { view: this.view, refresh: () => this.#look() };
    const plan = async (earlier?: LiveTransaction): Promise<PlannedChange> => {
      const settings = this.#settings();
      const draft = new LiveTransaction(records, access, (one) => this.#textOf(one), earlier);
      const result = await edit(draft);
      outcome = { result };
      const edits = draft.changes();
      const first = settings === undefined && edits.length > 0;
      const own = first || options.initialize ? this.#ownChanges() : [];
      const guard = this.#guard(settings);
      const planned = planChange([...own, ...edits], {
        why: () => (typeof why === 'function' ? why(result) : why),
        actor,
        guard,
        folder: this.#pathIn(repository, ''),
        typeOf: (path) => this.view.typeOf(path),
      });
      const adopt = adoptionBy(guard);
      const proposal = planned && { ...planned, adopt, onStaged: options.onStored };
      // The next change must see these on disk.
      return { draft, proposal, last: own.length > 0 };
    };
    let isNew = false;
    if (!repository) {
      this.#checkMissing();
      isNew = await this.#found(plan);
      repository = this.repository();
    }
    const alone = options.alone === true || options.onStored !== undefined;
    const commit = await this.#changes?.commit({ plan, alone, signal: options.signal });
    const made = commit && { ...commit, ...(isNew && { newRepository: this.#options.root }) };
    if (!outcome) throw new MemoryError('internal', 'A change came to no outcome.');
    return { result: outcome.result, made };
  }

  /** Stops watching the disk. */
  close(): void {
    this.#watcher.close();
    this.#repository?.close();
  }

  /**
   * Refuses to create a repository where one has disappeared, or in a missing folder.
   *
   * @throws MemoryError `storage`, `no_project`.
   */
  #checkMissing(): void {
    if (this.#tree) throw missingRepository(join(this.#tree.top, '.git'));
    const { disk, root, own } = this.#options;
    // The first change creates the user's store.
    if (own || disk.files.realpath(root) !== undefined) return;
    throw new MemoryError('no_project', `The folder ${root} is missing.`, {
      hint: 'Move it back, or start the server in another folder. Nothing was changed.',
      data: { root },
    });
  }

  /**
   * Creates the missing repository, but only for a change that has something to commit.
   *
   * @returns whether this process created it.
   */
  async #found(plan: RepeatableChange['plan']): Promise<boolean> {
    try {
      const { proposal } = await retried(() => plan());
      return proposal !== undefined && (await this.#missing().initialize());
    } catch (error) {
      throw storageError(error, 'change the memory');
    }
  }

  /** The repository that a change would create. */
  #missing(): Repository {
    const { disk, root } = this.#options;
    const gitDir = join(root, '.git');
    return new Repository(disk, { top: root, gitDir, commonDir: gitDir }, this.#options);
  }

  /** A repository whose creation a dead process began: its locks would block git. */
  #halfMade(): Repository | undefined {
    const missing = this.#missing();
    return this.#options.disk.files.lstat(missing.folder) ? missing : undefined;
  }

  /** The missing parts of the memory's own files. */
  #ownChanges(): TextChange[] {
    return ownFiles(this.projectId() ?? this.earlierId() ?? this.#options.uuid()).flatMap(
      ([path, complete]) => {
        const before = this.text(path);
        const after = complete(before);
        return after === before ? [] : [{ path, before, after }];
      },
    );
  }

  /** Whether the memory's own files are complete. */
  get complete(): boolean {
    return this.lacking().length === 0;
  }

  /** Lists the memory's own files that are missing or incomplete. */
  lacking(): readonly string[] {
    return this.#ownChanges().map(({ path }) => path);
  }

  /**
   * The project's id in `config.yaml`; undefined before the first write.
   *
   * @throws MemoryError `damaged` if the file does not contain it.
   */
  projectId(): string | undefined {
    return this.#settings()?.project_id;
  }

  /** Whether the memory is exchanged with the remote by itself. */
  get syncs(): boolean {
    return this.#readable()?.sync === 'auto';
  }

  /** Whether a sync squashes the unpushed commits of the memory. */
  get squashesBeforeSync(): boolean {
    return this.#readable()?.squash_before_sync === true;
  }

  /** Whether the end of an agent session adds its commits to the progress. */
  get recordsCommits(): boolean {
    return this.#readable()?.record_commits === true;
  }

  /** The settings; undefined if they are damaged. */
  #readable(): MemoryConfig | undefined {
    try {
      return this.#settings();
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  /**
   * Returns the id that an earlier program has left in the project; see `earlierId`.
   *
   * @throws MemoryError `damaged` if its files cannot be read.
   */
  earlierId(): string | undefined {
    return earlierId(new Folder(this.#options.disk.files, this.root));
  }

  /** Whether there is any memory here, also one made by hand. */
  async initialized(): Promise<boolean> {
    if (this.text(configPath) !== undefined) return true;
    await this.refresh();
    return this.view.paths().length > 0;
  }

  /** Returns the check that keeps edits with a credential from being committed. */
  adoption(): Adoption {
    return adoptionBy(this.#guard(this.#settings()));
  }

  #guard(settings: MemoryConfig | undefined): SecretGuard {
    const allowed = settings?.secrets?.allow ?? [];
    return new SecretGuard(allowed, join(relative(this.root, this.path), configPath));
  }

  /** Returns a path of the memory relative to the top of the work tree; '' means the folder itself. */
  inTree(path: string): string {
    return this.#pathIn(this.repository(), path);
  }

  #pathIn(repository: Repository | undefined, path: string): string {
    const top = repository?.tree.top ?? this.root;
    const folder = relative(top, this.realPath()).split(sep);
    return [...folder, path].filter((part) => part).join('/');
  }

  /** Returns the path of the memory folder with all links resolved; it need not exist yet. */
  realPath(): string {
    const { disk, root, path } = this.#options;
    return (
      disk.files.realpath(path) ?? (disk.files.realpath(root) ?? root) + path.slice(root.length)
    );
  }

  /** Reads the text of a record. */
  #textOf(record: RecordFile): string {
    const bytes = this.#folder.read(record.path, maxFileBytes, record.stat);
    if (!bytes || !sameStat(this.#folder.stat(record.path), record.stat))
      throw new RecordChangedError();
    return decodeText(bytes);
  }

  /** Cleans up after a dead process. An error does not stop a read; a change reports it. */
  async #repair(): Promise<void> {
    try {
      const repository = this.repository() ?? this.#halfMade();
      await repository?.repair();
    } catch (thrown) {
      const error = storageError(thrown, 'look for a change that was left half done');
      if (!(error instanceof MemoryError)) throw error;
      this.#options.warn(error.text);
    }
  }

  /** Refuses a memory of a later format. Damaged settings do not prevent reading. */
  #checkFormat(): void {
    try {
      this.#settings();
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unsupported') throw error;
    }
  }

  /** Returns the content of `config.yaml`, read again if it changed; undefined if it does not exist. */
  #settings(): MemoryConfig | undefined {
    const stat = this.#folder.stat(configPath);
    if (!this.#config || !sameStat(stat, this.#config.stat)) {
      const text = this.text(configPath);
      this.#config = { stat, values: text === undefined ? undefined : readConfig(text) };
    }
    return this.#config.values;
  }

  #watch(): void {
    for (let added = this.#watcher.setFolders(this.view.folders()); added.length > 0; ) {
      // Changes between the refresh and the start of the watch need another refresh.
      if (this.swept) this.view.refreshPaths(added);
      else this.view.refresh('names');
      added = this.#watcher.setFolders(this.view.folders());
    }
  }
}

function adoptionBy(guard: SecretGuard): Adoption {
  return (...edit) => guard.checkEdit(...edit);
}
