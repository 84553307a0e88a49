import { join } from 'node:path';
import type {
  BoundWorkspace,
  Workspace,
  WorkspaceOptions,
} from '../../src/core/declarations/workspace.ts';
import { Session } from '../../src/core/memory/session.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import { NodeFiles } from '../../src/git/disk/node-files.ts';
import { openWorkspace } from '../../src/store/session/open-workspace.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { gitEnv, type Repo } from '../support/repo.ts';

/** Opens the memory of a repository in this process. */
export function openMemory(
  repo: Repo,
  durability: WorkspaceOptions['durability'],
  files: Files = new NodeFiles(),
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
    { env: gitEnv, files },
  );
}

/** The memory as a call of a tool has it. */
export function bindMemory(workspace: Workspace): BoundWorkspace {
  return workspace.bind({
    session: new Session(() => 'bench'),
    tool: 'bench',
    signal: new AbortController().signal,
    onCommit() {},
    progress() {},
  });
}
