import { dirname } from 'node:path';
import type {
  BranchWork,
  Drift,
  HeadInfo,
  Layout,
  LayoutInfo,
  Project,
  ProjectCommit,
  ProjectInfo,
  ProjectSite,
} from '../../core/declarations/context.ts';
import type { HookMoment } from '../../core/declarations/hook-moment.ts';
import type { GivenEvidence } from '../../core/evidence/annotations.ts';
import type { MadeCommit } from '../../core/memory/commit-log.ts';
import type { ClientFile, ProposedEntry } from '../../core/memory/proposed-entry.ts';
import type { Provenance } from '../../core/memory/store.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { Repository } from '../../git/commit/repository.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { Folder } from '../../git/disk/folder.ts';
import { parseCommit } from '../../git/objects/object.ts';
import { branchWork } from '../history/branch-work.ts';
import { commitsOutside, drift, lastChange } from '../history/last-change.ts';
import type { CallRights } from '../records/call-rights.ts';
import { checkSame, earlierIdPath } from '../records/earlier-id.ts';
import { configPath } from '../records/memory-config.ts';
import type { MemoryFolder } from '../records/memory-folder.ts';
import { codeCommitOf } from '../records/message.ts';
import { decodeText } from '../records/record-file.ts';
import { inSlices } from '../records/slices.ts';

/** The project around a memory, for one call of one session. */
export class StoreProject implements Omit<Project, 'use'> {
  readonly #memory: MemoryFolder;
  readonly #files: Files;
  readonly #rights: CallRights;

  constructor(memory: MemoryFolder, files: Files, rights: CallRights) {
    this.#memory = memory;
    this.#files = files;
    this.#rights = rights;
  }

  async info(): Promise<ProjectInfo> {
    const { isStopped: _, ...site } = await this.site();
    const projectId = this.#memory.own.projectId();
    const { readOnly, synonyms } = this.#memory.settings;
    return { ...site, projectId, readOnly, ...(synonyms.length > 0 && { synonyms }) };
  }

  async site(): Promise<ProjectSite> {
    const { root, path, settings } = this.#memory;
    const initialized = await this.#memory.initialized();
    return {
      root,
      folder: path,
      initialized,
      syncs: settings.syncs,
      isStopped: settings.isDamaged,
    };
  }

  async lacking(): Promise<readonly string[]> {
    return this.#memory.own.lacking();
  }

  async conflicts(): Promise<readonly string[]> {
    const folder = this.#memory.inTree('');
    const prefix = folder === '' ? '' : `${folder}/`;
    const unmerged = this.#memory.repository()?.unmergedBelow(folder) ?? [];
    return unmerged.map(({ path }) => path.slice(prefix.length));
  }

  async head(): Promise<HeadInfo> {
    try {
      const head = this.#memory.code()?.head();
      return { branch: head?.ref?.replace(/^refs\/heads\//, ''), oid: head?.oid };
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      // Files of the work tree can be read without it.
      return { branch: undefined, oid: undefined, problem: error.text };
    }
  }

  async initialize(): Promise<string> {
    const known = this.#memory.own.projectId();
    checkSame(this.#memory.own.earlierId(), earlierIdPath, known, configPath);
    if (known !== undefined && this.#memory.own.lacking().length === 0) return known;
    const subject = known
      ? 'complete the files of the memory itself'
      : 'initialize the memory of this project';
    // Settings are not records, so the lists of a mode do not apply to them.
    const access = { mode: undefined, mayRead: () => true, mayWrite: () => true };
    const options = { caller: this.#rights, initialize: true };
    const actor = await this.#rights.actor();
    const { made } = await this.#memory
      .change({ subject }, () => undefined, access, actor, options)
      .catch((error) => {
        throw this.#cannotCreate(error) ?? error;
      });
    if (made) this.#rights.onCommit(made);
    const id = this.#memory.own.projectId();
    if (id === undefined) throw new MemoryError('internal', 'The memory folder got no id.');
    return id;
  }

  /** The error for a folder of the memory or its repository that cannot be created in the root. */
  #cannotCreate(error: unknown): MemoryError | undefined {
    if (!(error instanceof MemoryError) || error.code !== 'storage') return undefined;
    const { errno, path } = error.data;
    const refused = ['EACCES', 'EPERM', 'EROFS'].some((code) => code === errno);
    if (!refused || dirname(String(path)) !== dirname(this.#memory.realPath())) return undefined;
    return new MemoryError('cannot_create', error.message, {
      hint: 'Let the server write there, or give it another folder by --root. Nothing was changed.',
      data: error.data,
      cause: error,
    });
  }

  async readFile(path: string, limit: number): Promise<string | undefined> {
    const parts = path.split('/');
    const strange = parts.some((part) => part === '' || part === '.' || part === '..');
    // Memory is read through the store, which checks the mode; git's files are not readable at all.
    const closed = parts.some((part) => /^\.(git|memory-bank)$/i.test(part));
    if (strange || closed || /[\0\\]/.test(path)) {
      throw new MemoryError('invalid_input', `"${path}" is not a path of a project file.`, {
        hint: 'Give it relative to the root of the project, with "/" between folders.',
      });
    }
    const bytes = new Folder(this.#files, this.#memory.root).read(path, limit);
    return bytes && decodeText(bytes);
  }

  async cite(places: readonly string[]): Promise<readonly GivenEvidence[]> {
    if (places.length === 0) return [];
    const { cite } = await import('../evidence/citation.ts');
    return cite(new Folder(this.#files, this.#memory.root), places);
  }

  async lastChange(
    path: string,
  ): Promise<{ readonly oid: string; readonly at: string } | undefined> {
    const repository = this.#memory.repository();
    const head = repository && (await this.#headOf(repository));
    if (!repository || head === undefined) return undefined;
    const last = lastChange(repository.odb, head, this.#memory.inTree(path));
    if (!last || !this.#memory.isApart) return last;
    const { message } = parseCommit(repository.odb.content(last.oid, 'commit'));
    const code = codeCommitOf(message);
    const isKnown = code !== undefined && this.#memory.code()?.odb.has(code);
    return isKnown ? { ...last, oid: code } : undefined;
  }

  /** The commit of a repository; undefined if its HEAD cannot be read. */
  async #headOf(repository: Repository): Promise<string | undefined> {
    try {
      return repository.head().oid;
    } catch (error) {
      if (error instanceof MemoryError) return undefined;
      throw error;
    }
  }

  async layout(to?: Layout): Promise<LayoutInfo> {
    await this.#memory.refresh();
    const now = this.#memory.settings.hasEntryFiles;
    const { changes, decisions, progress } = this.#memory.conversion(to ?? layoutOf(now));
    const files = changes.map(({ path }) => path);
    return { layout: layoutOf(now), decisions, progress, files };
  }

  async changeLayout(to: Layout): Promise<MadeCommit | undefined> {
    await this.#memory.refresh();
    // The records stay as they are, so the lists of a mode do not apply.
    const access = { mode: undefined, mayRead: () => true, mayWrite: () => true };
    const { made } = await this.#memory.change(
      conversions[to],
      () => undefined,
      access,
      await this.#rights.actor(),
      {
        caller: this.#rights,
        alone: true,
        configure: ({ layout: _, ...others }) =>
          to === 'log' ? others : { ...others, layout: to },
        convert: () => this.#memory.conversion(to).changes,
      },
    );
    const commit = made && made;
    if (commit) this.#rights.onCommit(commit);
    return commit;
  }

  async drift(since: string, limit: number): Promise<Drift> {
    const repository = this.#memory.code();
    const head = (await this.head()).oid;
    if (!repository || head === undefined) return { commits: 0, files: [], truncated: false };
    return drift(repository.odb, since, head, this.#memory.folderInCode, limit);
  }

  async commitsSince(since: string): Promise<readonly ProjectCommit[]> {
    const repository = this.#memory.code();
    const head = (await this.head()).oid;
    if (!repository || head === undefined) return [];
    const { odb } = repository;
    return commitsOutside(odb, since, head, this.#memory.folderInCode).map((oid) => {
      const { message } = parseCommit(odb.content(oid, 'commit'));
      return { oid, subject: message.trim().split('\n', 1)[0] ?? '' };
    });
  }

  async speaksAt(moment: HookMoment): Promise<boolean> {
    return this.#memory.settings.speaksAt(moment);
  }

  async recordsCommits(): Promise<boolean> {
    return this.#memory.settings.recordsCommits;
  }

  async proposals(outside: readonly ClientFile[]): Promise<readonly ProposedEntry[]> {
    const repository = this.#memory.code();
    const head = (await this.head()).oid;
    if (!repository || head === undefined) return [];
    const { proposedEntries } = await import('../proposals/proposed-entries.ts');
    const root = dirname(this.#memory.folderInCode);
    const source = { repository, head, root: root === '.' ? '' : root, outside };
    return inSlices(proposedEntries(source), () => this.#rights.signal.throwIfAborted());
  }

  async work(limit: number): Promise<BranchWork> {
    const repository = this.#memory.code();
    const { oid, problem } = await this.head();
    if (!repository || oid === undefined || problem !== undefined) return noWork;
    return branchWork(repository, this.#files, this.#memory.folderInCode, limit);
  }
}

/** The commits of conversions; the reasons lead on a person who reads `git log -- <path>`, which ends there. */
const conversions: Readonly<Record<Layout, Provenance>> = {
  log: {
    subject: 'store each log as one file',
    reason:
      'The entries had files of their own. Their earlier history: "git log -- <folder>", with decisionLog or progress in the folder of the memory.',
  },
  entries: {
    subject: 'store log entries as files',
    reason:
      'The entries were parts of decisionLog.md and progress.md. The earlier history of one: "git log --follow -M001 -- <its file>".',
  },
};

function layoutOf(hasEntryFiles: boolean): Layout {
  return hasEntryFiles ? 'entries' : 'log';
}

const noWork: BranchWork = { base: undefined, committed: [], edited: [] };
