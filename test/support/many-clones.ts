import { setTimeout } from 'node:timers/promises';
import { AutoSync, type SyncPace } from '../../src/app/session/auto-sync.ts';
import { addNote, Fleet, type Transport } from './fleet.ts';

/** The outcome of clones that write at the same time. */
export interface ManyWriters {
  readonly changes: number;
  /** The number of changes that the remote has. */
  readonly arrived: number;
  readonly pushes: number;
  readonly milliseconds: number;
  /** The errors of git about the objects of the remote. */
  readonly fsck: string;
  /** Whether all clones have the tree of the remote at the end. */
  readonly converged: boolean;
}

/** Time until all changes have to be there, in milliseconds. */
const maxWaitMs = 240_000;

/** Shorter than in the program, so that more exchanges race. */
const pace: SyncPace = {
  maxWaitMs: 5_000,
  recent: 0,
  gather: [100, 500],
  pauses: [50, 500],
  closing: 60_000,
};

/**
 * Lets clones of one remote write at the same time, each with automatic exchanges.
 *
 * @returns undefined where no server for the transport can be started.
 */
export async function manyWriters(
  transport: Transport,
  count: number,
  each: number,
): Promise<ManyWriters | undefined> {
  const fleet = await Fleet.create(count, transport);
  if (!fleet) return undefined;
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
    const changes = count * each;
    while (fleet.notes - first < changes && performance.now() - begun < maxWaitMs) {
      await setTimeout(100);
    }
    const milliseconds = performance.now() - begun;
    const [arrived, pushes] = [fleet.notes - first, fleet.pushes - before];
    for (const sync of syncs) await sync.close();
    const request = { ours: [], theirs: [], confirm: false };
    for (const { opened } of fleet.clones) await opened.call.history.sync(request);
    const tree = fleet.hub.git('rev-parse', 'main^{tree}');
    const converged = fleet.clones.every(
      ({ repo }) => repo.git('rev-parse', 'HEAD^{tree}') === tree,
    );
    const fsck = fleet.hub.git('fsck', '--strict', '--no-dangling');
    return { changes, arrived, pushes, milliseconds, fsck, converged };
  } finally {
    await fleet.remove();
  }
}
