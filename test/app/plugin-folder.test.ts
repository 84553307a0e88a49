import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { App } from '../../src/app/app.ts';
import { findRoot } from '../../src/app/session/root.ts';
import { sample } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';

/** A plugin that a client has unpacked, a project, and a server that was started in the plugin. */
class Scene {
  readonly home = newFolder();
  readonly plugin = Repo.create();
  readonly project = Repo.create();

  place(env: { readonly [name: string]: string }, cwd = this.plugin.root) {
    return { flag: undefined, env, cwd, home: this.home };
  }

  find(env: { readonly [name: string]: string }, cwd?: string, roots: readonly string[] = []) {
    const clientRoots = async () => roots.map((root) => `file://${root}`);
    return findRoot({ ...this.place(env, cwd), clientRoots });
  }
}

const refused = { code: 'no_project', hint: expect.stringContaining('--root') };

describe('the folder of a plugin', () => {
  const variables = ['PLUGIN_ROOT', 'CLAUDE_PLUGIN_ROOT', 'CURSOR_PLUGIN_ROOT'];

  test.each(sample(variables, 1))(
    'of %s is not the project because the server was started in it',
    async (name) => {
      const scene = new Scene();
      const inner = scene.plugin.path('a/b');
      mkdirSync(inner, { recursive: true });
      mkdirSync(scene.plugin.path('.memory-bank'));
      const env = { [name]: scene.plugin.root };
      for (const cwd of [scene.plugin.root, inner])
        await expect(scene.find(env, cwd)).rejects.toMatchObject(refused);
      const message = expect.stringContaining(name);
      await expect(scene.find(env)).rejects.toMatchObject({ message });
      expect(await scene.find(env, scene.project.root)).toMatchObject({ path: scene.project.root });
      await expect(scene.find({ [name]: '.' })).rejects.toMatchObject(refused);
      const unset = { [name]: '${' + 'PLUGIN_ROOT}' };
      expect(await scene.find(unset)).toMatchObject({ path: scene.plugin.root });
    },
  );

  linked('is known through links on both sides', async () => {
    const scene = new Scene();
    const alias = join(newFolder(), 'alias');
    symlinkSync(scene.plugin.root, alias);
    await expect(scene.find({ PLUGIN_ROOT: alias })).rejects.toMatchObject(refused);
    const given = scene.find({ PLUGIN_ROOT: scene.plugin.root }, alias);
    await expect(given).rejects.toMatchObject(refused);
  });

  test('is the project when it is named: its developer works on it', async () => {
    const scene = new Scene();
    const { root } = scene.plugin;
    const env = { PLUGIN_ROOT: root };
    expect(await scene.find({ ...env, MEMORY_BANK_ROOT: root })).toMatchObject({ path: root });
    expect(await scene.find({ ...env, CLAUDE_PROJECT_DIR: root })).toMatchObject({ path: root });
    expect(await scene.find(env, root, [root])).toMatchObject({ path: root, source: 'client' });
    const project = scene.project.root;
    expect(await scene.find({ ...env, CLAUDE_PROJECT_DIR: project })).toMatchObject({
      path: project,
    });
  });

  test.each(
    sample(
      [
        '.claude/plugins/cache/market/memory-bank/1.0.0',
        '.claude/plugins/marketplaces/market',
        '.codex/plugins/cache/market/memory-bank/1.0.0',
        '.cursor/plugins/cache/market/memory-bank/abc',
        '.gemini/extensions/memory-bank',
        '.vscode/agent-plugins/github.com/a/b',
        '.copilot/installed-plugins/_direct/memory-bank',
      ],
      2,
    ),
  )('~/%s is known without a variable', async (path) => {
    const scene = new Scene();
    const cache = join(scene.home, path);
    mkdirSync(cache, { recursive: true });
    const found = expect.objectContaining({
      ...refused,
      message: expect.stringContaining('keeps plugins'),
    });
    await expect(scene.find({}, cache)).rejects.toEqual(found);
    await expect(scene.find({ CLAUDE_PROJECT_DIR: cache })).rejects.toEqual(found);
    await expect(scene.find({}, cache, [cache])).rejects.toEqual(found);
    expect(await scene.find({ MEMORY_BANK_ROOT: cache })).toMatchObject({ path: cache });
  });

  test('gets no memory, and every toolset answers in its own words', async () => {
    const scene = new Scene();
    const app = new App({
      place: scene.place({ PLUGIN_ROOT: scene.plugin.root }),
      homeFolder: join(scene.home, '.memory-bank'),
      durability: 'relaxed',
      log: () => {},
    });
    const session = app.connect();
    const call = async (tool: string, args: object) =>
      app.call(session, tool, args, { unlisted: true });
    const before = scene.plugin.git('rev-parse', 'HEAD');
    for (const [tool, args, answer] of [
      ['memory_write', { category: 'patterns', key: 'k', value: 'v' }, { success: false }],
      ['memory_read', {}, { success: false }],
      ['create_tickets', { tickets: [{ key: 'k' }] }, { success: false }],
      ['write_memory_bank_file', { filename: 'x.md', content: 'x' }, { status: 'error' }],
      ['initialize_memory_bank', { path: '.' }, { status: 'error' }],
      ['set_memory_bank_path', { path: '.' }, { status: 'error' }],
      ['search_memory', { query: 'x' }, { success: false }],
    ] as const) {
      const reply = await call(tool, args);
      expect(reply?.body, tool).toMatchObject(answer);
      expect(JSON.stringify(reply), tool).toContain('folder of the plugin');
    }
    expect(scene.plugin.status()).toEqual([]);
    expect(scene.plugin.git('rev-parse', 'HEAD')).toBe(before);
    const named = await call('initialize_memory_bank', { path: scene.project.root });
    expect(named?.error).toBeUndefined();
    await call('memory_write', { category: 'patterns', key: 'k', value: 'v' });
    expect(scene.project.git('log', '--format=%s')).toContain('remember "k"');
    await app.close();
  });
});
