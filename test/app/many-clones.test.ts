import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { manyWriters } from '../support/many-clones.ts';
import { transports } from '../support/remote-server.ts';

/** The number of clones, and of changes of each: `MANY_CLONES=8x50` tries more, over every transport, at the pace of the program. */
const wanted = process.env.MANY_CLONES;
const [clones = 0, each = 0] = (wanted ?? '4x10').split('x').map(Number);

deep.for(wanted ? transports : (['a folder', 'HTTP', 'SSH'] as const))(
  `${clones} clones that make ${each} changes each over %s lose nothing and become equal by themselves`,
  async (transport, { skip }) => {
    const found = await manyWriters(transport, clones, each, wanted !== undefined);
    if (!found) return skip(`there is no server for ${transport} here`);
    const { changes, arrived, twice, pushes, milliseconds, fsck, equalAfter } = found;
    const [all, end] = [milliseconds, equalAfter ?? Number.NaN].map((time) => Math.round(time));
    console.log(
      `${transport}: ${changes} changes, ${pushes} pushes, ${all} ms, equal ${end} ms after the last`,
    );
    expect({ arrived, twice, fsck }).toEqual({ arrived: changes, twice: [], fsck: '' });
    expect(equalAfter).toBeDefined();
    expect(pushes).toBeLessThan(changes / 2);
  },
);
