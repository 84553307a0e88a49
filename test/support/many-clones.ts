import { setTimeout } from 'node:timers/promises';
import { AutoSync, type SyncPace, usualPace } from '../../src/app/session/auto-sync.ts';
import { addNote, Fleet } from './fleet.ts';
import type { Transport } from './remote-server.ts';

/** The outcome of clones that write at the same time. */
export interface ManyWriters {
  readonly changes: number;
  /** The number of changes that the remote has. */
  readonly arrived: number;
  /** The subjects of changes of which it has more than one commit. */
  readonly twice: readonly string[];
  readonly pushes: number;
  readonly milliseconds: number;
  /** The errors of git about the objects of the remote. */
  readonly fsck: string;
  /** Milliseconds from the last change until all clones had the tree of the remote; undefined for never. */
  readonly equalAfter: number | undefined;
}

/** Time until all changes have to be there, in milliseconds. */
const maxWaitMs = 240_000;
/** Time between two checks, in milliseconds: each starts git once for each clone. */
const checkEveryMs = 500;

/** Shorter than in the program, so that more exchanges race. */
const quickPace: SyncPace = {
  maxWaitMs: 5_000,
  maxBriefWaitMs: 5_000,
  interval: 3_000,
  recent: 0,
  gather: [100, 500],
  pauses: [50, 500],
  closing: 60_000,
};

/**
 * Lets clones of one remote write at the same time, each with automatic exchanges.
 *
 * @param isUsual whether the exchanges have the durations of the program.
 * @returns undefined where no server for the transport can be started.
 */
export async function manyWriters(
  transport: Transport,
  count: number,
  each: number,
  isUsual: boolean,
): Promise<ManyWriters | undefined> {
  const fleet = await Fleet.create(count, transport);
  if (!fleet) return undefined;
  const pace = isUsual ? usualPace : quickPace;
  try {
    const [before, first] = [fleet.pushes, fleet.notes];
    const begun = performance.now();
    const syncs = fleet.clones.map(
      ({ opened }) => new AutoSync(opened.workspace, () => undefined, pace),
    );
    await Promise.all(
      fleet.clones.map(async (clone, i) => {
        await syncs[i]?.begin();
        for (let n = 0; n < each; n++) {
          await addNote(clone, `clone-${i}-${n}`);
          syncs[i]?.changed();
        }
      }),
    );
    const written = performance.now();
    const changes = count * each;
    const isEqual = () => {
      const tree = fleet.hub.git('rev-parse', 'main^{tree}');
      return fleet.clones.every(({ repo }) => repo.git('rev-parse', 'HEAD^{tree}') === tree);
    };
    const isDone = () => fleet.notes - first >= changes && isEqual();
    // Nothing but the automatic exchanges makes them equal.
    while (!isDone() && performance.now() - begun < maxWaitMs) await setTimeout(checkEveryMs);
    const milliseconds = performance.now() - begun;
    const equalAfter = isDone() ? performance.now() - written : undefined;
    const [arrived, pushes] = [fleet.notes - first, fleet.pushes - before];
    for (const sync of syncs) await sync.close();
    const subjects = fleet.hub.git('log', '--format=%s', 'main').split('\n');
    const added = subjects.filter((subject) => subject.includes('clone-'));
    const twice = added.filter((subject, i) => added.indexOf(subject) !== i);
    const fsck = fleet.hub.git('fsck', '--strict', '--no-dangling');
    return { changes, arrived, twice, pushes, milliseconds, fsck, equalAfter };
  } finally {
    await fleet.remove();
  }
}
