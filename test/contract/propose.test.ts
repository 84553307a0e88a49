import { expect } from 'vitest';
import { deep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

const repo = Repo.create();
const home = newFolder();
const run = (...args: string[]) =>
  runProgram(repo.root, args, { env: { PATH: process.env.PATH, HOME: home } });

deep(
  'propose lists what the project says, and puts into a review only what a person chooses',
  () => {
    repo.write(
      'AGENTS.md',
      '- Never use `any` in files below `src/`\n- Always run `make schema` after an edit\n',
    );
    repo.write('package.json', '{"scripts":{"test":"vitest"}}');
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', 'Files');
    const state = () => repo.git('rev-parse', 'HEAD') + repo.git('status', '--porcelain');
    const before = state();
    const { stdout } = run('propose');
    expect(stdout).toMatch(
      /^client memory\n {2}1 {2}Never use `any`.*\n {5}AGENTS\.md:1\n {2}2 {2}Always/,
    );
    expect(stdout).toContain('script\n  3  Commands of this project (package.json):');
    expect(run('propose', '1', '9')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('"9"'),
    });
    expect(state()).toBe(before);

    expect(run('propose', '1', '3').stdout).toContain('Waiting for your review: 2 entries.');
    expect(run('search', 'any src').stdout).toBe('');
    // The others keep their numbers.
    expect(run('propose').stdout).toMatch(
      /^client memory\n {2}2 {2}Always.*\n.*\nNothing was written/,
    );
    const [entry = ''] = /knowledge\/user-preferences\/\S+/.exec(run('review').stdout) ?? [];
    expect(run('review', 'accept', 'proposals', entry).status).toBe(0);
    expect(run('search', 'any src').stdout).toContain('(agent), confirmed by a review');
    expect(repo.read(`.memory-bank/${entry}`)).toMatch(/^evidence:\n {2}- .*AGENTS\.md/m);
  },
);
