import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { transports } from '../support/fleet.ts';
import { manyWriters } from '../support/many-clones.ts';

deep.each(transports)(
  '8 clones that make 50 changes each over %s lose nothing',
  async (transport) => {
    const found = await manyWriters(transport, 8, 50);
    if (!found) {
      console.log(`Skipped: there is no server for ${transport} on this machine.`);
      return;
    }
    const { changes, arrived, pushes, milliseconds, fsck, converged } = found;
    console.log(
      `${transport}: ${changes} changes, ${pushes} pushes, ${Math.round(milliseconds)} ms`,
    );
    expect({ arrived, fsck, converged }).toEqual({ arrived: 400, fsck: '', converged: true });
    expect(pushes).toBeLessThan(changes / 2);
  },
);
