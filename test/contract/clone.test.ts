import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect } from 'vitest';
import { encodeName } from '../../src/core/names/name.ts';
import { deep } from '../support/depth.ts';
import { main, newFolder } from '../support/process.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { everything, planning, type Step } from './every-tool.ts';

/** A client of the SDK in a clone of this very repository, in which a person is at work. */

let origin: Repo;
let repo: Repo;
let client: Client;

beforeEach(async () => {
  const top = resolve(import.meta.dirname, '../..');
  origin = new Repo(newFolder());
  origin.git('clone', '-q', '--bare', top, 'origin.git');
  // Whoever tests a commit may have checked it out without a branch.
  origin.git('--git-dir=origin.git', 'update-ref', 'refs/heads/here', 'HEAD');
  origin.git('--git-dir=origin.git', 'symbolic-ref', 'HEAD', 'refs/heads/here');
  origin.git('clone', '-q', 'origin.git', 'clone');
  repo = new Repo(origin.path('clone'));
  repo.git('config', 'user.name', 'Ada Lovelace');
  repo.git('config', 'user.email', 'ada@example.org');
  repo.write('README.md', '# Staged\n');
  repo.git('add', 'README.md');
  repo.write('package.json', '{"dirty": true}\n');
  client = new Client({ name: 'planner', version: '1.0' });
  const env = { PATH: gitEnv.PATH ?? '', HOME: origin.path('home') };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main], cwd: repo.root, env }),
  );
});

afterEach(async () => {
  await client.close();
  origin.remove();
});

async function follow(steps: readonly Step[], answers = new Map<string, unknown>()) {
  const last = (tool: string) => answers.get(tool);
  for (const [name, args] of steps) {
    const { isError, content, structuredContent } = await client.callTool({
      name,
      arguments: { ...args(last) },
    });
    expect(isError, `${name}: ${JSON.stringify(content)}`).not.toBe(true);
    answers.set(name, structuredContent);
  }
  return answers;
}

function personsWork(): string {
  return repo.git('status', '--porcelain') + repo.git('diff', '--stat') + repo.read('README.md');
}

/** The ids of the tasks and requirements, which are parts of the names of their files. */
function idsIn(answers: ReadonlyMap<string, unknown>): string[] {
  return ['create_tasks', 'create_requirements'].flatMap((tool) =>
    [...JSON.stringify(answers.get(tool)).matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id),
  );
}

deep('a plan of this project reads like one that a person has written', async () => {
  const before = personsWork();
  const begun = repo.git('rev-parse', 'HEAD').trim();
  const answers = await follow(planning);
  expect(personsWork()).toBe(before);
  const diff = repo.git('diff', '--no-color', 'origin/HEAD', 'HEAD', '--', '.memory-bank/graph');
  const log = repo.git('log', '--reverse', '--format=%s', `${begun}..HEAD`);
  let story = `${log}\n${diff}`
    .replace(/^(\+id: ).*$/gm, '$1…')
    .replace(/^(\+(?:created|updated)_at: ).*$/gm, '$1…')
    .replace(/^index .*\n/gm, '');
  for (const id of idsIn(answers)) story = story.replaceAll(encodeName(id), '…');
  await expect(story).toMatchFileSnapshot('__snapshots__/plan.diff');
});

deep('every tool can be called, and the work of the person stays as it was', async () => {
  const begun = repo.git('rev-parse', 'HEAD').trim();
  const { tools } = await client.listTools();
  const called = new Set([...planning, ...everything].map(([tool]) => tool));
  expect([...called].sort()).toEqual(tools.map(({ name }) => name).sort());
  const before = personsWork();
  await follow(everything, await follow(planning));
  expect(personsWork()).toBe(before);
  expect(repo.fsck()).toBe('');
  for (const commit of repo.git('log', '--format=%H', `${begun}..HEAD`).trim().split('\n')) {
    const paths = repo.git('show', '--format=', '--name-only', commit).trim().split('\n');
    expect(paths.filter((path) => !path.startsWith('.memory-bank/'))).toEqual([]);
  }
});
