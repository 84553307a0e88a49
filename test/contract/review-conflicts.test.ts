import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMemory } from '../../src/app/library.ts';
import { deep } from '../support/depth.ts';
import { main } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { gitEnv, Repo } from '../support/repo.ts';
import { hasTerminal, runOnTerminal } from '../support/terminal.ts';

const repo = Repo.create();
const path = 'knowledge/patterns/note.md';
const comment = ['--comment', 'As agreed'];
const env = {
  ...gitEnv,
  MEMORY_BANK_DURABILITY: 'relaxed',
  EDITOR: "sed -i '1d;s/$/ and me/'",
};
const run = (...args: string[]) => runProgram(repo.root, args, { env });
const state = () => repo.git('for-each-ref') + repo.git('status', '--porcelain', '-uall');
let review = '';

async function write(value: string, reason: string, agent?: string): Promise<void> {
  const memory = await openMemory({ root: repo.root, ...(agent !== undefined && { agent }) });
  await memory.call('memory_write', { category: 'patterns', key: 'note', value, reason });
  await memory.close();
}

beforeAll(async () => {
  await write('The first text.', 'None.');
  const config = repo.read('.memory-bank/config.yaml').replace('format: 1', 'format: 2');
  repo.write('.memory-bank/config.yaml', `${config}review: required\n`);
  repo.git('commit', '-qam', 'Require reviews');
  await write('By the agent.', 'Of the agent.', 'claude-code/2');
  const by = ['memory-write', '--category', 'patterns', '--key', 'note'];
  run(...by, '--value', 'By a person.', '--reason', 'Of a person.');
  [{ name: review }] = JSON.parse(run('review', '--output', 'json').stdout).reviews;
});
afterAll(() => repo.remove());

deep('without a terminal, each field in conflict is listed and nothing is accepted', () => {
  const before = state();
  const { status, stderr } = run('review', 'accept', review);
  expect(status).toBe(4);
  expect(stderr).toContain(`${path}#value
  before:     The first text.
  the memory: By a person.
  the review: By the agent.
  --ours '${path}#value' or --theirs '${path}#value'
${path}#reason
  before:     None.
  the memory: Of a person.
  the review: Of the agent.
  --ours '${path}#reason' or --theirs '${path}#reason'
`);
  const one = run('review', 'accept', review, '--theirs', `${path}#value`);
  expect([one.status, one.stderr]).toEqual([4, expect.not.stringContaining('#value\n')]);
  const wrong = run('review', 'accept', review, '--theirs', `${path}#valeu`);
  expect(wrong.stderr).toContain(`${path}#valeu is not in conflict. In conflict: value, reason.`);
  expect(state()).toBe(before);
});

test.skipIf(!hasTerminal)('a person is asked about each field', async () => {
  const command = [process.execPath, main, 'review', 'accept', review, ...comment];
  const before = state();
  const options = { cwd: repo.root, env: { ...env, PATH: process.env.PATH } };
  const end = 'or [q]uit? ';
  const given = await runOnTerminal(command, options, [
    [end, 't\n'],
    [end, 'q\n'],
  ]);
  expect(given.seen).toContain('nothing was changed');
  expect(state()).toBe(before);
  const { status } = await runOnTerminal(command, options, [
    [end, 't\n'],
    [end, 'b\n'],
  ]);
  expect(status).toBe(0);
  const text = repo.read(`.memory-bank/${path}`);
  expect(text).toContain('By the agent.');
  expect(text).toContain('reason: Of the agent. and me\n');
  expect(text).not.toContain('a person');
  expect(repo.git('log', '-1', '--format=%B')).toContain('Memory-Reviewed: ');
  expect(repo.git('log', '-1', '--format=%B')).toContain('Memory-Comment: As agreed\n');
  expect(run('review').stdout).toBe('No change waits for a review.\n');
});

test.skipIf(hasTerminal)('options decide field by field', () => {
  const sides = ['--theirs', `${path}#value`, '--ours', `${path}#reason`];
  expect(run('review', 'accept', review, ...sides, ...comment).status).toBe(0);
  expect(repo.read(`.memory-bank/${path}`)).toContain('By the agent.');
  expect(repo.git('log', '-1', '--format=%B')).toContain('Memory-Comment: As agreed\n');
});
