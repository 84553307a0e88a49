import { type FSWatcher, watch } from 'node:fs';
import { basename, join } from 'node:path';
import type { Stat } from '../../git/disk/file-layer.ts';
import { isLocal } from '../../git/locks/process-lock.ts';

/** With more events than this at once, the kernel may have dropped some. */
const maxEvents = 4000;
/** With more folders than this, all files are looked at: the kernel may refuse more watches. */
const maxFolders = 4096;

/** The changes in the watched folders since the last call of `take`. */
export interface WatchedChanges {
  /** Files and folders that were added, removed or changed, relative to the root. */
  readonly paths: ReadonlySet<string>;
  /** Whether events may be missing; then everything has to be looked at. */
  readonly incomplete: boolean;
}

/**
 * Watches folders, so that a search need not look at 10,000 files first.
 *
 * Only inotify on a local disk is exact: the kernel queues an event before the writer's call returns.
 * Everywhere else an event is only a hint for callers that want notifications, and a lack of
 * events proves nothing.
 *
 * Windows neither renames a folder nor finishes its removal while a folder in it is watched. There,
 * the root is watched with everything below it; elsewhere, each folder on its own.
 */
export class Watcher {
  readonly #root: string;
  readonly #hint: () => void;
  readonly #isWindows: boolean;
  readonly #watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>();
  #paths = new Set<string>();
  #events = 0;
  #failed = false;
  #isLocal: boolean | undefined;

  /** @param hint called after a change, often more than once. */
  constructor(root: string, hint: () => void, platform = process.platform) {
    this.#root = root;
    this.#hint = hint;
    this.#isWindows = platform === 'win32';
  }

  /** Whether a lack of events proves that nothing has changed. */
  get exact(): boolean {
    if (this.#failed || this.#watched.size === 0) return false;
    this.#isLocal ??= isLocal(this.#root);
    return this.#isLocal;
  }

  /**
   * Watches exactly these folders from now on.
   *
   * @param folders by relative path.
   * @returns the folders that were not watched before; earlier changes in them are not known.
   */
  setFolders(folders: ReadonlyMap<string, { readonly stat: Stat }>): string[] {
    for (const [folder, { ino, watcher }] of this.#watched) {
      if (folders.get(folder)?.stat.ino === ino) continue;
      watcher.close();
      this.#watched.delete(folder);
    }
    const added: string[] = [];
    for (const [folder, { stat }] of folders) {
      if (this.#watched.has(folder) || this.#failed) continue;
      if (this.#isWindows && folder !== '') continue;
      this.#add(folder, stat.ino);
      added.push(folder);
    }
    return added;
  }

  /**
   * Returns the changes up to now.
   *
   * It waits for two turns of the event loop: the first may have polled for events already.
   *
   * @param turns 1 if the caller has waited for a turn.
   */
  async take(turns: 1 | 2): Promise<WatchedChanges> {
    if (turns === 2) await turn();
    await turn();
    const changes = { paths: this.#paths, incomplete: this.#events > maxEvents };
    this.#paths = new Set();
    this.#events = 0;
    return changes;
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  #add(folder: string, ino: number): void {
    try {
      if (this.#watched.size >= maxFolders) throw new Error('too many folders');
      const path = join(this.#root, folder);
      const options = { persistent: false, recursive: this.#isWindows };
      const watcher = watch(path, options, (_event, name) => {
        this.#events += 1;
        // An event without a name is about the folder itself.
        this.#paths.add([folder, name ?? ''].filter((part) => part).join('/'));
        // An event with the folder's own name says that it was removed. Created again, it often has
        // its old inode number, but no watch.
        if (name === basename(path)) end();
        this.#hint();
      });
      const end = () => {
        watcher.close();
        this.#watched.delete(folder);
      };
      watcher.on('error', () => {
        // Of a folder that was removed; the next one of its name is watched again.
        if (this.#isWindows) end();
        else this.#failed = true;
      });
      this.#watched.set(folder, { ino, watcher });
    } catch {
      // No watches are left, or the folder has just been removed: a lack of events proves nothing now.
      this.#failed = true;
      this.close();
    }
  }
}

/** Waits for the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
