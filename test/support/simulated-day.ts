import { renameSync } from 'node:fs';
import { AutoSync, type SyncClock, usualPace } from '../../src/app/session/auto-sync.ts';
import { type Clone, Fleet } from './fleet.ts';
import { note } from './note.ts';
import { Random } from './random.ts';

/** The size of a simulation. */
export interface DayOptions {
  readonly seed: number;
  readonly agents: number;
  readonly clones: number;
  /** The number of changes of each agent in the day. */
  readonly changes: number;
  /** The number of outages of the remote, and of the network of single clones. */
  readonly outages: number;
}

/** The outcome of a simulated day. */
export interface DayOutcome {
  readonly acknowledged: number;
  /** Acknowledged changes that the remote does not have at the end. */
  readonly lost: readonly string[];
  /** The number of different trees of the clones and the remote at the end. */
  readonly trees: number;
  readonly pushes: number;
  /** The number of exchanges that were tried, and that failed. */
  readonly exchanges: number;
  readonly failed: number;
  /** The number of commits of the remote. */
  readonly commits: number;
  readonly fsck: string;
}

const second = 1000;
const hour = 3600 * second;
const day = 24 * hour;
/** Events of this time overlap, as those of different machines do, in milliseconds. */
const overlap = 2 * second;
/** The shared notes, to which all agents add tags. */
const shared = 5;

/** A clock that moves when all work of a moment is done. */
class SimulatedTime implements SyncClock {
  readonly #events: { readonly at: number; readonly work: () => Promise<unknown> }[] = [];
  #time = Date.UTC(2026, 0, 2);
  /** Makes each time a different one, as the clock of the program does. */
  #ticks = 0;

  readonly start = this.#time;

  get elapsed(): number {
    return this.#time - this.start;
  }

  now(): Date {
    this.#ticks += 1;
    return new Date(this.#time + this.#ticks);
  }

  after(delay: number, work: () => Promise<unknown>): () => void {
    const event = { at: this.elapsed + delay, work };
    this.#events.push(event);
    return () => {
      const i = this.#events.indexOf(event);
      if (i >= 0) this.#events.splice(i, 1);
    };
  }

  /** Runs all events in their order; those of a moment run concurrently. */
  async run(): Promise<void> {
    while (this.#events.length > 0) {
      this.#events.sort((a, b) => a.at - b.at);
      const first = this.#events[0]?.at ?? 0;
      const end = this.#events.findIndex(({ at }) => at > first + overlap);
      const moment = this.#events.splice(0, end < 0 ? this.#events.length : end);
      this.#time = this.start + Math.max(first, this.elapsed);
      await Promise.all(moment.map(({ work }) => work()));
    }
  }
}

/**
 * Simulates a day of many agents on some clones of one remote, with the automatic exchanges of the program
 * and random outages.
 *
 * Only time is simulated: the repositories, commits, merges, fetches and pushes are real. A seed gives one
 * schedule of changes and outages.
 */
export async function simulateDay(options: DayOptions): Promise<DayOutcome> {
  const time = new SimulatedTime();
  const fleet = await Fleet.create(options.clones, 'a folder', () => time.now());
  if (!fleet) throw new Error('A folder needs no server.');
  try {
    return await new Day(options, fleet, time).run();
  } finally {
    await fleet.remove();
  }
}

class Day {
  readonly #options: DayOptions;
  readonly #fleet: Fleet;
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #syncs: readonly AutoSync[];
  /** The acknowledged notes with their texts, and the tags of the shared notes. */
  readonly #notes = new Map<string, string>();
  readonly #tags: string[] = [];
  /** Number of outages of the remote that are under way. */
  #down = 0;
  #failed = 0;
  #tries = 0;

  constructor(options: DayOptions, fleet: Fleet, time: SimulatedTime) {
    this.#options = options;
    this.#fleet = fleet;
    this.#time = time;
    this.#random = new Random(options.seed);
    const counted: SyncClock = {
      now: () => time.now(),
      after: (delay, work) =>
        time.after(delay, () => {
          this.#tries += 1;
          return work();
        }),
    };
    this.#syncs = fleet.clones.map(
      ({ opened }) =>
        new AutoSync(
          opened.workspace,
          () => {
            this.#failed += 1;
          },
          { ...usualPace, interval: 0 },
          counted,
        ),
    );
  }

  async run(): Promise<DayOutcome> {
    const { agents, changes, outages, clones } = this.#options;
    const before = this.#fleet.pushes;
    for (let agent = 0; agent < agents; agent++) {
      // An agent works in sessions of half an hour, as people start them.
      let at = 0;
      for (let n = 0; n < changes; n++) {
        at =
          n % 5 === 0 ? this.#random.below(day - hour) : at + this.#random.below(6 * 60 * second);
        this.#time.after(at, () => this.#change(agent, n));
      }
    }
    for (let i = 0; i < outages; i++) this.#planOutage(i % 2 === 0 ? undefined : i % clones);
    await this.#time.run();
    await this.#settle();
    return this.#outcome(before);
  }

  /** Makes the remote, or the network of one clone, unavailable for up to an hour. */
  #planOutage(clone: number | undefined): void {
    const begin = this.#random.below(day - 2 * hour);
    const end = begin + this.#random.below(hour);
    const { hub, clones, url } = this.#fleet;
    const one = clone === undefined ? undefined : clones[clone]?.repo;
    const away = `${hub.root}-away`;
    const down = async () => {
      if (one) one.git('remote', 'set-url', 'origin', away);
      else if (this.#down++ === 0) renameSync(hub.root, away);
    };
    const up = async () => {
      if (one) one.git('remote', 'set-url', 'origin', url);
      else if (--this.#down === 0) renameSync(away, hub.root);
    };
    this.#time.after(begin, down);
    this.#time.after(end, up);
  }

  async #change(agent: number, n: number): Promise<void> {
    const { clones } = this.#fleet;
    const i = agent % clones.length;
    const clone = clones[i];
    if (!clone) return;
    // The first call of a session waits for what others have pushed.
    if (n % 5 === 0) await this.#syncs[i]?.begin();
    if (n % 5 === 4) await this.#tag(clone, agent, n);
    else await this.#write(clone, agent, n);
    this.#syncs[i]?.changed();
  }

  async #write({ opened }: Clone, agent: number, n: number): Promise<void> {
    const [key, text] = [`agent-${agent}-${n}`, `Learned by ${agent} in step ${n}`];
    await opened.call.store.change({ subject: `add ${key}` }, (draft) =>
      draft.put(note, { key, tags: [], text }),
    );
    this.#notes.set(key, text);
  }

  /** Adds a tag to a note that all agents change. */
  async #tag({ opened }: Clone, agent: number, n: number): Promise<void> {
    const [key, tag] = [`shared-${agent % shared}`, `t-${agent}-${n}`];
    await opened.call.store.change({ subject: `tag ${key}` }, async (draft) => {
      const tags = (await draft.get(note, key))?.value.tags ?? [];
      await draft.put(note, { key, tags: [...tags, tag].sort(), text: 'shared' });
    });
    this.#tags.push(tag);
  }

  /** Exchanges until no clone has anything new. */
  async #settle(): Promise<void> {
    const request = { ours: [], theirs: [], confirm: false };
    for (const _ of ['push', 'pull']) {
      for (const { opened } of this.#fleet.clones) await opened.call.history.sync(request);
    }
    for (const sync of this.#syncs) await sync.close();
  }

  async #outcome(before: number): Promise<DayOutcome> {
    const { hub, clones } = this.#fleet;
    const lost: string[] = [];
    for (const { opened } of clones) {
      const { records } = await opened.call.store.list(note);
      const found = new Map(records.map(({ key, value }) => [key, value]));
      for (const [key, text] of this.#notes) if (found.get(key)?.text !== text) lost.push(key);
      const tags = new Set(records.flatMap(({ value }) => value.tags));
      lost.push(...this.#tags.filter((tag) => !tags.has(tag)));
    }
    const treeOf = (of: { git(...args: string[]): string }, name: string) =>
      of.git('rev-parse', `${name}^{tree}`);
    const trees = new Set([treeOf(hub, 'main'), ...clones.map(({ repo }) => treeOf(repo, 'HEAD'))]);
    return {
      acknowledged: this.#notes.size + this.#tags.length,
      lost,
      trees: trees.size,
      pushes: this.#fleet.pushes - before,
      exchanges: this.#tries,
      failed: this.#failed,
      commits: Number(hub.git('rev-list', '--count', 'main')),
      fsck: hub.git('fsck', '--strict', '--no-dangling'),
    };
  }
}
