import { MemoryError } from '../../core/values/error.ts';
import { Disk } from '../../git/disk/disk.ts';
import { NodeFiles } from '../../git/disk/node-files.ts';
import { findWorkTree } from '../../git/repository/discover.ts';
import { placeInWords, readPlace } from '../../git/repository/memory-place.ts';
import type { MemoryMove } from '../../store/placement/move-memory.ts';
import { now } from './clock-and-ids.ts';

/** Where the memory of a project can be; see `MemoryPlace`. */
export type WantedPlace =
  | { readonly kind: 'in-branch' }
  | { readonly kind: 'own-branch'; readonly branch: string; readonly each: boolean }
  | { readonly kind: 'repository'; readonly folder: string };

/** Plans the move of a memory to another place; see `planMove`. */
export async function planMove(
  root: string,
  wanted: WantedPlace,
  durability: 'full' | 'relaxed',
  warn: (message: string) => void,
): Promise<MemoryMove> {
  const { planMove } = await import('../../store/placement/move-memory.ts');
  return planMove(await optionsFor(durability, warn), root, placementOf(wanted));
}

/** Where the memory of a project is, in words, and whether that is apart from its code. */
export async function describePlace(
  root: string,
): Promise<{ readonly text: string; readonly isApart: boolean }> {
  const files = new NodeFiles();
  const tree = findWorkTree(files, root);
  const placement = tree && readPlace(files, tree.commonDir);
  return { text: placeInWords(placement), isApart: placement !== undefined };
}

function placementOf(wanted: WantedPlace) {
  if (wanted.kind !== 'own-branch') return wanted.kind === 'repository' ? wanted : undefined;
  const { kind, branch, each } = wanted;
  if (!/^[\w][\w.-]*(?:\/[\w][\w.-]*)*$/.test(branch) || /\.lock$|\.\./.test(branch)) {
    throw new MemoryError('invalid_input', `${JSON.stringify(branch)} is not a name of a branch.`, {
      hint: 'Give letters, digits, ".", "-" and "_", with "/" between parts: --branch memory.',
    });
  }
  return { kind, branch: each ? `${branch}/*` : branch };
}

async function optionsFor(durability: 'full' | 'relaxed', warn: (message: string) => void) {
  const disk = new Disk(new NodeFiles(), durability);
  return { disk, env: process.env, now, lockTimeout: 10_000, calm: 400, warn };
}
