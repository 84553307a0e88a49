import type { GraphData } from '../page/answers.ts';

/** Maximum number of records around one. */
const maxAround = 200;

/** Returns the records that one names, in one direction. */
type Next<T> = (record: T) => readonly T[];

/** Returns what a record rests on and what rests on it, in two steps each; it is the first node. */
export function aroundRecord<T>(
  centre: T,
  from: Next<T>,
  to: Next<T>,
  nodeOf: (record: T) => GraphData['nodes'][number],
): GraphData {
  const places = new Map([[centre, 0]]);
  const edges = new Set<string>();
  let left = 0;
  const go = (next: Next<T>, isForward: boolean) => {
    let step: readonly T[] = [centre];
    for (let steps = 0; steps < 2; steps++) {
      const found: T[] = [];
      for (const record of step) {
        for (const other of next(record)) {
          if (!places.has(other) && places.size >= maxAround) {
            left++;
            continue;
          }
          if (!places.has(other)) places.set(other, places.size);
          const pair = [places.get(record), places.get(other)];
          edges.add((isForward ? pair : pair.reverse()).join(' '));
          if (other !== centre) found.push(other);
        }
      }
      step = [...new Set(found)];
    }
  };
  go(from, true);
  go(to, false);
  return {
    nodes: [...places.keys()].map(nodeOf),
    edges: [...edges].map((edge): [number, number] => {
      const [from = 0, to = 0] = edge.split(' ').map(Number);
      return [from, to];
    }),
    total: places.size + left,
  };
}
