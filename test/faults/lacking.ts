import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryError } from '../../src/core/values/error.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { FaultFiles, type FaultPlan } from '../support/fault-files.ts';
import { bury, litter, serve } from './place.ts';
import { restart } from './points.ts';
import { play, type Stage } from './stage.ts';

/** Locks of git, which must not stay behind a change that was refused. */
export const locks = /\.lock$/;

/**
 * Plays a scenario on a disk that lacks something, then makes a change on a disk that does not.
 *
 * @param needed whether the changes may be refused.
 * @returns the violations.
 */
export async function onDisk(
  stage: Stage,
  files: Files,
  needed: boolean,
): Promise<readonly string[]> {
  const root = stage.copy();
  try {
    const folder = join(root, stage.scenario.folder ?? '');
    const wrong: string[] = [];
    const warn = (text: string) => !needed && wrong.push(`warning: ${text}`);
    const opened = await serve(folder, files, warn).catch((error: unknown) => {
      wrong.push(...(needed ? ofRefusal(error) : [`not opened: ${error}`]));
      return undefined;
    });
    const { done, error } = opened
      ? await play(stage.scenario, opened)
      : { done: 0, error: undefined };
    if (error !== undefined) wrong.push(...(needed ? ofRefusal(error) : [`refused: ${error}`]));
    await opened?.workspace.close();
    const left = litter(root, false).filter((path) => locks.test(path));
    if (left.length > 0) wrong.push(`locks left behind: ${left.join(', ')}`);
    if (existsSync(join(root, '.git/memory-bank/lock')) && !needed) wrong.push('still locked');
    if (files instanceof FaultFiles) files.plan = () => undefined;
    // A disk that removes no folder leaves them empty.
    removeEmpty(join(folder, '.memory-bank'));
    wrong.push(...stage.compare(stage.look(root), done, false));
    wrong.push(...(await restart(stage, root, done)));
    return wrong;
  } finally {
    rmSync(root, { recursive: true });
  }
}

function removeEmpty(folder: string): void {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  }
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/**
 * Kills the process at its nth operation on a disk that lacks something, and starts another on the same
 * kind of disk.
 *
 * @returns the violations; undefined if there is no nth operation, or if only an empty lock shows that
 *   the process died before it wrote its token: nobody can know whose it is.
 */
export async function killedOn(
  stage: Stage,
  n: number,
  disk: (then?: FaultPlan) => FaultFiles,
): Promise<readonly string[] | undefined> {
  const root = stage.copy();
  try {
    const folder = join(root, stage.scenario.folder ?? '');
    const files = disk((i) => (i === n ? { kind: 'kill' } : undefined));
    let done = 0;
    try {
      const opened = await serve(folder, files);
      ({ done } = await play(stage.scenario, opened));
      await opened.workspace.close();
    } catch {
      // It died while it was opened or closed.
    }
    if (!files.dead) return undefined;
    const last = files.log.at(-1) ?? '';
    if (/^write .*\.lock$/.test(last)) return [];
    bury(root);
    const wrong = await restart(stage, root, done, disk());
    return wrong.map((text) => `${n}, ${last}: ${text}`);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Returns the violations of an error that refuses a change: it names the file. */
export function ofRefusal(error: unknown): string[] {
  if (!(error instanceof MemoryError)) return [`an unexpected error: ${error}`];
  if (!/[\\/][\w.-]+/.test(error.text)) return [`it names no file: ${error.text}`];
  return [];
}
