import { join } from 'node:path';
import type {
  BoundWorkspace,
  Workspace,
  WorkspaceOptions,
} from '../../src/core/declarations/workspace.ts';
import type { MadeCommit } from '../../src/core/memory/commit-log.ts';
import { Session } from '../../src/core/memory/session.ts';
import type { AnyRecordType } from '../../src/core/record/record-type.ts';
import { openWorkspace, type WorkspaceParts } from '../../src/store/session/open-workspace.ts';
import { gitEnv } from './repo.ts';

/** A workspace with one session that collects its commits. */
export class Opened {
  readonly workspace: Workspace;
  readonly session = new Session(() => '01TEST');
  readonly commits: MadeCommit[] = [];
  readonly steps: [done: number, total: number, message: string][] = [];
  tool = 'test_tool';

  constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.session.agent = 'tester/1.0';
  }

  /** Binds the workspace for one call. */
  get call(): BoundWorkspace {
    return this.callOf(this.session);
  }

  /** Binds the workspace for one call of another session. */
  callOf(session: Session): BoundWorkspace {
    return this.workspace.bind({
      session,
      tool: this.tool,
      signal: new AbortController().signal,
      onCommit: (commit) => this.commits.push(commit),
      progress: (...step) => this.steps.push(step),
    });
  }
}

function fail(message: string): never {
  throw new Error(message);
}

interface OpenOptions {
  readonly warn?: (message: string) => void;
  /** By default a fixed clock, so that commit ids are reproducible. */
  readonly now?: () => Date;
  readonly embedder?: WorkspaceOptions['embedder'];
}

/** Opens a workspace. */
export async function open(
  root: string,
  records: readonly AnyRecordType[],
  { warn = fail, now, embedder, ...ground }: Partial<WorkspaceParts> & OpenOptions = {},
  own = false,
): Promise<Opened> {
  let time = Date.UTC(2026, 0, 2, 3, 4, 5);
  const workspace = await openWorkspace(
    {
      root,
      folder: own ? root : join(root, '.memory-bank'),
      repository: own ? 'own' : 'enclosing',
      records,
      durability: 'relaxed',
      now: now ?? (() => new Date(time++)),
      warn,
      embedder,
    },
    {
      env: gitEnv,
      lockTimeout: 5000,
      calm: 0,
      learnAfter: Number.POSITIVE_INFINITY,
      uuid: () => '5f0c4b1e-52b5-4e0e-9d0d-0f6b1f6a9a01',
      ...ground,
    },
  );
  return new Opened(workspace);
}
