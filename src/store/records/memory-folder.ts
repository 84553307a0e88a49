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
import { earlierId } from './earlier-id.ts';
import { LiveRecords } from './live-records.ts';
import { configPath, type MemoryConfig, ownFiles, readConfig } from './memory-config.ts';
import type { Actor } from './message.ts';
import type { MadeChange } from './permit.ts';
import { decodeText, maxFileBytes, type RecordFile } from './record-file.ts';
import { LiveTransaction } from './transaction.ts';
import { Watcher } from './watcher.ts';

export interface MemoryFolderOptions {
  readonly disk: Disk;
  /** Absolute path of the folder of the project. */
  readonly root: string;
  /** Absolute path of the bank; `<root>/.memory-bank`, or the root itself for the user's own store. */
  readonly path: string;
  /** Whether the bank wants a repository of its own at the root, whatever lies around it. */
  readonly own: boolean;
  readonly types: readonly AnyRecordType[];
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => Date;
  readonly uuid: () => string;
  readonly lockTimeout: number;
  readonly calm: number;
  warn(message: string): void;
}

/** Thrown inside a change when a file moved under it; the change is worked out again. */
class RecordChangedError extends Error {}

const maxAttempts = 20;

/** One bank on disk: its records, and the repository that they are committed to. */
export class MemoryFolder {
  readonly view: LiveRecords;
  readonly #options: MemoryFolderOptions;
  readonly #folder: Folder;
  readonly #watcher: Watcher;
  #repository: Repository | undefined;
  /** Where the repository was last found. */
  #tree: WorkTree | undefined;
  /** What `config.yaml` says, and what its file was when it was read. */
  #config:
    | { readonly stat: Stat | undefined; readonly values: MemoryConfig | undefined }
    | undefined;

  constructor(options: MemoryFolderOptions) {
    this.#options = options;
    this.#folder = new Folder(options.disk.files, options.path);
    this.view = new LiveRecords(this.#folder, options.types);
    this.#watcher = new Watcher(options.path, () => this.onHint?.());
  }

  /** Whether all files have been looked at once. */
  swept = false;
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

  /** The repository that the bank lies in; undefined while there is none. */
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
    const tree = findWorkTree(disk.files, start);
    // The user's own store is a repository of its own, even below a home directory that is one.
    if (!tree || (own && tree.top !== start)) return undefined;
    // Where the repository is missing, one around it does not take its place.
    if (this.#tree && relative(this.#tree.top, tree.top).startsWith('..')) return undefined;
    this.#tree = tree;
    this.#repository = new Repository(disk, tree, this.#options);
    return this.#repository;
  }

  /** The text of a file of the bank that is no record: settings, rules. */
  text(path: string): string | undefined {
    const bytes = this.#folder.read(path, maxFileBytes);
    return bytes && decodeText(bytes);
  }

  /**
   * Finishes or undoes what a process that died has left half done, and looks at the format.
   *
   * @throws MemoryError `unsupported` for a bank of a later format.
   */
  async prepare(): Promise<void> {
    await this.#repair();
    this.#checkFormat();
  }

  /** Brings everything that is known in line with the disk; what is found was there before the call. */
  async refresh(): Promise<void> {
    await this.prepare();
    await this.#look();
  }

  async #look(): Promise<void> {
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
    this.view.refresh('names');
    this.#watch();
    this.view.refresh('files');
    this.swept = true;
  }

  /**
   * Works out a change and commits it.
   *
   * @returns what `edit` returned, and the commit if there was anything to commit.
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
    } = {},
  ): Promise<{ readonly result: R; readonly made: MadeChange | undefined }> {
    let outcome: { result: R } | undefined;
    let repository = this.repository();
    // What a dead process has left is cleaned up before each turn at changing the repository.
    const records = { view: this.view, refresh: () => this.#look() };
    const propose = async () => {
      const settings = this.#settings();
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        try {
          const draft = new LiveTransaction(records, access, (record) => this.#textOf(record));
          const result = await edit(draft);
          outcome = { result };
          const edits = draft.changes();
          const first = settings === undefined && edits.length > 0;
          const all = first || options.initialize ? [...this.#ownChanges(), ...edits] : edits;
          const guard = this.#guard(settings);
          const plan = planChange(all, {
            why: () => (typeof why === 'function' ? why(result) : why),
            actor,
            guard,
            folder: this.#pathIn(repository, ''),
            typeOf: (path) => this.view.typeOf(path),
          });
          return plan && { ...plan, adopt: adoptionBy(guard), onStaged: options.onStored };
        } catch (error) {
          if (!(error instanceof RecordChangedError)) throw error;
        }
      }
      throw new MemoryError('busy', 'The files of the memory change too fast to work on them.', {
        hint: 'Nothing was changed. Try again.',
      });
    };
    let isNew = false;
    if (!repository) {
      this.#checkMissing();
      isNew = await this.#found(propose);
      repository = this.repository();
    }
    const commit = await repository?.commit(propose, options.signal);
    const made = commit && { ...commit, ...(isNew && { newRepository: this.#options.root }) };
    if (!outcome) throw new MemoryError('internal', 'A change came to no outcome.');
    return { result: outcome.result, made };
  }

  /** Stops looking at the disk. */
  close(): void {
    this.#watcher.close();
    this.#repository?.close();
  }

  /**
   * Refuses to make a repository in the place of one that was there before, or in a folder that is gone.
   *
   * @throws MemoryError `storage`, `no_project`.
   */
  #checkMissing(): void {
    if (this.#tree) throw missingRepository(join(this.#tree.top, '.git'));
    const { disk, root, own } = this.#options;
    // The user's own store is made by the first change.
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
  async #found(propose: () => Promise<unknown>): Promise<boolean> {
    try {
      return (await propose()) !== undefined && (await this.#missing().initialize());
    } catch (error) {
      throw storageError(error, 'change the memory');
    }
  }

  /** The repository that a change would make. */
  #missing(): Repository {
    const { disk, root } = this.#options;
    const gitDir = join(root, '.git');
    return new Repository(disk, { top: root, gitDir, commonDir: gitDir }, this.#options);
  }

  /** The repository in the making of which a process died; its locks would be in git's own way. */
  #halfMade(): Repository | undefined {
    const missing = this.#missing();
    return this.#options.disk.files.lstat(missing.folder) ? missing : undefined;
  }

  /** What the bank's own files lack. */
  #ownChanges(): TextChange[] {
    return ownFiles(this.projectId() ?? this.earlierId() ?? this.#options.uuid()).flatMap(
      ([path, complete]) => {
        const before = this.text(path);
        const after = complete(before);
        return after === before ? [] : [{ path, before, after }];
      },
    );
  }

  /** Whether the bank's own files are there and lack nothing. */
  get complete(): boolean {
    return this.lacking().length === 0;
  }

  /** The bank's own files that are not there or lack something, by their paths in it. */
  lacking(): readonly string[] {
    return this.#ownChanges().map(({ path }) => path);
  }

  /**
   * The project's id in `config.yaml`; undefined before the first write.
   *
   * @throws MemoryError `damaged` when the file does not hold it.
   */
  projectId(): string | undefined {
    return this.#settings()?.project_id;
  }

  /**
   * The id that an earlier program has left in the project; see `earlierId`.
   *
   * @throws MemoryError `damaged` when its files do not tell it.
   */
  earlierId(): string | undefined {
    return earlierId(new Folder(this.#options.disk.files, this.root));
  }

  /** Whether there is any memory here, whoever wrote it. */
  async initialized(): Promise<boolean> {
    if (this.text(configPath) !== undefined) return true;
    await this.refresh();
    return this.view.paths().length > 0;
  }

  /** Keeps the edits of a person that carry a credential from being committed. */
  adoption(): Adoption {
    return adoptionBy(this.#guard(this.#settings()));
  }

  #guard(settings: MemoryConfig | undefined): SecretGuard {
    const allowed = settings?.secrets?.allow ?? [];
    return new SecretGuard(allowed, join(relative(this.root, this.path), configPath));
  }

  /** A path of the bank as the repository's trees have it; the bank's own is empty. */
  inTree(path: string): string {
    return this.#pathIn(this.repository(), path);
  }

  #pathIn(repository: Repository | undefined, path: string): string {
    const top = repository?.tree.top ?? this.root;
    const folder = relative(top, this.realPath()).split(sep);
    return [...folder, path].filter((part) => part).join('/');
  }

  /** Where the bank is, or will be once its folder is made, with the links above it resolved. */
  realPath(): string {
    const { disk, root, path } = this.#options;
    return (
      disk.files.realpath(path) ?? (disk.files.realpath(root) ?? root) + path.slice(root.length)
    );
  }

  /** The text that a record was decoded from. */
  #textOf(record: RecordFile): string {
    const bytes = this.#folder.read(record.path, maxFileBytes, record.stat);
    if (!bytes || !sameStat(this.#folder.stat(record.path), record.stat))
      throw new RecordChangedError();
    return decodeText(bytes);
  }

  /** Reading goes on whatever is wrong with the repository; a change will say what it is. */
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

  /** Refuses a bank of a later format; one whose settings cannot be read is read all the same. */
  #checkFormat(): void {
    try {
      this.#settings();
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unsupported') throw error;
    }
  }

  /** What `config.yaml` says, read again when it changed; undefined where there is none. */
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
      // What came between the look and the watch is seen by looking once more.
      if (this.swept) this.view.refreshPaths(added);
      else this.view.refresh('names');
      added = this.#watcher.setFolders(this.view.folders());
    }
  }
}

function adoptionBy(guard: SecretGuard): Adoption {
  return (...edit) => guard.checkEdit(...edit);
}
