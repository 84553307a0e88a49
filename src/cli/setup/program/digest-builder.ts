import { buildingEvent } from '../../../app/hook/digest-turn.ts';
import { ownProgram } from './own-entry.ts';

/**
 * Starts a process that builds the digest of a memory, and does not wait for it.
 *
 * It has no part in the session of a client: a client that ends the group of a hook does not end it, and
 * one that reads the output of a hook to its end does not wait for it.
 *
 * @param root of the project.
 */
export async function startDigestBuilder(root: string): Promise<void> {
  // Most hooks do without it.
  const { spawn } = await import('node:child_process');
  const [command = '', ...first] = ownProgram();
  const args = [...first, 'hook', buildingEvent, '--root', root];
  const child = spawn(command, args, { stdio: 'ignore', detached: true, windowsHide: true });
  // A hook starts another one later.
  child.on('error', () => {});
  child.unref();
}
