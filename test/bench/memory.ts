import { join } from 'node:path';
import type { Workspace, WorkspaceOptions } from '../../src/core/declarations/workspace.ts';
import { openWorkspace } from '../../src/store/session/open-workspace.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { gitEnv, type Repo } from '../support/repo.ts';

/** Opens the memory of a repository in this process. */
export function openMemory(
  repo: Repo,
  durability: WorkspaceOptions['durability'],
): Promise<Workspace> {
  return openWorkspace(
    {
      root: repo.root,
      folder: join(repo.root, '.memory-bank'),
      repository: 'enclosing',
      records: toolsets.flatMap((toolset) => toolset.records),
      durability,
      now: () => new Date(),
      warn: console.warn,
    },
    { env: gitEnv },
  );
}
