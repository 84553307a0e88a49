import { join, resolve } from 'node:path';
import { App, type AppOptions } from '../../src/app/app.ts';
import type { Toolset } from '../../src/core/declarations/toolset.ts';
import { MemoryWorkspace } from './memory-workspace.ts';
import { note, probe } from './probe.ts';

/** A second toolset, for tests that distinguish toolsets. */
const other: Toolset = {
  name: 'other',
  title: 'No tools',
  tools: [],
  records: [note],
  success: probe.success,
  failure: probe.failure,
};

/** An app with in-memory workspaces, and a log of its actions. */
export function probeApp(options: Partial<AppOptions> & { cwd?: string } = {}) {
  const workspaces = new Map<string, MemoryWorkspace>();
  const messages: string[] = [];
  const { cwd = process.cwd(), ...rest } = options;
  const complete: AppOptions = {
    place: { flag: undefined, env: {}, cwd, home: resolve('/home/somebody') },
    homeFolder: '/home/somebody/.memory-bank',
    durability: 'full',
    log: (level, message) => messages.push(`${level}: ${message}`),
    ...rest,
  };
  const app = new App(complete, {
    toolsets: async () => [probe, other],
    async openWorkspace(given) {
      const workspace = new MemoryWorkspace(given, probe);
      workspaces.set(given.folder, workspace);
      return workspace;
    },
    findMemory: async () => ({
      find: async (root) => ({ folder: join(root, '.memory-bank'), finished: [] }),
      findReview: async () => undefined,
      isCurrent: () => true,
    }),
  });
  return { app, options: complete, workspaces, messages };
}
