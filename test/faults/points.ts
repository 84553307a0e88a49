import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryError } from '../../src/core/values/error.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { type Fault, FaultFiles, type Operation, operations } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import type { Opened } from '../support/open.ts';
import { type Ordering, PowerCutFiles } from '../support/power-cut.ts';
import type { Random } from '../support/random.ts';
import { bury, isAtRest, litter, serve } from './place.ts';
import { type Outcome, play, type Stage } from './stage.ts';

/**
 * Kills the process at its nth operation and starts another.
 *
 * @returns the violations; undefined if there is no nth operation, or it is not a write that can be torn.
 */
export async function kill(
  stage: Stage,
  n: number,
  kind: 'kill' | 'torn',
): Promise<string[] | undefined> {
  const files = new FaultFiles((i, operation) => {
    if (i !== n || (kind === 'torn' && operation !== 'write')) return undefined;
    return { kind };
  });
  return onCopy(stage, async (root) => {
    const { done } = await live(stage, root, files);
    if (!files.dead) return undefined;
    bury(root);
    return name(stage, n, files, await restart(stage, root, done));
  });
}

/** Kills the process at its nth operation, and the next one at the mth operation of its recovery. */
export async function killTwice(stage: Stage, n: number, m: number): Promise<string[] | undefined> {
  const first = new FaultFiles((i) => (i === n ? { kind: 'kill' } : undefined));
  const second = new FaultFiles((i) => (i === m ? { kind: 'kill' } : undefined));
  return onCopy(stage, async (root) => {
    const { done } = await live(stage, root, first);
    bury(root);
    const opened = await serve(folderOf(stage, root), second).catch(() => undefined);
    await opened?.call.store.list(note).catch(() => undefined);
    await opened?.workspace.close().catch(() => undefined);
    if (!second.dead) return undefined;
    bury(root);
    return name(stage, n, second, await restart(stage, root, done));
  });
}

/** Operations that a kernel can answer with each code. */
const failing: { readonly [code: string]: readonly Operation[] } = {
  EIO: operations,
  ENOSPC: ['create', 'write', 'fsync', 'close', 'rename', 'link', 'mkdir'],
  EMFILE: ['read', 'list', 'open', 'create'],
  EACCES: ['open', 'create', 'truncate', 'rename', 'link', 'unlink', 'mkdir', 'rmdir'],
};

/** The codes that an operation can fail with. */
export function codesOf(operation: Operation): string[] {
  return Object.keys(failing).filter((code) => failing[code]?.includes(operation));
}

/** How an operation fails. */
export interface Failure {
  readonly code: string;
  /** Whether all such operations keep failing until the change is over. */
  readonly sticky: boolean;
  /** Whether the operation is done although it fails. */
  readonly performed: boolean;
}

const unopened: Outcome = { done: 0, error: undefined };

/** Makes the nth operation fail; undefined if there is none or it cannot fail with this code. */
export async function fail(
  stage: Stage,
  n: number,
  { code, sticky, performed }: Failure,
): Promise<string[] | undefined> {
  const fault: Fault = { kind: 'error', code, performed };
  const files = new FaultFiles((i, operation) => {
    const due = sticky ? i >= n : i === n;
    return due && failing[code]?.includes(operation) ? fault : undefined;
  });
  return onCopy(stage, async (root) => {
    const folder = folderOf(stage, root);
    let opened = await serve(folder, files).catch(() => undefined);
    const { done, error } = opened ? await play(stage.scenario, opened) : unopened;
    files.plan = () => undefined;
    opened ??= await serve(folder, files);
    try {
      if (files.hit === undefined) return undefined;
      const wrong: string[] = [];
      if (error && !(error instanceof MemoryError)) wrong.push(`an unexpected error: ${error}`);
      const { traces } = files;
      // If all operations fail, nothing can be undone; the next call does it.
      let seen = sticky ? undefined : stage.look(root);
      if (seen) wrong.push(...stage.compare(seen, done, false));
      await opened.call.store.list(note);
      if (!seen || files.traces > traces) {
        seen = stage.look(root);
        wrong.push(...stage.compare(seen, done, false));
      }
      const objects = !sticky && !files.hit.startsWith('unlink');
      wrong.push(...(await stage.goOn(root, seen, opened, objects)));
      const about = wrong.map((text) => `[${error ?? 'acknowledged'}] ${text}`);
      return name(stage, n, files, about);
    } finally {
      await opened.workspace.close();
    }
  });
}

/** A scenario with every step recorded, so that a power cut can be simulated at each one. */
export class Recorded {
  readonly #stage: Stage;
  readonly #files: PowerCutFiles;
  /** Number of recorded steps when each change was acknowledged. */
  readonly #acknowledged: readonly number[];

  private constructor(stage: Stage, files: PowerCutFiles, acknowledged: readonly number[]) {
    this.#stage = stage;
    this.#files = files;
    this.#acknowledged = acknowledged;
  }

  static record(stage: Stage): Promise<Recorded> {
    return onCopy(stage, async (root) => {
      const files = new PowerCutFiles(root);
      const acknowledged: number[] = [];
      const opened = await serve(folderOf(stage, root), files);
      for (const act of stage.scenario.acts) {
        await act(opened);
        acknowledged.push(files.length);
      }
      await opened.workspace.close();
      return new Recorded(stage, files, acknowledged);
    });
  }

  /** Number of moments; the last is the acknowledgement of the last change. */
  get moments(): number {
    return this.#files.length + 1;
  }

  /** Simulates a power cut at a moment and a restart. */
  cut(moment: number, ordering: Ordering, random: Random): Promise<string[]> {
    const done = this.#acknowledged.filter((mark) => mark <= moment).length;
    return onCopy(this.#stage, async (root) => {
      this.#files.cut(root, moment, ordering, random);
      bury(root, true);
      const wrong = await restart(this.#stage, root, done);
      const { scenario } = this.#stage;
      return wrong.map((text) => `${scenario.name}, power cut at ${moment}: ${text}`);
    });
  }
}

/** Plays a scenario to its end, or until it dies. */
async function live(stage: Stage, root: string, files: Files): Promise<Outcome> {
  let opened: Opened | undefined;
  try {
    opened = await serve(folderOf(stage, root), files);
    return await play(stage.scenario, opened);
  } catch (error) {
    return { done: 0, error };
  } finally {
    await opened?.workspace.close().catch(() => undefined);
  }
}

/** Opens the repository of a dead server and returns the violations. */
export async function restart(
  stage: Stage,
  root: string,
  done: number,
  files?: Files,
): Promise<string[]> {
  const warnings: string[] = [];
  const opened = await serve(folderOf(stage, root), files, (text) => warnings.push(text));
  try {
    await opened.call.store.list(note);
    const seen = stage.look(root);
    const wrong = stage.compare(seen, done, true);
    // A dead server's own files stay until the next change; locks that block git do not.
    const left = litter(root, false).filter(
      (path) => !isAtRest(root, path) && !/memory-bank\/lock(?:\/holder)?$/.test(path),
    );
    if (left.length > 0) wrong.push(`left behind after opening: ${left.join(', ')}`);
    wrong.push(...(await stage.goOn(root, seen, opened, false)));
    return [...wrong, ...warnings.map((text) => `warning: ${text}`)];
  } finally {
    await opened.workspace.close();
  }
}

async function onCopy<T>(stage: Stage, action: (root: string) => Promise<T>): Promise<T> {
  const root = stage.copy();
  try {
    return await action(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

function folderOf(stage: Stage, root: string): string {
  return join(root, stage.scenario.folder ?? '');
}

function name(stage: Stage, n: number, files: FaultFiles, wrong: readonly string[]): string[] {
  return wrong.map((text) => `${stage.scenario.name}, ${n}: ${files.hit}: ${text}`);
}
