import { join } from 'node:path/posix';
import { MemoryError } from '../../core/values/error.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { logsOf } from '../layout/log-paths.ts';
import { decodeText } from '../records/record-file.ts';
import { ProjectCode } from './project-code.ts';

/** Limit of the earlier versions that one run looks for, of all files together. */
const maxVersions = 5000;

/** Names the commands that mend findings, as a person types them in the folder of the project. */
export class MendCommands {
  readonly #reader: HistoryReader;
  readonly #head: Oid;
  readonly #files: ProjectCode;
  /** The memory folder, relative to the folder of the command. */
  readonly #start: string;
  #left = maxVersions;
  /** Whether a search ended before the first commit. */
  #isCut = false;
  #unmerged: ReadonlySet<string> | undefined;

  /** @param head the last commit of the memory. */
  constructor(reader: HistoryReader, head: Oid) {
    const { repository, memory } = reader.history;
    const folder = memory.inTree('');
    // The folder of the command is the project, whose repository has a memory apart in another work tree.
    const start = folder.slice(folder.lastIndexOf('/') + 1);
    this.#start = memory.isApart ? '' : start;
    const base = folder.slice(0, folder.length - this.#start.length);
    [this.#reader, this.#head] = [reader, head];
    this.#files = new ProjectCode(
      repository,
      base === '' || base.endsWith('/') ? base : `${base}/`,
    );
  }

  /** Opens a record in an editor, and commits it. */
  edit(path: string): string {
    return command('memory-bank', 'edit', path);
  }

  /**
   * Confirms that a record is true.
   *
   * @param option whose value only a person knows.
   */
  verify(path: string, option = ''): string {
    return `${command('memory-bank', 'verify', path)} ${option}`.trim();
  }

  /** Follows moved code. */
  fix(): string {
    return command('memory-bank', 'check', '--fix');
  }

  /** Lets a record or section replace other ones. */
  supersede(address: string, old: readonly string[]): string {
    const replaced = old.flatMap((one) => ['--supersedes', one]);
    return command('memory-bank', 'verify', address, ...replaced);
  }

  /** Moves entries from logs to files of their own. */
  layout(): string {
    return command('memory-bank', 'layout', 'entries', '--yes');
  }

  /** Removes conflict markers: merges a record that git lists as unmerged, and opens another one in an editor. */
  resolve(path: string): string {
    this.#unmerged ??= this.#listUnmerged();
    return this.#unmerged.has(path) ? command('memory-bank', 'resolve') : this.edit(path);
  }

  isTracked(path: string): boolean {
    return (
      this.#reader.history.repository.staged(this.#files.inTree(this.#name(path))) !== undefined
    );
  }

  /** Removes a file that git has; another one is opened in an editor, because nothing else has its text. */
  remove(path: string): string {
    if (!this.isTracked(path)) return this.edit(path);
    return this.#git('rm', '-f', '--', this.#name(path));
  }

  /** Adds a file to git, also one that it ignores. */
  add(path: string): string {
    return this.#git('add', '-f', '--', this.#name(path));
  }

  /** Renames a file of the memory; git has to know one that it is to rename. */
  rename(path: string, name: string): string {
    const move = this.#git('mv', this.#name(path), this.#name(name));
    return this.isTracked(path) ? move : `${this.add(path)} && ${move}`;
  }

  /** Restores a record that was removed; undefined if the history does not have it. */
  bringBack(path: string): string | undefined {
    const commit = this.#lastGood(path, () => true);
    return commit && command('memory-bank', 'restore', path, '--as-of', commit.slice(0, 12));
  }

  /** Whether the history does not have a record, as far as this clone knows it. */
  isUnheardOf(path: string): boolean {
    return this.#lastGood(path, () => true) === undefined && !this.#isCut;
  }

  /**
   * Brings a file back to its last version that can be read.
   *
   * @returns undefined if there is none.
   */
  restore(path: string, read: (text: string) => unknown): string | undefined {
    const commit = this.#lastGood(path, (text) => {
      read(text);
      return true;
    });
    return commit && this.#git('checkout', commit.slice(0, 12), '--', this.#name(path));
  }

  /** The last commit, along the first parents, in which a file passes a test. */
  #lastGood(path: string, test: (text: string) => boolean): Oid | undefined {
    const { odb } = this.#reader.history.repository;
    const tested = new Set<Oid>();
    let commit: Oid | undefined = this.#head;
    while (commit !== undefined) {
      if (!odb.has(commit) || this.#left-- <= 0) {
        this.#isCut = true;
        return undefined;
      }
      const entry = this.#files.at(commit, this.#name(path));
      if (entry?.kind === 'file' && !tested.has(entry.oid) && odb.has(entry.oid)) {
        tested.add(entry.oid);
        if (passes(() => test(decodeText(odb.content(entry.oid, 'blob'))))) return commit;
      }
      [commit] = parseCommit(odb.content(commit, 'commit')).parents;
    }
    return undefined;
  }

  /** The paths of the records that git has as unmerged, and of those with a file that is. */
  #listUnmerged(): ReadonlySet<string> {
    const { memory, repository } = this.#reader.history;
    const folder = memory.inTree('');
    const start = folder === '' ? 0 : folder.length + 1;
    const paths = repository.unmergedBelow(folder).map(({ path }) => path.slice(start));
    return new Set([...paths, ...(memory.settings.hasEntryFiles ? paths.flatMap(logsOf) : [])]);
  }

  /** A path as git takes it in the folder of the command. */
  #name(path: string): string {
    return join(this.#start, path);
  }

  #git(...words: string[]): string {
    const { isApart, path } = this.#reader.history.memory;
    return command('git', ...(isApart ? ['-C', path] : []), ...words);
  }
}

function passes(test: () => boolean): boolean {
  try {
    return test();
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

/** Words as a shell takes them. */
function command(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // Names of files cannot have a quotation mark on Windows.
  if (process.platform === 'win32') return `"${word}"`;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
