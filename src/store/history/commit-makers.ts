import type { CommitCounts, CommitFilter, CommitInfo } from '../../core/memory/history.ts';
import { makerOf } from '../../core/memory/maker.ts';
import type { Oid } from '../../git/objects/object.ts';
import { Slice } from '../records/slices.ts';
import type { ChangeIndex } from './change-index.ts';

/** The agent or person that made a commit, and the tool. */
interface Maker {
  readonly name: string;
  readonly tool: string | undefined;
}

/** The archive, which has the commits and their makers. */
interface CommitSource {
  commit(oid: Oid): CommitInfo;
}

/** The makers of commits. They are kept, because a commit never changes. */
export class CommitMakers {
  readonly #archive: CommitSource;
  readonly #makers = new Map<Oid, Maker>();
  /** Many commits have the same maker and tool. */
  readonly #same = new Map<string, Maker>();

  constructor(archive: CommitSource) {
    this.#archive = archive;
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
    const makers = await this.#of(index, inTime);
    return inTime.filter((_, i) => {
      const { name = '', tool = '' } = makers[i] ?? {};
      return (agent === undefined || name === agent) && (tools?.includes(tool) ?? true);
    });
  }

  /** Counts commits by day and by maker. */
  async count(index: ChangeIndex, found: readonly number[]): Promise<CommitCounts> {
    const days = new Map<string, number>();
    for (const commit of found) add(days, dayOf(index, commit));
    const makers = new Map<string, number>();
    for (const { name } of await this.#of(index, found)) add(makers, name);
    return { days, makers };
  }

  async #of(index: ChangeIndex, found: readonly number[]): Promise<readonly Maker[]> {
    const makers: Maker[] = [];
    const slice = new Slice();
    for (const commit of found) {
      makers.push(this.#maker(index.commit(commit).oid));
      if (slice.isOver) await slice.turn();
    }
    return makers;
  }

  #maker(oid: Oid): Maker {
    const known = this.#makers.get(oid);
    if (known) return known;
    const commit = this.#archive.commit(oid);
    const [name, { tool }] = [makerOf(commit), commit];
    const key = `${name}\n${tool}`;
    const maker = this.#same.get(key) ?? { name, tool };
    this.#same.set(key, maker);
    this.#makers.set(oid, maker);
    return maker;
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function dayOf(index: ChangeIndex, commit: number): string {
  return new Date(index.commit(commit).time * 1000).toISOString().slice(0, 10);
}
