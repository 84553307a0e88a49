import { App, type AppOptions } from '../../src/app.ts';
import { MemoryWorkspace } from './memory-workspace.ts';
import { probe } from './probe.ts';

/** An app over workspaces in memory, and what it did. */
export function probeApp(options: Partial<AppOptions> & { cwd?: string } = {}) {
  const workspaces = new Map<string, MemoryWorkspace>();
  const messages: string[] = [];
  const { cwd = process.cwd(), ...rest } = options;
  const complete: AppOptions = {
    place: { flag: undefined, env: {}, cwd, home: '/home/somebody' },
    homeBank: '/home/somebody/.memory-bank',
    durability: 'full',
    log: (level, message) => messages.push(`${level}: ${message}`),
    ...rest,
  };
  const app = new App(complete, {
    toolsets: async () => [probe, { ...probe, name: 'other', tools: [] }],
    async openWorkspace(given) {
      const workspace = new MemoryWorkspace(given, probe);
      workspaces.set(given.bank, workspace);
      return workspace;
    },
  });
  return { app, options: complete, workspaces, messages };
}
