import { authorName } from '../../core/memory/author-name.ts';
import type { CommitCounts, CommitFilter, CommitInfo } from '../../core/memory/commit-log.ts';
import type { Oid } from '../../git/objects/object.ts';
import { Slice } from '../records/slices.ts';
import type { ChangeIndex } from './change-index.ts';

/** The agent or person that made a commit, and the tool. */
interface CommitAuthor {
  readonly name: string;
  readonly tool: string | undefined;
}

/** The history, which has the commits and their authors. */
interface CommitSource {
  commit(oid: Oid): CommitInfo;
}

/** The authors of commits. They are kept, because a commit never changes. */
export class CommitAuthors {
  readonly #history: CommitSource;
  readonly #authors = new Map<Oid, CommitAuthor>();
  /** Many commits have the same author and tool. */
  readonly #same = new Map<string, CommitAuthor>();

  constructor(history: CommitSource) {
    this.#history = history;
  }

  /** Returns the commits of a list that fit a filter. */
  async select(
    index: ChangeIndex,
    found: readonly number[],
    { agent, tools, after = '', before = '9999-12-31' }: CommitFilter,
  ): Promise<number[]> {
    const inTime = found.filter((commit) => {
      const day = dayOf(index, commit);
      return day >= after && day <= before;
    });
    if (agent === undefined && tools === undefined) return inTime;
    const authors = await this.#of(index, inTime);
    return inTime.filter((_, i) => {
      const { name = '', tool = '' } = authors[i] ?? {};
      return (agent === undefined || name === agent) && (tools?.includes(tool) ?? true);
    });
  }

  /** Counts commits by day and by author. */
  async count(index: ChangeIndex, found: readonly number[]): Promise<CommitCounts> {
    const days = new Map<string, number>();
    for (const commit of found) add(days, dayOf(index, commit));
    const authors = new Map<string, number>();
    for (const { name } of await this.#of(index, found)) add(authors, name);
    return { days, authors };
  }

  async #of(index: ChangeIndex, found: readonly number[]): Promise<readonly CommitAuthor[]> {
    const authors: CommitAuthor[] = [];
    const slice = new Slice();
    for (const commit of found) {
      authors.push(this.#author(index.commit(commit).oid));
      if (slice.isOver) await slice.turn();
    }
    return authors;
  }

  #author(oid: Oid): CommitAuthor {
    const known = this.#authors.get(oid);
    if (known) return known;
    const commit = this.#history.commit(oid);
    const [name, { tool }] = [authorName(commit), commit];
    const key = `${name}\n${tool}`;
    const author = this.#same.get(key) ?? { name, tool };
    this.#same.set(key, author);
    this.#authors.set(oid, author);
    return author;
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function dayOf(index: ChangeIndex, commit: number): string {
  return new Date(index.commit(commit).time * 1000).toISOString().slice(0, 10);
}
