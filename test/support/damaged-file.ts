import { runs, sample } from './depth.ts';
import { seeded } from './seeded.ts';

/** Returns forms of a file that is cut, or has another byte, half of them near its beginning. */
export function* damagedForms(good: Buffer): Generator<Buffer> {
  for (const length of sample([good.length - 1, 40, 0, 3, 31, 200, good.length >> 1], 2)) {
    yield good.subarray(0, length);
  }
  const next = seeded(7);
  const random = (limit: number) => Math.floor(limit * next());
  for (let i = 0; i < runs(40); i++) {
    const bad = Buffer.from(good);
    const at = i % 2 === 0 ? random(bad.length) : random(200);
    bad[at] = (bad[at] ?? 0) ^ (1 + random(255));
    yield bad;
  }
}
