import { writeSync } from 'node:fs';
import { MemoryError } from '../../src/core/values/error.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import { serve, trusting } from './place.ts';
import { scenarios } from './scenario.ts';

/** The task of a separate process: one JSON object, as its only argument. */
export interface Orders {
  readonly root: string;
  /** Part of the names of its notes. */
  readonly id: string;
  /** Name of a scenario to play; without one, the driver makes `count` changes. */
  readonly scenario?: string;
  /** Number of changes; each adds a note and increments the counter in a note that all processes share. */
  readonly count?: number;
  /** A note that each change gives a new text. */
  readonly edit?: string;
  readonly lockTimeout?: number;
  readonly calm?: number;
  /** The operation before which it kills or stops itself. */
  readonly at?: { readonly n: number; readonly signal: 'SIGKILL' | 'SIGSTOP' };
}

/** One line of its output. */
export interface Answer {
  /** An acknowledged change: the key of the note, or the number of the act. */
  readonly done?: string;
  readonly oid?: string;
  readonly branch?: string;
  readonly error?: string;
  readonly text?: string;
  readonly lock?: string;
}

// One of the drivers runs as another user.
Object.assign(process.env, trusting);
const orders: Orders = JSON.parse(process.argv[2] ?? '{}');
const { root, id, scenario, count = 1, at } = orders;

// Written synchronously, so that a kill loses no earlier output.
const say = (answer: Answer) => writeSync(1, `${JSON.stringify(answer)}\n`);

const files = new FaultFiles((n) => {
  if (n === at?.n) process.kill(process.pid, at.signal);
  return undefined;
});
const opened = await serve(root, at ? files : new NodeFiles(), undefined, {
  lockTimeout: orders.lockTimeout ?? 30_000,
  ...(orders.calm === undefined ? {} : { calm: orders.calm }),
});

if (scenario !== undefined) {
  const found = scenarios.find(({ name }) => name === scenario);
  for (const [i, act] of (found?.acts ?? []).entries()) {
    await act(opened);
    say({ done: `${i}` });
  }
} else {
  for (let i = 0; i < count; i++) {
    const key = `${id}-${i}`;
    try {
      await opened.call.store.change({ subject: `add ${key}` }, async (tx) => {
        const counter = await tx.get(note, 'counter');
        const text = `${Number(counter?.value.text ?? 0) + 1}`;
        await tx.put(note, { key: 'counter', tags: [], text });
        await tx.put(note, { key, tags: [], text: key });
        if (orders.edit) await tx.put(note, { key: orders.edit, tags: [], text: key });
      });
      const { oid = '', branch } = opened.commits.at(-1) ?? {};
      say({ done: key, oid, ...(branch === undefined ? {} : { branch }) });
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      say({ error: error.code, text: error.text, lock: String(error.data.lock ?? '') });
    }
  }
}
await opened.workspace.close();
