import type { Context } from '../../core/declarations/context.ts';
import type { HookMoment } from '../../core/declarations/hook-moment.ts';
import type { HitChange } from '../../core/memory/search-hit.ts';
import type { RecordDoubts } from '../../core/memory/store.ts';
import { searchedFields } from '../../core/record/searched-fields.ts';
import { toStoredText } from '../../store/search/encoded-text.ts';
import { HookState } from '../../store/session/hook-state.ts';
import type { KeyedPassage } from '../../toolsets/brief/keyed-passage.ts';
import type { Brief } from '../../toolsets/brief/layout.ts';
import type { BriefRequest } from '../../toolsets/brief/session-brief.ts';
import { brief, trackProgress } from '../../toolsets/index.ts';
import { PassageSearch } from './passage-search.ts';
import { sectionWith } from './record-dates.ts';

/**
 * The part of a memory that a hook reads.
 *
 * @typeParam U `'unknown'` for a memory that leaves some answers to the whole program.
 */
export interface HookMemory<U extends 'unknown' = never> {
  readonly now: Date;
  /** The real path of the project. */
  readonly root: string;
  readonly state: Pick<HookState, 'local' | 'shown' | 'exclusively'>;
  isInitialized(): Promise<boolean>;
  /** The commit of HEAD; `''` for none. */
  head(): Promise<string>;
  /** The last commit that changed the memory; `''` for none. */
  lastChange(): Promise<string>;
  /** The names of the tools that the client is offered. */
  tools(): Promise<ReadonlySet<string>>;
  /** Whether commits since an earlier one changed files outside the memory. */
  hasCommitsSince(earlier: string): Promise<boolean>;
  /** The number of edited files, up to a limit. */
  edited(limit: number): Promise<number>;
  brief(request: BriefRequest): Promise<Brief | U>;
  /**
   * The first passages with one of some keys that a session does not have.
   *
   * @param isKnown whether the session has a passage.
   */
  passages(
    keys: readonly string[],
    isKnown: (passage: KeyedPassage) => boolean,
    limit: number,
  ): Promise<readonly KeyedPassage[] | U>;
  /** Adds when and by whom the record or decision of each passage was last changed, where it is known. */
  dated<T extends KeyedPassage>(passages: readonly T[]): Promise<readonly Dated<T>[]>;
  /** The doubts about records. */
  doubts(paths: readonly string[]): Promise<ReadonlyMap<string, RecordDoubts> | U>;
  /** The files of the project that were changed since a commit, with those that are edited. */
  changedSince(earlier: string, limit: number): Promise<readonly string[]>;
  /** The last commit that changed a path of the work tree; undefined if it is not known. */
  lastChangeOf(path: string): Promise<string | undefined>;
  /** Whether the project wants to hear from its memory at a moment of a session. */
  speaksAt(moment: HookMoment): Promise<boolean>;
  /** Whether the project wants the commits of a session in its progress. */
  recordsCommits(): Promise<boolean>;
  /** Adds the commits since an earlier one to the progress of the project, as one entry. */
  recordCommits(earlier: string): Promise<'recorded' | U>;
}

/** A passage with the last change of its record or decision. */
export type Dated<T> = T & { readonly changed?: HitChange | undefined };

/** Number of commits that an entry names. */
const maxNamed = 20;
/** Longest subject in an entry, in characters. */
const maxSubject = 100;

async function datedPassages<T extends KeyedPassage>(
  { store }: Context,
  passages: readonly T[],
): Promise<readonly Dated<T>[]> {
  const paths = [...new Set(passages.map(({ path }) => path))];
  const texts = new Map(
    (await store.states.readAt(paths)).map(({ path, type, value }) => {
      return [path, toStoredText(searchedFields(type, value))];
    }),
  );
  const places = passages.flatMap((passage) => {
    const { path, entry } = passage;
    if (entry === undefined) return [{ passage, path }];
    const text = texts.get(path);
    const section = text && sectionWith(text, entry);
    return section === undefined ? [] : [{ passage, path, section }];
  });
  const dates = new Map(
    (await store.dated(places)).map(({ passage, changed }) => [passage, changed]),
  );
  return passages.map((passage) => ({ ...passage, changed: dates.get(passage) }));
}

/** The memory of a call. */
export async function contextMemory(context: Context): Promise<HookMemory> {
  const { project } = context;
  const { root, folder } = await project.site();
  const search = new PassageSearch(context);
  return {
    now: context.now(),
    root,
    state: HookState.at(folder),
    isInitialized: async () => (await project.site()).initialized,
    head: async () => (await project.head()).oid ?? '',
    lastChange: async () => (await project.lastChange(''))?.oid ?? '',
    tools: () => context.toolNames(),
    passages: (keys, isKnown, limit) => search.find(keys, isKnown, limit),
    dated: (passages) => datedPassages(context, passages),
    doubts: (paths) => context.store.doubts(paths),
    changedSince: (earlier, limit) => search.changedSince(earlier, limit),
    lastChangeOf: (path) => search.lastChangeOf(path),
    speaksAt: (moment) => project.speaksAt(moment),
    hasCommitsSince: async (earlier) => (await project.drift(earlier, 1)).commits > 0,
    edited: async (limit) => (await project.work(limit)).edited.length,
    brief: (request) => brief(context, request),
    recordsCommits: () => project.recordsCommits(),
    recordCommits: async (earlier) => {
      const commits = await project.commitsSince(earlier);
      if (commits.length === 0) return 'recorded';
      const named = commits
        .slice(0, maxNamed)
        .map(({ oid, subject }) => `${oid.slice(0, 8)} ${subject.slice(0, maxSubject)}`);
      const more = commits.length > maxNamed ? [`and ${commits.length - maxNamed} more`] : [];
      await trackProgress(context, 'Commits', [...named, ...more].join('; '));
      return 'recorded';
    },
  };
}
