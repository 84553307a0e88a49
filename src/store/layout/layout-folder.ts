import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { MicrotaskMemo } from '../../core/timing/microtask-memo.ts';
import { MemoryError } from '../../core/values/error.ts';
import {
  type DirectoryEntry,
  type LoadedFile,
  type Stat,
  sameStat,
  statNumbers,
} from '../../git/disk/file-layer.ts';
import type { ReadFolder } from '../../git/disk/folder.ts';
import type { EntryFile } from './entry-files.ts';
import { composeLog, type StoredFiles } from './entry-logs.ts';
import {
  isEntryName,
  isEntryPath,
  isStoredApart,
  logAt,
  logPaths,
  maxEntryDepth,
} from './log-paths.ts';

/** Size limit of one stored file, in bytes. */
const maxBytes = 16 * 1024 * 1024;
/** Age from which a file that is changed again certainly gets another time, in milliseconds. */
const settled = 2000;

/** A folder of entries, or a file or folder in it. */
interface FoundEntry {
  readonly path: string;
  readonly stat: Stat;
}

/** The files of a folder as they are stored; texts are read again only if their files changed. */
export class FolderFiles implements StoredFiles {
  readonly #folder: ReadFolder;
  // One change looks at all entries of a log several times in one step.
  readonly #stats = new Map<string, MicrotaskMemo<readonly FoundEntry[]>>();
  readonly #entries = new Map<string, MicrotaskMemo<readonly EntryFile[]>>();
  readonly #read = new Map<string, { readonly stat: Stat; readonly file: EntryFile }>();

  constructor(folder: ReadFolder) {
    this.#folder = folder;
  }

  text(path: string): string | undefined {
    const stat = this.#folder.stat(path);
    return stat?.kind === 'file' ? this.#file(path, path, stat).text : undefined;
  }

  entries(folder: string): readonly EntryFile[] {
    return memoAt(this.#entries, folder).get(() =>
      this.stats(folder)
        .filter(({ stat }) => stat.kind === 'file')
        .map(({ path, stat }) => this.#file(path, path.slice(folder.length + 1), stat)),
    );
  }

  /** The stats of a folder, and of the entry files and folders below it, sorted by path. */
  stats(folder: string): readonly FoundEntry[] {
    return memoAt(this.#stats, folder).get(() => this.#statsBelow(folder));
  }

  #statsBelow(folder: string): FoundEntry[] {
    const found: FoundEntry[] = [];
    const visit = (path: string, depth: number) => {
      const stat = this.#folder.stat(path);
      if (stat?.kind !== 'directory' || depth > maxEntryDepth) return;
      found.push({ path, stat });
      for (const { name, kind } of this.#folder.list(path) ?? []) {
        if (name.startsWith('.')) continue;
        const below = `${path}/${name}`;
        if (kind === 'directory') visit(below, depth + 1);
        if (kind !== 'file' || !isEntryName(name)) continue;
        const own = this.#folder.peek(below);
        if (own?.kind === 'file') found.push({ path: below, stat: own });
      }
    };
    visit(folder, 0);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The same object while the file stays as it is, by which its parsed entries are kept. */
  #file(path: string, name: string, stat: Stat): EntryFile {
    const known = this.#read.get(path);
    const isSettled = stat.mtimeMs < Date.now() - settled;
    if (known && isSettled && sameStat(known.stat, stat)) return known.file;
    const bytes = this.#folder.read(path, maxBytes, stat) ?? Buffer.alloc(0);
    if (!isUtf8(bytes))
      throw new MemoryError('damaged', `${path} is not valid UTF-8`, { data: { path } });
    const text = bytes.toString('utf8');
    if (known?.file.text === text) return known.file;
    const file = { name, text };
    this.#read.set(path, { stat, file });
    return file;
  }
}

function memoAt<T>(memos: Map<string, MicrotaskMemo<T>>, key: string): MicrotaskMemo<T> {
  const memo = memos.get(key) ?? new MicrotaskMemo<T>();
  memos.set(key, memo);
  return memo;
}

/**
 * Shows a folder whose logs are stored in several files as one whose logs are single files.
 *
 * Every reader of records reads through it, so none of them knows about layouts.
 */
export class LayoutFolder implements ReadFolder {
  readonly #folder: ReadFolder;
  readonly #isOn: () => boolean;
  readonly files: FolderFiles;

  /** @param isOn whether the settings choose entry files now. */
  constructor(folder: ReadFolder, isOn: () => boolean) {
    this.#folder = folder;
    this.#isOn = isOn;
    this.files = new FolderFiles(folder);
  }

  stat(path: string): Stat | undefined {
    return this.#seen(path, () => this.#folder.stat(path));
  }

  peek(path: string): Stat | undefined {
    return this.#seen(path, () => this.#folder.peek(path));
  }

  has(path: string, stat: Stat): boolean {
    if (!isStoredApart(path) || !this.#isOn()) return this.#folder.has(path, stat);
    try {
      return sameStat(this.peek(path), stat);
    } catch {
      return false;
    }
  }

  read(path: string, limit: number, stat?: Stat): Buffer | undefined {
    if (!isStoredApart(path) || !this.#isOn()) return this.#folder.read(path, limit, stat);
    const text = isEntryPath(path) ? undefined : composeLog(this.files, path);
    return text === undefined ? undefined : Buffer.from(text);
  }

  load(path: string, limit: number): LoadedFile | undefined {
    if (!isStoredApart(path) || !this.#isOn()) return this.#folder.load(path, limit);
    const stat = this.peek(path);
    const bytes = stat?.kind === 'file' ? this.read(path, limit) : undefined;
    return stat && { stat, ...(bytes && { bytes }) };
  }

  list(path: string): DirectoryEntry[] | undefined {
    const found = this.#folder.list(path);
    if (!found || !(path === '' || isEntryPath(path)) || !this.#isOn()) return found;
    if (path !== '') return found.filter(({ kind }) => kind === 'directory');
    const names = new Set(found.map(({ name }) => name));
    const composed = logPaths.filter((log) => !names.has(log) && this.peek(log)?.kind === 'file');
    return [...found, ...composed.map((name): DirectoryEntry => ({ name, kind: 'file' }))];
  }

  #seen(path: string, own: () => Stat | undefined): Stat | undefined {
    if (!isStoredApart(path) || !this.#isOn()) return own();
    if (logAt(path)) return this.#composed(path);
    const stat = own();
    // Another size, so that a folder is listed again when the layout changes.
    return stat?.kind === 'directory' ? { ...stat, size: stat.size + 1 } : undefined;
  }

  /** The stat of a composed log: another one as soon as one of its files has another one. */
  #composed(path: string): Stat | undefined {
    const log = logAt(path);
    if (!log) return undefined;
    const own = log.files.map((file) => ({ path: file, stat: this.#folder.stat(file) }));
    const parts = [...own, ...this.files.stats(log.folder)].flatMap(({ path: at, stat }) =>
      stat ? [{ path: at, stat }] : [],
    );
    const files = parts.filter(({ stat }) => stat.kind === 'file');
    const isThere = path === 'activeContext.md' ? own[0]?.stat?.kind === 'file' : files.length > 0;
    const blocked = own[0]?.stat;
    if (blocked && blocked.kind !== 'file') return blocked;
    const [first] = files;
    if (!isThere || !first) return undefined;
    const hash = createHash('md5');
    for (const { path: at, stat } of parts) hash.update(`${at}\0${statNumbers(stat).join()}\n`);
    const latest = (name: 'mtimeMs' | 'ctimeMs') =>
      parts.reduce((last, { stat }) => Math.max(last, stat[name]), 0);
    return {
      ...first.stat,
      size: files.reduce((sum, { stat }) => sum + stat.size, 0),
      mtimeMs: latest('mtimeMs'),
      ctimeMs: latest('ctimeMs'),
      ino: hash.digest().readUIntBE(0, 6),
    };
  }
}
