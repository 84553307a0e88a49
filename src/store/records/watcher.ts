import { type FSWatcher, watch } from 'node:fs';
import { basename, join } from 'node:path';
import type { Stat } from '../../git/disk/file-layer.ts';
import { isLocal } from '../../git/locks/process-lock.ts';

/** More events than this at a time may mean that the kernel has dropped some. */
const maxEvents = 4000;
/** Past this many folders a process may be refused more watches; looking at all files is the fallback. */
const maxFolders = 4096;

/** What has happened in the watched folders since it was last asked. */
export interface WatchedChanges {
  /** Files and folders, relative to the root, that came, went or were changed. */
  readonly paths: ReadonlySet<string>;
  /** Whether events may be missing: then everything has to be looked at. */
  readonly incomplete: boolean;
}

/**
 * Watches folders, one by one, so that a search need not look at 10,000 files first.
 *
 * Only inotify on a disk of this machine is exact: the kernel has queued an event by the time that
 * the writer's call returns. Everywhere else an event is a hint for whoever wants to be notified, and
 * no reason to trust that nothing has changed.
 */
export class Watcher {
  readonly #root: string;
  readonly #hint: () => void;
  readonly #watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>();
  #paths = new Set<string>();
  #events = 0;
  #failed = false;
  #isLocal: boolean | undefined;

  /** @param hint called when something has changed, often more than once. */
  constructor(root: string, hint: () => void) {
    this.#root = root;
    this.#hint = hint;
  }

  /** Whether its silence means that nothing has changed. */
  get exact(): boolean {
    if (this.#failed || this.#watched.size === 0) return false;
    this.#isLocal ??= isLocal(this.#root);
    return this.#isLocal;
  }

  /**
   * Watches exactly these folders from now on.
   *
   * @param folders by relative path.
   * @returns the ones that were not watched before: what happened in them until now is not known.
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
      this.#add(folder, stat.ino);
      added.push(folder);
    }
    return added;
  }

  /**
   * What has happened up to now.
   *
   * Two turns of the event loop: the first may be one that had looked for events already.
   */
  async take(): Promise<WatchedChanges> {
    await turn();
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
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        this.#events += 1;
        // Without a name it is the folder itself.
        this.#paths.add([folder, name ?? ''].filter((part) => part).join('/'));
        // Under its own name it tells that it was removed; made again it has its old number as often
        // as not, and no watch.
        if (name === basename(path)) {
          watcher.close();
          this.#watched.delete(folder);
        }
        this.#hint();
      });
      watcher.on('error', () => {
        this.#failed = true;
      });
      this.#watched.set(folder, { ino, watcher });
    } catch {
      // No watches left, or a folder that went at this moment: silence means nothing any more.
      this.#failed = true;
      this.close();
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
