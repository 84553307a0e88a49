import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/values/json.ts';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { Served } from '../support/served.ts';

/** A repository whose memory is served and merged by the program's driver. */
class Project extends Served {
  constructor(repo = Repo.create()) {
    super(repo);
  }

  program(...args: string[]) {
    return runProgram(this.repo.root, args, { env: gitEnv });
  }

  /** Runs git, which may fail. */
  tryGit(...args: string[]): { status: number | null; output: string } {
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

  /** The commits of one branch of the story. */
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
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
    // The next decision continues from there.
    await project.call('log_decision', { title: 'Next', context: 'c', decision: 'd' });
  });

  deep('rebase without a conflict', async () => {
    const project = copyStory();
    expect(project.tryGit('rebase', '-q', 'one')).toEqual({ status: 0, output: '' });
    await project.expectEverythingOnce();
  });

  deep('can be cherry-picked commit by commit', async () => {
    const project = copyStory();
    expect(project.tryGit('cherry-pick', 'main..one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
    // A commit that was picked already counts once.
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    await project.expectEverythingOnce();
  });
});

describe('native git', () => {
  const entry = (value: string) => ({ category: 'patterns', key: 'tabs', value });

  /** Two branches that changed the same entry and one of which added another. */
  async function diverge(project: Project): Promise<void> {
    await project.call('memory_write', entry('one\n\ntwo\n\nthree'));
    project.repo.git('branch', '-f', 'one');
    await project.call('memory_write', entry('one\n\ntwo\n\n3'));
    project.repo.git('checkout', '-q', 'one');
    await project.call('memory_write', entry('1\n\ntwo\n\nthree'));
    await project.call('memory_write', { category: 'patterns', key: 'own', value: 'of one' });
    project.repo.git('checkout', '-q', 'main');
  }

  deep('merges a stash, with any file name', async () => {
    const project = await begin();
    const file = ".memory-bank/the team's 100% log.md";
    const entry = (title: string) => `\n## ${title} - 2026-01-02\n\n### Context\n\nwhy\n`;
    const write = (...titles: string[]) =>
      project.repo.write(file, `# Log\n${titles.map(entry).join('')}`);
    write();
    project.repo.git('add', '.');
    project.repo.git('commit', '-qm', 'log');
    write('Stashed');
    project.repo.git('stash');
    write('Committed');
    project.repo.git('commit', '-qam', 'log');
    expect(project.tryGit('stash', 'pop')).toMatchObject({ status: 0 });
    expect(project.repo.read(file)).toBe(`# Log\n${entry('Committed')}${entry('Stashed')}`);
  });

  deep('merges a record that two branches changed in different places', async () => {
    const project = await begin();
    await diverge(project);
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    const { entries } = await project.call('memory_read', { category: 'patterns' });
    expect(entries).toMatchObject([{ value: '1\n\ntwo\n\n3' }, { value: 'of one' }]);
  });

  deep.each([
    ['was never installed', ''],
    ['is gone', '/gone/main.js'],
  ])('merges alone as far as it can if the driver %s', async (_, program) => {
    const project = await begin(program !== '');
    if (program !== '') {
      const line = project.repo.git('config', 'merge.memory-bank.driver').trim();
      project.repo.git('config', 'merge.memory-bank.driver', line.replace(main, program));
    }
    const write = async (branch: string, content: string) => {
      project.repo.git('checkout', '-q', branch);
      await project.call('write_memory_bank_file', { filename: "the team's notes.md", content });
    };
    await write('main', 'one\n\ntwo\n\nthree\n');
    project.repo.git('branch', '-f', 'one');
    await write('one', '1\n\ntwo\n\nthree\n');
    await project.call('memory_write', entry('of one'));
    await write('main', 'one\n\ntwo\n\n3\n');
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    expect(project.repo.read(".memory-bank/the team's notes.md")).toBe('1\n\ntwo\n\n3\n');
    await write('one', '1\n\nII\n\nthree\n');
    await write('main', '1\n\n2\n\n3\n');
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 1 });
    expect(project.repo.read(".memory-bank/the team's notes.md")).toMatch(
      /^<{7} .*\n2\n={7}\nII\n>{7} /m,
    );
  });

  deep('leaves a conflict to a person, and the server serves the rest', async () => {
    const project = await begin();
    for (const [branch, name] of [
      ['one', 'A'],
      ['two', 'B'],
    ] as const) {
      project.repo.git('checkout', '-q', branch);
      await project.call('update_feature', { slug: 'auth', name });
    }
    const { status, output } = project.tryGit('merge', '--no-edit', 'one');
    expect(status).toBe(1);
    const path = '.memory-bank/graph/features/auth.yaml';
    expect(output).toContain(`memory-bank: ${path}: both sides changed name`);
    expect(output).toContain('CONFLICT');
    expect(project.repo.read(path)).toContain(
      '<<<<<<< ours\nname: B\n=======\nname: A\n>>>>>>> theirs\n',
    );
    const found = JSON.stringify(await project.call('list_features'));
    expect(found).toContain('graph/features/auth.yaml: a merge left conflict markers');
    expect(await project.call('get_objective', { slug: 'launch' })).toMatchObject({
      success: true,
    });
    await expect(
      project.call('log_decision', { title: 't', context: 'c', decision: 'd' }),
    ).rejects.toThrow('merge');
  });

  deep('reports a deletion against a change without the driver', async () => {
    const project = await begin();
    await diverge(project);
    await project.call('memory_delete', { category: 'patterns', key: 'tabs', confirm: true });
    const { status, output } = project.tryGit('merge', '--no-edit', 'one');
    expect({ status, output }).toMatchObject({
      status: 1,
      output: expect.stringContaining('modify/delete'),
    });
    expect(project.repo.read('.memory-bank/knowledge/patterns/tabs.md')).toContain(
      '1\n\ntwo\n\nthree',
    );
  });

  it('keeps both files of a record that both sides renamed, and the server serves one', async () => {
    const project = await begin();
    await project.call('create_requirements', {
      feature_slug: 'auth',
      requirements: [{ text: 'Fast' }],
    });
    const folder = '.memory-bank/graph/requirements/auth';
    const [name = ''] = readdirSync(project.repo.path(folder));
    project.repo.git('branch', '-f', 'one');
    for (const [branch, to] of [
      ['one', 'b.yaml'],
      ['main', 'a.yaml'],
    ] as const) {
      project.repo.git('checkout', '-q', branch);
      project.repo.git('mv', `${folder}/${name}`, `${folder}/${to}`);
      project.repo.git('commit', '-qm', to);
    }
    const { status, output } = project.tryGit('merge', '--no-edit', 'one');
    expect({ status, output }).toMatchObject({
      status: 1,
      output: expect.stringContaining('rename/rename'),
    });
    const listed = JSON.stringify(
      await project.call('list_requirements', { feature_slug: 'auth' }),
    );
    expect(listed.match(/"text":"Fast"/g)).toHaveLength(1);
    expect(listed).toContain('graph/requirements/auth/b.yaml');
  });

  deep('keeps one id of two branches that each created a memory', async () => {
    const project = new Project();
    projects.push(project);
    project.program('install-merge-driver');
    const ids: string[] = [];
    for (const branch of ['one', 'two']) {
      project.repo.git('checkout', '-q', '-b', branch, 'main');
      await project.call('memory_write', { category: 'patterns', key: branch, value: branch });
      ids.push(
        project.repo
          .read('.memory-bank/config.yaml')
          .replace(/^.*project_id: /s, '')
          .trim(),
      );
    }
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    expect(project.repo.read('.memory-bank/config.yaml')).toContain(
      `project_id: ${ids.sort()[0]}\n`,
    );
    expect((await project.call('memory_read', {})).entries).toHaveLength(2);
  });

  deep('merges branches that were merged into each other', async () => {
    const project = copyStory();
    project.repo.git('branch', 'before', 'one');
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    project.repo.git('checkout', '-q', 'one');
    expect(project.tryGit('merge', '--no-edit', 'two~3')).toMatchObject({ status: 0 });
    await project.call('log_decision', { title: 'Later', context: 'c', decision: 'd' });
    project.repo.git('checkout', '-q', 'two');
    expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 0 });
    const log = project.repo.read('.memory-bank/decisionLog.md');
    expect(log.match(/^## (?:Decision .*|Later.*)/gm)).toHaveLength(21);
  });

  deep(
    'keeps our version of a binary file, and merges bytes that are not UTF-8 line by line',
    async () => {
      const project = await begin();
      const [image, latin] = ['.memory-bank/a.bin', '.memory-bank/latin.md'];
      const write = (branch: string, pixel: number, top: string, end: string) => {
        project.repo.git('checkout', '-q', branch);
        project.repo.write(image, Buffer.from([0, pixel]));
        project.repo.write(
          latin,
          Buffer.from(`${top}\n\u00e4\n\u00f6\n\u00fc\n${end}\n`, 'latin1'),
        );
        project.repo.git('add', '.');
        project.repo.git('commit', '-qm', branch);
      };
      write('main', 1, 'top', 'end');
      project.repo.git('branch', '-f', 'one');
      write('one', 2, 'TOP', 'end');
      write('main', 3, 'top', 'END');
      expect(project.tryGit('merge', '--no-edit', 'one')).toMatchObject({ status: 1 });
      expect(project.repo.git('diff', '--name-only', '--diff-filter=U').trim()).toBe(image);
      expect(project.repo.read(image)).toBe('\u0000\u0003');
      const bytes = Buffer.from('TOP\n\u00e4\n\u00f6\n\u00fc\nEND\n', 'latin1');
      expect(project.repo.git('show', ':.memory-bank/latin.md')).toBe(bytes.toString('utf8'));
    },
  );
});

describe('install-merge-driver', () => {
  it('writes the setting once and removes it, without changing the rest', () => {
    const project = new Project();
    projects.push(project);
    const before = project.repo.read('.git/config');
    expect(project.program('install-merge-driver')).toMatchObject({ status: 0, stderr: '' });
    const installed = project.repo.read('.git/config');
    expect(installed.startsWith(before)).toBe(true);
    expect(project.repo.git('config', 'merge.memory-bank.driver')).toContain(' merge-driver %O ');
    expect(project.program('install-merge-driver').stdout).toContain('as before');
    expect(project.repo.read('.git/config')).toBe(installed);
    expect(project.program('install-merge-driver', '--uninstall')).toMatchObject({ status: 0 });
    expect(project.repo.read('.git/config')).toBe(before);
  });

  it('reports that there is no repository', () => {
    const { status, stderr } = runProgram(newFolder(), ['install-merge-driver'], { env: gitEnv });
    expect({ status, stderr }).toMatchObject({
      status: 9,
      stderr: expect.stringContaining('is not in a git repository'),
    });
  });
});

describe('merge-driver', () => {
  it('reports its arguments', () => {
    const project = new Project();
    projects.push(project);
    const { status, stderr } = project.program('merge-driver', 'base');
    expect(status).toBe(2);
    expect(stderr).toContain('takes <base> <ours> <theirs> <marker-size> <path>');
  });
});
