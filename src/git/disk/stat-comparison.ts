import type * as fs from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { type Files, firstChanged, statSize } from './file-layer.ts';

/** Files and the stats that they had. */
export interface SavedStats {
  readonly paths: readonly string[];
  /** The `statNumbers` of each path. */
  readonly stats: Float64Array;
  /** A thread for these files that helps with the first comparison. */
  readonly thread?: StatThread | undefined;
}

/** The files are divided into batches of this many. */
export const batchSize = 512;
/** How long a thread waits for its comparison to begin, in milliseconds. */
const patience = 5000;
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
  const thread = saved.thread?.begin();
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
  /** The paths as a list in JSON. */
  readonly json: Uint8Array;
  readonly stats: Float64Array;
  readonly statSize: number;
  readonly batchSize: number;
  /** The state of a batch that it has compared. */
  readonly compared: number;
  /** Not 0 once the comparison has begun. */
  readonly begun: Int32Array;
  /** How long the thread waits for that, in milliseconds. */
  readonly patience: number;
  readonly states: Uint8Array;
  readonly same: Uint8Array;
}

/**
 * A thread that compares batches from the end of the list while the caller does so from its beginning.
 *
 * It starts in the time in which the caller prepares the comparison. The caller never waits for it: a batch
 * that is not finished when the caller comes to it is compared twice.
 */
export class StatThread {
  readonly #work: Work;
  readonly #worker: Worker;

  private constructor(work: Work, worker: Worker) {
    this.#work = work;
    this.#worker = worker;
  }

  /**
   * Starts a thread that ends after its first comparison, or if none begins soon.
   *
   * @param prefix of each path.
   * @param json the paths as a list in JSON.
   * @param stats the `statNumbers` of each path.
   * @returns undefined for few files, on a machine with one processor, or if no thread can be started.
   */
  static start(prefix: string, json: Uint8Array, stats: Float64Array): StatThread | undefined {
    const count = stats.length / statSize;
    if (count < leastForThread || availableParallelism() < 2) return undefined;
    try {
      // Copies, because the whole buffer below each of them would be sent.
      const own = { json: new Uint8Array(json), stats: new Float64Array(stats) };
      const work: Work = {
        ...own,
        prefix,
        statSize,
        batchSize,
        compared,
        patience,
        begun: new Int32Array(new SharedArrayBuffer(4)),
        states: shared(Math.ceil(count / batchSize)),
        same: shared(count),
      };
      const { Worker } = process.getBuiltinModule('node:worker_threads');
      // The source is part of this file, so that the thread does not need the files of the program.
      const source = `(${compareFromEnd})(require('node:fs'), ${firstChanged}, require('node:worker_threads').workerData)`;
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
      return new StatThread(work, worker);
    } catch {
      return undefined;
    }
  }

  /** Lets the comparison begin; returns undefined after the first one. */
  begin(): this | undefined {
    const { begun } = this.#work;
    if (Atomics.exchange(begun, 0, 1) !== 0) return undefined;
    Atomics.notify(begun, 0);
    return this;
  }

  /** Returns the results for all batches if this one is finished; otherwise the caller has to compare it. */
  take(batch: number): Uint8Array | undefined {
    const { states, same } = this.#work;
    if (Atomics.load(states, batch) === compared) return same;
    Atomics.store(states, batch, taken);
    return undefined;
  }

  end(): void {
    void this.#worker.terminate();
  }
}

function shared(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}

/** The work of the thread. It gets this function as text, so the function uses nothing outside of it. */
function compareFromEnd(disk: typeof fs, firstOther: typeof firstChanged, work: Work): void {
  const { prefix, json, stats, statSize, batchSize, compared, begun, patience } = work;
  const { states, same } = work;
  const paths: string[] = JSON.parse(Buffer.from(json.buffer).toString());
  if (Atomics.wait(begun, 0, 0, patience) === 'timed-out') return;
  for (let batch = states.length - 1; batch >= 0; batch--) {
    // The caller has come to this batch.
    if (Atomics.load(states, batch) !== 0) return;
    const end = Math.min((batch + 1) * batchSize, paths.length);
    for (let from = batch * batchSize; from < end; from++) {
      const changed = firstOther(disk, statSize, prefix, paths, stats, from, end);
      same.fill(1, from, changed);
      from = changed;
    }
    Atomics.compareExchange(states, batch, 0, compared);
  }
}
