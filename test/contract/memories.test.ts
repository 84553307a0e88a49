import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { deep, isFull } from '../support/depth.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';

let project: Repo;
let team: Repo;
const cleanUp: (() => void)[] = [];
afterAll(() => {
  for (const step of cleanUp) step();
});

function run(repo: Repo, ...args: string[]) {
  return runProgram(repo.root, args, { env: gitEnv });
}

function decide(repo: Repo, key: string, value: string): void {
  const entry = ['--category', 'decisions', '--key', key, '--value', value, '--confirm'];
  expect(run(repo, 'memory-write', ...entry).stderr).toBe('');
}

beforeAll(() => {
  if (!isFull) return;
  project = Repo.create();
  team = Repo.create();
  cleanUp.push(
    () => project.remove(),
    () => team.remove(),
  );
  decide(project, 'indentation', 'Four spaces');
  decide(team, 'style', 'Tabs in every file');
  decide(team, 'indentation', 'Tabs');
});

deep('the command shows what would change, and changes nothing without consent', () => {
  const add = ['memories', 'add', 'team', team.root];
  const asked = run(project, ...add);
  expect(asked.stdout).toContain('+ knowledge/decisions/style.md');
  expect(asked.stderr).toContain('Give --yes');
  expect(run(project, ...add, '--dry-run').status).toBe(0);
  expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
  expect(run(project, 'memories').stdout).toBe('No memory of another repository is pinned.\n');
  expect(run(project, ...add, '--yes').stdout).toContain('team is pinned at');
  expect(run(project, ...add, '--yes').stderr).toContain('team is pinned already');
  decide(team, 'style', 'Tabs, except in YAML');
  const update = JSON.parse(run(project, 'memories', 'update', '--yes', '--output', 'json').stdout);
  expect(update).toMatchObject({
    pin: { name: 'team', commit: team.git('rev-parse', 'HEAD').trim() },
    changes: [{ path: 'knowledge/decisions/style.md', change: 'changed' }],
  });
  const found = JSON.parse(run(project, 'search', 'tabs', '--output', 'json').stdout).foreign;
  expect(found.results[0].changed).toMatch(/^\d{4}-\d\d-\d\d or before$/);
  expect(run(project, 'memories', 'frobnicate').stderr).toContain(
    'There is no action "frobnicate"',
  );
});

deep('its records come after those of the project, and are marked', async () => {
  const search = JSON.parse(
    run(project, 'search', 'tabs', 'indentation', '--output', 'json').stdout,
  );
  expect(search.results).toMatchObject([{ path: 'knowledge/decisions/indentation.md' }]);
  expect(search.foreign.note).toContain('not instructions');
  const paths = search.foreign.results.map(({ path }: { path: string }) => path).sort();
  expect(paths).toEqual([
    'team:knowledge/decisions/indentation.md',
    'team:knowledge/decisions/style.md',
  ]);
  const shown = run(project, 'show', 'team:knowledge/decisions/style.md');
  expect(shown.stdout).toContain('Tabs, except in YAML');
  expect(shown.stderr).toContain('not instructions');
  const args = ['--revision', 'HEAD~1', '--path', 'team:knowledge/decisions/style.md'];
  expect(run(project, 'read-as-of', ...args).stdout).toContain('Tabs in every file');
  const brief = run(project, 'brief').stdout;
  expect(brief.indexOf('Four spaces')).toBeLessThan(brief.indexOf('## From memories of other'));
  expect(brief).toContain('- team:knowledge/decisions/style.md');
  // The digest of the next brief depends on what is fetched.
  await setTimeout(100);
  expect(run(project, 'brief').stdout).toBe(brief);
  const check = run(project, 'check');
  expect(check.stdout).toContain(
    'team:knowledge/decisions/indentation.md: Its decision "indentation" is also in knowledge/decisions/indentation.md',
  );
  expect(check.status).toBe(0);
  const [ref = ''] = project
    .git('for-each-ref', '--format=%(refname)', 'refs/memory-bank/')
    .split('\n');
  for (const one of project
    .git('for-each-ref', '--format=%(refname)', 'refs/memory-bank/')
    .split('\n')) {
    if (one) project.git('update-ref', '-d', one);
  }
  expect(run(project, 'brief').stdout).not.toContain('From memories of other');
  expect(run(project, 'status').stdout).toContain(
    'is not fetched: run "memory-bank memories fetch"',
  );
  expect(run(project, 'doctor').stdout).toMatch(/^note +Memories +team: Commit/m);
  expect(run(project, 'memories', 'fetch').status).toBe(0);
  expect(run(project, 'brief').stdout).toBe(brief);
  expect(ref).toContain('refs/memory-bank/memories/team/');
});

deep('a removed pin leaves nothing of the memory', () => {
  expect(run(project, 'memories', 'remove', 'team', '--yes').stdout).toContain('no longer pinned');
  expect(project.git('for-each-ref', 'refs/memory-bank')).toBe('');
  expect(readFileSync(join(project.root, '.memory-bank/config.yaml'), 'utf8')).not.toContain(
    'team',
  );
  // The decision of the project is near to the word by its meaning.
  expect(run(project, 'search', 'tabs').stdout).not.toMatch(/team|Tabs/);
  expect(project.fsck()).toBe('');
});
