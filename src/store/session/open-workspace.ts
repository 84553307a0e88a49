import type {
  Binding,
  BoundWorkspace,
  ReviewRule,
  Workspace,
  WorkspaceOptions,
} from '../../core/declarations/workspace.ts';
import type { Claims } from '../../core/memory/claims.ts';
import type { Memories } from '../../core/memory/pinned-memories.ts';
import type { Reviews } from '../../core/memory/waiting-reviews.ts';
import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../../git/disk/disk.ts';
import type { Files } from '../../git/disk/file-layer.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { isBlob } from '../../git/objects/object.ts';
import type { Cautions } from '../evidence/cautions.ts';
import { entryAt } from '../history/last-change.ts';
import { MemoryHistory } from '../history/memory-history.ts';
import type { Pins } from '../memories/pins.ts';
import { accessOf } from '../modes/access.ts';
import { ModeLibrary } from '../modes/mode-library.ts';
import { sessionModes } from '../modes/session-modes.ts';
import { MemoryPlaces } from '../placement/memory-places.ts';
import type { CallRights } from '../records/call-rights.ts';
import { ChangeLog } from '../records/change-log.ts';
import { LocalFile } from '../records/local-state.ts';
import { configPath } from '../records/memory-config.ts';
import { MemoryFolder } from '../records/memory-folder.ts';
import type { MeaningSignal } from '../search/meaning/meaning.ts';
import { shippedTable } from '../search/meaning/shipped-table.ts';
import type { WordTable } from '../search/meaning/word-table.ts';
import { RecordSearch } from '../search/record-search.ts';
import type { EmbeddingSignal } from './embedding-signal.ts';
import type { HitChanges } from './hit-changes.ts';
import { usedRecords } from './hook-state.ts';
import { StoreProject } from './project.ts';
import { ProjectWords } from './project-words.ts';
import { SavedIndex } from './saved-index.ts';
import { SessionHistory } from './session-history.ts';
import { SessionStore, type StoreParts } from './session-store.ts';
import type { WordVectorSignal } from './word-vector-signal.ts';

/** The dependencies of a workspace; tests replace them. */
export interface WorkspaceParts {
  readonly files: Files;
  readonly env: NodeJS.ProcessEnv;
  /** How long to wait for a lock of another process, in milliseconds. */
  readonly lockTimeout: number;
  /** How long to wait after another program has staged something, in milliseconds. */
  readonly calm: number;
  /** With fewer records, no index is saved for the next process. */
  readonly leastSaved: number;
  /** How long after a search words are learned, in milliseconds; infinite for not at all. */
  readonly learnAfter: number;
  /** Returns the table of word vectors; undefined to find by words alone. */
  readonly table: (files: Files) => WordTable | undefined;
  uuid(): string;
}

const real: WorkspaceParts = {
  files: new NodeFiles(),
  env: process.env,
  lockTimeout: 10_000,
  calm: 400,
  leastSaved: 500,
  learnAfter: 2000,
  table: shippedTable,
  uuid: () => globalThis.crypto.randomUUID(),
};

/** How long changes on disk are collected before listeners are called, in milliseconds. */
const collectFor = 50;
/** The index of this number of records is built in a fraction of a second. */
const fewRecords = 1_000;
/** Words that warm the search. The one between two others keeps it from reading all texts in vain. */
const warmingQuery = 'what memory says';
/** How long after a look a missing memory folder is looked for again, in milliseconds. */
const missingPause = 2_000;

/** Opens the memory of a root; see `OpenWorkspace`. */
export async function openWorkspace(
  options: WorkspaceOptions,
  parts: Partial<WorkspaceParts> = {},
): Promise<Workspace> {
  const opened = new StoreWorkspace(options, { ...real, ...parts });
  await opened.prepare();
  return opened;
}

/** Returns the finder of the memories of projects; see `MemoryPlaces`. */
export function findMemory(
  { durability, now, warn }: Pick<WorkspaceOptions, 'durability' | 'now' | 'warn'>,
  parts: Partial<WorkspaceParts> = {},
): MemoryPlaces {
  const { files, ...options } = { ...real, ...parts };
  return new MemoryPlaces({ ...options, now, warn, disk: new Disk(files, durability) });
}

class StoreWorkspace implements Workspace {
  readonly root: string;
  readonly #memory: MemoryFolder;
  readonly #search: RecordSearch;
  readonly #saved: SavedIndex;
  readonly #common: ProjectWords;
  readonly #log: ChangeLog;
  readonly #modes: ModeLibrary;
  readonly #local: LocalFile;
  readonly #files: Files;
  readonly #now: () => Date;
  readonly #history: MemoryHistory;
  readonly #used: StoreParts['used'];
  readonly #listeners = new Set<(paths: readonly string[]) => void>();
  readonly #changed = new Set<string>();
  readonly #learnAfter: number;
  #cautions: Promise<Cautions> | undefined;
  #changes: Promise<HitChanges> | undefined;
  #pins: Promise<Pins> | undefined;
  #learned: Promise<WordVectorSignal> | undefined;
  #model: Promise<EmbeddingSignal | undefined> | undefined;
  readonly #openEmbedder: WorkspaceOptions['embedder'];
  readonly #warn: (message: string) => void;
  #notifyTimer: NodeJS.Timeout | undefined;
  #pollTimer: NodeJS.Timeout | undefined;

  constructor(options: WorkspaceOptions, { files, ...parts }: WorkspaceParts) {
    const { root, folder: path, records: types, durability, now, warn, isCurrent } = options;
    const own = options.repository === 'own';
    const disk = new Disk(files, durability);
    this.root = root;
    this.#files = files;
    this.#now = now;
    this.#memory = new MemoryFolder({
      ...parts,
      disk,
      root,
      path,
      own,
      types,
      now,
      warn,
      isCurrent,
    });
    this.#used = usedRecords(this.#memory);
    this.#search = new RecordSearch(
      this.#memory.view,
      types,
      () => this.#signals(),
      () => parts.table(files),
      () => this.#memory.settings.synonyms,
      () => this.#common.weights,
    );
    this.#common = new ProjectWords(this.#memory);
    this.#learnAfter = parts.learnAfter;
    this.#openEmbedder = options.embedder;
    this.#warn = warn;
    this.#saved = new SavedIndex(this.#memory, this.#search, types, files, parts.leastSaved);
    this.#log = new ChangeLog(this.#memory.view);
    this.#memory.onFirstLook = () => this.#saved.load();
    this.#memory.onLooked = () => this.#saved.writeSoon();
    this.#modes = new ModeLibrary(files, root, path);
    this.#local = new LocalFile(disk, () => this.#memory.repository()?.folder);
    this.#history = new MemoryHistory(this.#memory, disk, now, parts.leastSaved);
    this.#memory.view.onChange((path) => {
      if (this.#listeners.size === 0 || this.#memory.sweeping) return;
      this.#changed.add(path);
      // A change of our own creates a folder that is not watched yet.
      this.#notifySoon();
    });
    this.#memory.onHint = () => this.#notifySoon();
  }

  get syncs(): boolean {
    return this.#memory.settings.syncs;
  }

  get review(): ReviewRule | undefined {
    return this.#memory.settings.review;
  }

  get lacksFormat(): boolean {
    return this.#memory.settings.lacksFormat && this.#hasCommitted(configPath);
  }

  prepare(): Promise<void> {
    return this.#memory.repair();
  }

  bind(binding: Binding): BoundWorkspace {
    const modes = sessionModes(this.#modes, binding.session);
    const rights: CallRights = {
      access: async () =>
        accessOf(await modes.current(), modes.updating, this.#memory.settings.hasEntryFiles),
      async actor() {
        if (binding.isReading) throw changesNothing(binding.tool);
        return {
          tool: binding.tool,
          agent: binding.session.agent,
          author: binding.session.author,
          session: binding.session.id,
          mode: (await modes.current())?.name,
        };
      },
      session: binding.session,
      signal: binding.signal,
      onCommit: (commit) => binding.onCommit(commit),
      progress: (...step) => binding.progress(...step),
      onWait: (text) => binding.onWait?.(text),
      note: (text) => binding.note?.(text),
    };
    const store = new SessionStore(
      {
        history: this.#history,
        search: this.#search,
        local: this.#local,
        log: this.#log,
        index: {
          saveIndex: async () => {
            await this.#common.learn().catch(() => undefined);
            return this.#saved.save();
          },
          learnedWords: async () => {
            await this.#search.becomesComplete();
            return (await this.#openLearned()).current();
          },
        },
        doubts: async (...request) => (await this.#loadCautions()).doubts(...request),
        addChanges: async (...request) => (await this.#loadChanges()).addTo(...request),
        used: this.#used,
      },
      rights,
    );
    const project = new StoreProject(this.#memory, this.#files, rights);
    const history = new SessionHistory(this.#history, rights);
    const [claims, memories] = [this.#claims(rights), this.#memories(rights)];
    const reviews = this.#reviews(rights);
    return { store, project, modes, history, claims, memories, reviews };
  }

  /** Loaded by the first call that uses claims. */
  #claims(rights: CallRights): Claims {
    const load = async (): Promise<Claims> => {
      const { SessionClaims } = await import('../claims/session-claims.ts');
      return new SessionClaims(this.#history, rights, this.#now);
    };
    return {
      list: async () => (await load()).list(),
      claim: async (...request) => (await load()).claim(...request),
      release: async (...request) => (await load()).release(...request),
    };
  }

  /** Loaded by the first call of a memory with pins. */
  #memories(rights: CallRights): Memories {
    const load = async (): Promise<Memories> => {
      const { SessionMemories } = await import('../memories/session-memories.ts');
      this.#pins ??= import('../memories/pins.ts').then(({ Pins }) => new Pins(this.#history));
      return new SessionMemories(this.#history, await this.#pins, rights, this.#now);
    };
    const isNone = () => this.#memory.settings.pins.length === 0;
    return {
      list: async () => (isNone() ? [] : (await load()).list()),
      isForeign: async (path) => (await load()).isForeign(path),
      read: async (...request) => (await load()).read(...request),
      records: async () => (isNone() ? [] : (await load()).records()),
      search: async (...request) => (isNone() ? [] : (await load()).search(...request)),
      check: async () => (isNone() ? [] : (await load()).check()),
      refs: async () => (isNone() ? [] : (await load()).refs()),
      fetch: async (...request) => (await load()).fetch(...request),
      forget: async (...request) => (await load()).forget(...request),
      preview: async (...request) => (await load()).preview(...request),
      pin: async (...request) => (await load()).pin(...request),
    };
  }

  /** Loaded by the first call that uses reviews. */
  #reviews(rights: CallRights): Reviews {
    const load = async (): Promise<Reviews> => {
      const { SessionReviews } = await import('../reviews/session-reviews.ts');
      return new SessionReviews(this.#history, rights);
    };
    return {
      list: async () => (await load()).list(),
      tips: async () => (await load()).tips(),
      accepted: async (...request) => (await load()).accepted(...request),
      accept: async (...request) => (await load()).accept(...request),
      acceptFrom: async (...request) => (await load()).acceptFrom(...request),
      withdraw: async (...request) => (await load()).withdraw(...request),
      confirm: async (...request) => (await load()).confirm(...request),
      person: async () => (await load()).person(),
      isConfirmed: async (...request) => (await load()).isConfirmed(...request),
      confirmable: async (...request) => (await load()).confirmable(...request),
      drop: async (...request) => (await load()).drop(...request),
    };
  }

  async warm(): Promise<void> {
    await this.#memory.refresh();
    await this.#loadCautions();
    // The index of many records is built for a search only: many sessions never search.
    if (!this.#saved.isSearchable && this.#memory.view.count > fewRecords) return;
    // By words alone: nothing is learned or sent to a model before somebody searches.
    await this.#search.find({ query: warmingQuery, limit: 1, sure: 1 }, undefined);
  }

  watch(listener: (paths: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    // A watch reports changes, so the existing records must be known first.
    this.#notifySoon();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    for (const timer of [this.#notifyTimer, this.#pollTimer]) clearTimeout(timer);
    await (await this.#learned)?.close();
    await (await this.#model)?.close();
    await this.#saved.close();
    await this.#history.close();
    this.#search.close();
    this.#memory.close();
  }

  /** Loaded by the first answer about records. */
  #loadCautions(): Promise<Cautions> {
    this.#cautions ??= import('../evidence/cautions.ts').then(({ Cautions }) => new Cautions());
    return this.#cautions;
  }

  /** The last changes of hits; the code is loaded by the first search. */
  #loadChanges(): Promise<HitChanges> {
    this.#changes ??= import('./hit-changes.ts').then(({ HitChanges }) => new HitChanges());
    return this.#changes;
  }

  /** The signals of meaning; the code is loaded by the first search. */
  async #signals(): Promise<readonly MeaningSignal[]> {
    if (this.#learnAfter === Number.POSITIVE_INFINITY) return [];
    const learned = this.#openLearned();
    this.#model ??= this.#openModel();
    const model = await this.#model;
    return [await learned, ...(model ? [model] : [])];
  }

  /** Opens the embedding model; a model that cannot be used is reported once. */
  async #openModel(): Promise<EmbeddingSignal | undefined> {
    if (!this.#openEmbedder) return undefined;
    try {
      const embedder = await this.#openEmbedder();
      const { EmbeddingSignal, embeddingFile } = await import('./embedding-signal.ts');
      const { view } = this.#memory;
      const file = embeddingFile(this.#memory, embedder.model);
      return new EmbeddingSignal(embedder, file, view, this.#learnAfter, this.#warn);
    } catch (error) {
      this.#warn(`${error instanceof Error ? error.message : error} The search works without it.`);
      return undefined;
    }
  }

  #openLearned(): Promise<WordVectorSignal> {
    this.#learned ??= import('./word-vector-signal.ts').then(({ WordVectorSignal }) =>
      WordVectorSignal.open(this.#memory, this.#search, this.#learnAfter),
    );
    return this.#learned;
  }

  /** Whether HEAD has a file of the memory as it is on disk. */
  #hasCommitted(path: string): boolean {
    const repository = this.#memory.repository();
    const text = this.#memory.text(path);
    const { oid } = repository?.canReadRefs ? repository.head() : {};
    if (!repository || text === undefined || oid === undefined) return false;
    const blob = entryAt(repository.odb, oid, this.#memory.inTree(path))?.oid;
    return blob !== undefined && isBlob(Buffer.from(text), blob);
  }

  #notifySoon(): void {
    if (this.#listeners.size === 0) return;
    this.#notifyTimer ??= setTimeout(() => void this.#describe(), collectFor).unref();
  }

  async #describe(): Promise<void> {
    this.#notifyTimer = undefined;
    clearTimeout(this.#pollTimer);
    await this.#memory.refresh().catch(() => undefined);
    const paths = [...this.#changed].sort();
    this.#changed.clear();
    if (paths.length > 0) for (const listener of this.#listeners) listener(paths);
    if (this.#listeners.size === 0 || !this.#memory.isMissing) return;
    // Nothing reports that a missing folder was created.
    this.#pollTimer = setTimeout(() => this.#notifySoon(), missingPause).unref();
  }
}

/** An operation that is declared to read has tried to change a memory that requires reviews. */
function changesNothing(tool: string): MemoryError {
  const message = `"${tool}" changes nothing here: changes of agents wait for a review.`;
  return new MemoryError('forbidden', message, { hint: 'Change the memory by one of its tools.' });
}
