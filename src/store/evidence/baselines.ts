import {
  bothSay,
  type Statement,
  saysTheSame,
  statementOf,
} from '../../core/evidence/statement.ts';
import { MemoryError } from '../../core/values/error.ts';
import { type Oid, parseCommit } from '../../git/objects/object.ts';
import type { ObjectDatabase } from '../../git/objects/odb.ts';
import type { PathChange } from '../history/change-index.ts';
import type { HistoryReader } from '../history/history-reader.ts';
import { codeCommitOf } from '../records/message.ts';
import { inSlices } from '../records/slices.ts';
import type { Baseline } from './judgement.ts';
import { indexGraph, type LastCommit, lastCommits } from './last-commits.ts';
import type { Ground } from './record-evidence.ts';

/** The places that a record names. */
export interface Named {
  readonly record: string;
  readonly references: readonly Ground[];
  /** The places about which HEAD says the same as the disk. */
  readonly committed: ReadonlySet<Ground>;
}

/** One place that a record rests on, and the state of the code on which it was written. */
export interface PlaceBaseline {
  readonly record: string;
  readonly reference: Ground;
  readonly baseline: Baseline;
}

/** Limit of the texts that are read to find when the sections of one record were written, in characters. */
const maxRead = 16 * 1024 * 1024;
/** Limit of the texts that stay in memory meanwhile. */
const maxKnown = 8;

/**
 * Adds the commit of the code on which each section or record was last changed; that of today for one with
 * uncommitted changes. A place that several sections name has the oldest of their commits.
 *
 * @param memory the last commit of the memory.
 * @param head the last commit of the code.
 */
export async function withBaselines(
  reader: HistoryReader,
  memory: Oid,
  head: Oid,
  named: readonly Named[],
): Promise<PlaceBaseline[]> {
  // The index of the history takes time, and is not needed for nothing.
  if (named.length === 0) return [];
  const { index, number } = await reader.indexedCommit(memory);
  const statements = new Statements(reader.history.repository.odb);
  for (const { record, references, committed } of named) {
    for (const reference of references) {
      if (committed.has(reference)) statements.add(record, reference);
    }
  }
  const graph = { ...indexGraph(index), ignores: statements.ignores };
  const last = await inSlices(lastCommits(graph, number, statements.searches()));
  const codes = new Map<number, Pick<Baseline, 'commit' | 'guessed'>>();
  const based: PlaceBaseline[] = [];
  for (const { record, references, committed } of named) {
    for (const reference of references) {
      const change = committed.has(reference)
        ? oldest(statements.keysOf(record, reference), last)
        : undefined;
      const { commit, cut = false } = change ?? {};
      if (commit !== undefined && !codes.has(commit)) {
        codes.set(commit, await codeAt(reader, index.commit(commit).oid, head));
      }
      const code = commit === undefined ? undefined : codes.get(commit);
      based.push({ record, reference, baseline: { ...(code ?? { commit: head }), cut } });
    }
  }
  return based;
}

function oldest(
  keys: readonly string[],
  last: ReadonlyMap<string, LastCommit<number>>,
): LastCommit<number> | undefined {
  const found = keys.flatMap((key) => last.get(key) ?? []);
  return found.toSorted((a, b) => a.commit - b.commit)[0];
}

/** The sections and records whose last changes are searched for. */
class Statements {
  readonly #odb: ObjectDatabase;
  /** The path and the section of each search, by its key. */
  readonly #wanted = new Map<string, { readonly path: string; readonly section?: string }>();
  readonly #known = new Map<Oid, Statement | undefined>();
  readonly #read = new Map<string, number>();

  constructor(odb: ObjectDatabase) {
    this.#odb = odb;
  }

  add(record: string, reference: Ground): void {
    const sections = sectionsOf(reference);
    if (!sections) this.#wanted.set(record, { path: record });
    for (const section of sections ?? []) {
      this.#wanted.set(keyOf(record, section), { path: record, section });
    }
  }

  keysOf(record: string, reference: Ground): readonly string[] {
    return sectionsOf(reference)?.map((section) => keyOf(record, section)) ?? [record];
  }

  *searches(): Iterable<readonly [key: string, path: string]> {
    for (const [key, { path }] of this.#wanted) yield [key, path];
  }

  /** Whether a change leaves what is searched for: an annotation other than a verification is not a change. */
  readonly ignores = ({ path, before, after }: PathChange, key: string): boolean => {
    if (before === undefined || after === undefined) return false;
    const { path: record = path, section } = this.#wanted.get(key) ?? {};
    if (section === undefined) return saysTheSame(path, this.#text(before), this.#text(after));
    if ((this.#read.get(record) ?? 0) > maxRead) return false;
    const [one, other] = [before, after].map((oid) => this.#statement(record, path, oid));
    return one !== undefined && other !== undefined && bothSay(one, other, section);
  };

  #text(oid: Oid): string {
    return this.#odb.has(oid) ? this.#odb.content(oid, 'blob').toString('utf8') : oid;
  }

  #statement(record: string, path: string, oid: Oid): Statement | undefined {
    if (!this.#known.has(oid)) {
      const [first] = this.#known.keys();
      if (first !== undefined && this.#known.size >= maxKnown) this.#known.delete(first);
      const text = this.#text(oid);
      this.#read.set(record, (this.#read.get(record) ?? 0) + text.length);
      this.#known.set(oid, statementOf(path, text));
    }
    return this.#known.get(oid);
  }
}

function sectionsOf(reference: Ground): readonly string[] | undefined {
  return reference.source === 'found' ? reference.sections : undefined;
}

function keyOf(record: string, section: string): string {
  return `${record}\0${section}`;
}

/**
 * The commit of the code at which a commit of the memory was made: the one that its message names, itself,
 * or for a memory apart from the code, the last one before it.
 */
async function codeAt(
  reader: HistoryReader,
  commit: Oid,
  head: Oid,
): Promise<Pick<Baseline, 'commit' | 'guessed'>> {
  const { code, memory, repository } = reader.history;
  const { message, committer } = parseCommit(repository.odb.content(commit, 'commit'));
  const named = codeCommitOf(message);
  if (named !== undefined && code.repository.odb.has(named)) return { commit: named };
  if (!memory.isApart) return { commit };
  const before = code.before(head, committer.seconds, reader.rights).catch((error) => {
    if (error instanceof MemoryError && error.code === 'not_found') return head;
    throw error;
  });
  return { commit: await before, guessed: named !== undefined };
}
