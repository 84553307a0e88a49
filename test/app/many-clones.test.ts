import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { transports } from '../support/fleet.ts';
import { manyWriters } from '../support/many-clones.ts';

deep('4 clones that write at once become equal by themselves', async () => {
  const found = await manyWriters('a folder', 4, 2);
  expect(found).toMatchObject({ arrived: 8, fsck: '', equalAfter: expect.any(Number) });
});

deep.each(transports)(
  '8 clones that make 50 changes each over %s lose nothing',
  async (transport) => {
    const found = await manyWriters(transport, 8, 50);
    if (!found) {
      console.log(`Skipped: there is no server for ${transport} on this machine.`);
      return;
    }
    const { changes, arrived, pushes, milliseconds, fsck, equalAfter } = found;
    console.log(
      `${transport}: ${changes} changes, ${pushes} pushes, ${Math.round(milliseconds)} ms, equal ${Math.round(equalAfter ?? Number.NaN)} ms after the last`,
    );
    expect({ arrived, fsck }).toEqual({ arrived: 400, fsck: '' });
    expect(equalAfter).toBeDefined();
    expect(pushes).toBeLessThan(changes / 2);
  },
);
