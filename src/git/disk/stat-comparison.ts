import type * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Files } from './file-layer.ts';

/** Files and the stats that they had. */
export interface SavedStats {
  readonly paths: readonly string[];
  /** The paths as a list in JSON. */
  readonly json: Uint8Array;
  /** The `statNumbers` of each path. */
  readonly stats: Float64Array;
}

/** The files are divided into batches of this many. */
export const batchSize = 512;
/** For fewer files a second thread is not worth the time that it needs to start. */
export const leastForThread = 32 * 1024;

/** The states of a batch; 0 is that of any other. */
const taken = 1;
const compared = 2;

/**
 * Compares the stats of many files with the saved ones.
 *
 * @param prefix of each path.
 * @param isWanted whether the result for the path with this index is needed.
 * @returns 1 for each path whose file has its saved stat, 0 for all others.
 */
export function unchangedFiles(
  files: Files,
  prefix: string,
  saved: SavedStats,
  isWanted: (index: number) => boolean,
): Uint8Array {
  const { paths, stats } = saved;
  const same = new Uint8Array(paths.length);
  const thread = paths.length < leastForThread ? undefined : StatThread.start(prefix, saved);
  for (let start = 0; start < paths.length; start += batchSize) {
    const end = Math.min(start + batchSize, paths.length);
    const found = thread?.take(start / batchSize);
    if (found) {
      same.set(found.subarray(start, end), start);
      continue;
    }
    for (let from = start; from < end; from++) {
      let to = from;
      while (to < end && isWanted(to)) to += 1;
      if (to === from) continue;
      const changed = files.firstChanged(prefix, paths, stats, from, to);
      same.fill(1, from, changed);
      from = changed;
    }
  }
  thread?.end();
  return same;
}

/** The files that the thread compares, with the states and results of its work. */
interface Work {
  readonly prefix: string;
  readonly json: Uint8Array;
  readonly stats: Float64Array;
  readonly batchSize: number;
  readonly states: Uint8Array;
  readonly same: Uint8Array;
}

/**
 * A thread that compares batches from the end of the list while the caller does so from its beginning.
 *
 * The caller never waits for it: a batch that is not finished when the caller comes to it is compared twice.
 */
class StatThread {
  readonly #states: Uint8Array;
  readonly #same: Uint8Array;
  readonly #end: () => void;

  private constructor({ states, same }: Work, end: () => void) {
    this.#states = states;
    this.#same = same;
    this.#end = end;
  }

  /** Returns undefined if this machine has one processor, or no thread can be started. */
  static start(prefix: string, { paths, json, stats }: SavedStats): StatThread | undefined {
    if (availableParallelism() < 2) return undefined;
    const states = shared(Math.ceil(paths.length / batchSize));
    // Copies, because the whole buffer below each of them would be sent.
    const own = { json: new Uint8Array(json), stats: new Float64Array(stats) };
    const work: Work = { prefix, ...own, batchSize, states, same: shared(paths.length) };
    try {
      const { Worker } = process.getBuiltinModule('node:worker_threads');
      // The source is part of this file, so that the thread does not need the files of the program.
      const source = `(${String(compareFromEnd)})(require('node:fs'), require('node:worker_threads').workerData)`;
      const worker = new Worker(source, {
        eval: true,
        workerData: work,
        transferList: [own.json.buffer, own.stats.buffer],
        execArgv: [],
        env: {},
      });
      // The caller compares what the thread does not.
      worker.on('error', () => undefined);
      worker.unref();
      return new StatThread(work, () => void worker.terminate());
    } catch {
      return undefined;
    }
  }

  /** Returns the results for all batches if this one is finished; otherwise the caller has to compare it. */
  take(batch: number): Uint8Array | undefined {
    if (Atomics.load(this.#states, batch) === compared) return this.#same;
    Atomics.store(this.#states, batch, taken);
    return undefined;
  }

  end(): void {
    this.#end();
  }
}

function shared(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/** The work of the thread. It gets this function as text, so the function uses nothing outside of it. */
function compareFromEnd({ lstatSync }: typeof fs, work: Work): void {
  const { prefix, json, stats, batchSize, states, same } = work;
  const paths: string[] = JSON.parse(Buffer.from(json.buffer).toString());
  for (let batch = states.length - 1; batch >= 0; batch--) {
    // The caller has come to this batch.
    if (Atomics.load(states, batch) !== 0) return;
    const end = Math.min((batch + 1) * batchSize, paths.length);
    for (let index = batch * batchSize; index < end; index++) {
      const at = 4 * index;
      try {
        const found = lstatSync(prefix + paths[index], { throwIfNoEntry: false });
        if (!found || found.size !== stats[at] || found.mtimeMs !== stats[at + 1]) continue;
        if (found.ctimeMs === stats[at + 2] && found.ino === stats[at + 3]) same[index] = 1;
      } catch {
        // An error counts as another stat.
      }
    }
    Atomics.compareExchange(states, batch, 0, 2);
  }
}
