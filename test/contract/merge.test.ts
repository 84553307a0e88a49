import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../../src/app.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Session } from '../../src/core/session.ts';
import { main, newFolder } from '../support/process.ts';
import { gitEnv, Repo } from '../support/repo.ts';

/** A repository whose memory the real program serves, and in which native git works. */
class Project {
  readonly repo: Repo;
  readonly #app: App;
  readonly #session: Session;

  constructor(repo = Repo.create()) {
    this.repo = repo;
    const { root } = repo;
    this.#app = new App({
      place: { flag: root, env: {}, cwd: root, home: newFolder() },
      homeBank: newFolder(),
      durability: 'relaxed',
      log: () => {},
    });
    this.#session = this.#app.connect();
  }

  /** @throws Error when the tool fails. */
  async call(tool: string, args: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.#app.call(this.#session, tool, args);
    if (!reply || reply.error !== undefined) throw new Error(JSON.stringify(reply));
    return reply.body;
  }

  program(...args: string[]) {
    return spawnSync(process.execPath, [main, ...args], {
      cwd: this.repo.root,
      env: gitEnv,
      encoding: 'utf8',
    });
  }

  /** Runs git, which may fail. */
  try(...args: string[]): { status: number | null; output: string } {
    const options = { cwd: this.repo.root, env: gitEnv, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync('git', args, options);
    return { status, output: stdout + stderr };
  }

  /** A memory with a feature and an objective, and two branches that begin there. */
  async begin(installed = true): Promise<this> {
    if (installed) this.program('install-merge-driver');
    await this.call('initialize_memory_bank', { path: this.repo.root });
    await this.call('create_features', {
      features: [{ slug: 'auth', name: 'Auth', description: 'Logging in.\n\nAnd out.' }],
    });
    await this.call('create_objective', { slug: 'launch', name: 'Launch' });
    this.repo.git('branch', 'one');
    this.repo.git('branch', 'two');
    return this;
  }

  /** What one branch of the story does. */
  async work(branch: 'one' | 'two'): Promise<void> {
    this.repo.git('checkout', '-q', branch);
    for (let i = 0; i < 10; i++) {
      await this.call('log_decision', {
        title: `Decision ${i} of ${branch}`,
        context: `Context ${i} of ${branch}`,
        decision: `Choice ${i} of ${branch}`,
        alternatives: ['the other way', `way ${i} of ${branch}`],
      });
    }
    for (let i = 0; i < 3; i++) {
      await this.call('track_progress', { action: 'Work', description: `step ${i} of ${branch}` });
    }
    await this.call('create_tasks', {
      objective_slug: 'launch',
      tasks: [{ text: `First of ${branch}` }, { text: `Second of ${branch}` }],
    });
    await this.call('update_feature', {
      slug: 'auth',
      ...(branch === 'one'
        ? { name: 'Authentication' }
        : { description: 'Logging in.\n\nAnd out again.' }),
    });
  }

  async expectEverythingOnce(): Promise<void> {
    const read = (name: string) => this.repo.read(`.memory-bank/${name}`);
    const log = read('decisionLog.md');
    const headings = log.match(/^## Decision .*/gm) ?? [];
    expect(headings).toHaveLength(20);
    expect(new Set(headings).size).toBe(20);
    for (const branch of ['one', 'two']) {
      const own = headings.filter((line) => line.includes(`of ${branch} `));
      expect(own).toEqual([...own].sort());
      expect(log.match(new RegExp(`^Context \\d of ${branch}$`, 'gm'))).toHaveLength(10);
      expect(log.match(new RegExp(`^- way \\d of ${branch}$`, 'gm'))).toHaveLength(10);
      for (const name of ['progress.md', 'activeContext.md']) {
        const steps = read(name).match(new RegExp(`step \\d of ${branch}$`, 'gm'));
        expect(steps).toEqual([2, 1, 0].map((i) => `step ${i} of ${branch}`));
      }
    }
    const { feature } = await this.call('get_feature', { slug: 'auth' }).then(
      ({ data }) => data as JsonObject,
    );
    expect(feature).toMatchObject({
      name: 'Authentication',
      description: 'Logging in.\n\nAnd out again.',
    });
    const { data } = await this.call('list_tasks', { objective_slug: 'launch' });
    const { tasks } = data as { tasks: { text: string }[] };
    expect(tasks.map(({ text }) => text).sort()).toEqual([
      'First of one',
      'First of two',
      'Second of one',
      'Second of two',
    ]);
    expect(this.repo.status()).toEqual([]);
  }
}

const projects: Project[] = [];
let story: Project;
beforeAll(async () => {
  story = await begin();
  await story.work('one');
  await story.work('two');
});
afterAll(() => {
  for (const { repo } of projects) repo.remove();
});

async function begin(installed = true): Promise<Project> {
  const project = new Project();
  projects.push(project);
  return project.begin(installed);
}

/** A copy of the story's repository, on branch two. */
function copyStory(): Project {
  const root = newFolder();
  cpSync(story.repo.root, root, { recursive: true, preserveTimestamps: true });
  const project = new Project(new Repo(root));
  projects.push(project);
  return project;
}

describe('two branches of memory', () => {
  it('merge by git merge without a conflict, and the result holds everything once', async () => {
    const project = copyStory();
    expect(project.try('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
    // And the next decision goes on from there.
    await project.call('log_decision', { title: 'Next', context: 'c', decision: 'd' });
  });

  it('rebase without a conflict', async () => {
    const project = copyStory();
    expect(project.try('rebase', '-q', 'one')).toEqual({ status: 0, output: '' });
    await project.expectEverythingOnce();
  });

  it('may be picked commit by commit', async () => {
    const project = copyStory();
    expect(project.try('cherry-pick', 'main..one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
    // What was picked already comes only once.
    expect(project.try('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
  });
});
