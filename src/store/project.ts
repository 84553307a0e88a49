import { dirname } from 'node:path';
import type { Drift, HeadInfo, Project, ProjectInfo } from '../core/context.ts';
import { MemoryError } from '../core/error.ts';
import type { Files } from '../git/disk/file-layer.ts';
import { Folder } from '../git/disk/folder.ts';
import { drift, lastChange } from './history/last-change.ts';
import { checkSame, earlierIdPath } from './records/earlier-id.ts';
import { configPath } from './records/memory-config.ts';
import type { MemoryFolder } from './records/memory-folder.ts';
import { type Permit, toCommitMade } from './records/permit.ts';
import { decodeText } from './records/record-file.ts';

/** The project around a bank, for one call of one session. */
export class StoreProject implements Omit<Project, 'use'> {
  readonly #bank: MemoryFolder;
  readonly #files: Files;
  readonly #permit: Permit;

  constructor(bank: MemoryFolder, files: Files, permit: Permit) {
    this.#bank = bank;
    this.#files = files;
    this.#permit = permit;
  }

  async info(): Promise<ProjectInfo> {
    const { root, path } = this.#bank;
    const initialized = await this.#bank.initialized();
    return { root, bank: path, initialized, projectId: this.#bank.projectId() };
  }

  async lacking(): Promise<readonly string[]> {
    return this.#bank.lacking();
  }

  async head(): Promise<HeadInfo> {
    try {
      const head = this.#bank.repository()?.head();
      return { branch: head?.ref?.replace(/^refs\/heads\//, ''), oid: head?.oid };
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      // What lies in the work tree can be read without it.
      return { branch: undefined, oid: undefined, problem: error.text };
    }
  }

  async initialize(): Promise<string> {
    const known = this.#bank.projectId();
    checkSame(this.#bank.earlierId(), earlierIdPath, known, configPath);
    if (known !== undefined && this.#bank.complete) return known;
    const { signal } = this.#permit;
    const subject = known
      ? 'complete the files of the memory itself'
      : 'initialize the memory of this project';
    // Settings are no record: no mode's lists are about them.
    const access = { mode: undefined, mayRead: () => true, mayWrite: () => true };
    const options = { signal, initialize: true };
    const actor = await this.#permit.actor();
    const { made } = await this.#bank
      .change({ subject }, () => undefined, access, actor, options)
      .catch((error) => {
        throw this.#cannotCreate(error) ?? error;
      });
    if (made) this.#permit.onCommit(toCommitMade(made));
    const id = this.#bank.projectId();
    if (id === undefined) throw new MemoryError('internal', 'The bank got no id.');
    return id;
  }

  /** The error for a folder of the memory, or of its repository, that may not be made in the root (2.11). */
  #cannotCreate(error: unknown): MemoryError | undefined {
    if (!(error instanceof MemoryError) || error.code !== 'storage') return undefined;
    const { errno, path } = error.data;
    const refused = ['EACCES', 'EPERM', 'EROFS'].some((code) => code === errno);
    if (!refused || dirname(String(path)) !== dirname(this.#bank.realPath())) return undefined;
    return new MemoryError('cannot_create', error.message, {
      hint: 'Let the server write there, or give it another folder by --root. Nothing was changed.',
      data: error.data,
      cause: error,
    });
  }

  async readFile(path: string, limit: number): Promise<string | undefined> {
    const parts = path.split('/');
    const strange = parts.some((part) => part === '' || part === '.' || part === '..');
    // Memory has its own way in, which asks the mode; git's files are nobody's business.
    const closed = parts.some((part) => /^\.(git|memory-bank)$/i.test(part));
    if (strange || closed || /[\0\\]/.test(path)) {
      throw new MemoryError('invalid_input', `"${path}" is no path of a file of the project.`, {
        hint: 'Give it relative to the root of the project, with "/" between folders.',
      });
    }
    const bytes = new Folder(this.#files, this.#bank.root).read(path, limit);
    return bytes && decodeText(bytes);
  }

  async lastChange(
    path: string,
  ): Promise<{ readonly oid: string; readonly at: string } | undefined> {
    const repository = this.#bank.repository();
    const head = (await this.head()).oid;
    if (!repository || head === undefined) return undefined;
    return lastChange(repository.odb, head, this.#bank.inTree(path));
  }

  async drift(since: string, limit: number): Promise<Drift> {
    const repository = this.#bank.repository();
    const head = (await this.head()).oid;
    if (!repository || head === undefined) return { commits: 0, files: [], truncated: false };
    return drift(repository.odb, since, head, this.#bank.inTree(''), limit);
  }
}
