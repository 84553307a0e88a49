import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryError } from '../../src/core/error.ts';
import { type Fault, FaultFiles, type Operation } from '../support/fault-files.ts';
import { note } from '../support/note.ts';
import { bury, litter, serve } from './place.ts';
import type { Stage } from './stage.ts';

/**
 * Kills the process at its nth operation and starts another.
 *
 * @returns what is wrong then; undefined when the mutation has fewer operations.
 */
export async function kill(
  stage: Stage,
  n: number,
  kind: 'kill' | 'torn',
): Promise<string[] | undefined> {
  const root = stage.copy();
  const files = new FaultFiles((i, operation) => {
    if (i !== n || (kind === 'torn' && operation !== 'write')) return undefined;
    return { kind };
  });
  const outcome = await stage.play(root, files);
  try {
    if (!files.dead) return files.log.length < n ? undefined : [];
    bury(root);
    const acknowledged = outcome.error === undefined;
    return name(stage, n, files, await restart(stage, root, acknowledged ? 'after' : 'either'));
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Kills the process at its nth operation, and the next one at the mth of its recovery. */
export async function killTwice(stage: Stage, n: number, m: number): Promise<string[] | undefined> {
  const root = stage.copy();
  try {
    const files = new FaultFiles((i) => (i === n ? { kind: 'kill' } : undefined));
    await stage.play(root, files);
    bury(root);
    const second = new FaultFiles((i) => (i === m ? { kind: 'kill' } : undefined));
    const opened = await serve(join(root, stage.scenario.folder ?? ''), second).catch(
      () => undefined,
    );
    await opened?.call.store.list(note).catch(() => undefined);
    await opened?.workspace.close().catch(() => undefined);
    if (!second.dead) return second.log.length < m ? undefined : [];
    bury(root);
    return name(stage, n, second, await restart(stage, root, 'either'));
  } finally {
    rmSync(root, { recursive: true });
  }
}

async function restart(
  stage: Stage,
  root: string,
  expected: 'after' | 'either',
): Promise<string[]> {
  const warnings: string[] = [];
  const folder = join(root, stage.scenario.folder ?? '');
  const opened = await serve(folder, undefined, (text) => warnings.push(text));
  try {
    await opened.call.store.list(note);
    const wrong = stage.compare(root, expected);
    // A dead server's own files wait for the next change; what stands in git's way does not.
    const left = litter(root, false).filter((path) => !/memory-bank\/(owner-|lock$)/.test(path));
    if (!existsSync(join(root, '.git', 'HEAD'))) left.length = 0;
    if (left.length > 0) wrong.push(`left behind after opening: ${left.join(', ')}`);
    wrong.push(...(await stage.goOn(root, opened, false)));
    return [...wrong, ...warnings.map((text) => `warning: ${text}`)];
  } finally {
    await opened.workspace.close();
  }
}

/** Which operations can fail in a way. */
const failing: { readonly [code: string]: readonly Operation[] } = {
  EIO: [
    'open',
    'write',
    'fsync',
    'truncate',
    'close',
    'rename',
    'link',
    'unlink',
    'mkdir',
    'rmdir',
  ],
  ENOSPC: ['open', 'write', 'fsync', 'link', 'mkdir'],
  EMFILE: ['open'],
  EACCES: ['open', 'truncate', 'chmod', 'rename', 'link', 'unlink', 'mkdir', 'rmdir'],
};

/** How the nth operation fails. */
export interface Failure {
  readonly code: string;
  /** Whether it goes on failing until the mutation is over. */
  readonly sticky: boolean;
  /** Whether it has been done although it failed. */
  readonly performed: boolean;
}

/** Lets the nth operation fail; undefined when the mutation has fewer, or none that can fail so. */
export async function fail(
  stage: Stage,
  n: number,
  failure: Failure,
): Promise<string[] | undefined> {
  const { code, sticky, performed } = failure;
  const fault: Fault = { kind: 'error', code, performed };
  const root = stage.copy();
  const files = new FaultFiles((i, operation) => {
    const due = sticky ? i >= n : i === n;
    return due && failing[code]?.includes(operation) ? fault : undefined;
  });
  const warnings: string[] = [];
  const folder = join(root, stage.scenario.folder ?? '');
  let opened: Awaited<ReturnType<typeof serve>> | undefined;
  try {
    let error: unknown;
    try {
      opened = await serve(folder, files, (text) => warnings.push(text));
      await stage.scenario.act(opened);
    } catch (thrown) {
      error = thrown;
    }
    if (files.hit === undefined) return files.log.length < n ? undefined : [];
    const wrong: string[] = [];
    if (error && !(error instanceof MemoryError)) wrong.push(`an unexpected error: ${error}`);
    const expected = error === undefined ? 'after' : 'before';
    // A disk on which nothing works any more lets nothing be undone; the next call has to do it.
    if (!sticky) wrong.push(...stage.compare(root, expected).map((text) => `at once: ${text}`));
    files.plan = () => undefined;
    opened ??= await serve(folder, files, (text) => warnings.push(text));
    await opened.call.store.list(note);
    wrong.push(...stage.compare(root, expected));
    wrong.push(
      ...(await stage.goOn(root, opened, !sticky && files.hit.split(' ', 1)[0] !== 'unlink')),
    );
    const about = wrong.map((text) => `[${error ?? 'acknowledged'}; warned: ${warnings}] ${text}`);
    return name(stage, n, files, about);
  } finally {
    await opened?.workspace.close();
    rmSync(root, { recursive: true });
  }
}

function name(stage: Stage, n: number, files: FaultFiles, wrong: readonly string[]): string[] {
  return wrong.map((text) => `${stage.scenario.name}, ${n}: ${files.hit}: ${text}`);
}
