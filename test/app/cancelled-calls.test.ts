import { expect, test } from 'vitest';
import { everything, planning, type Step } from '../contract/every-tool.ts';
import { isFull } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { projectApp } from '../support/project-app.ts';
import { Repo } from '../support/repo.ts';

const said =
  'The lock of the index is taken before the plan is made, and released after the commit.';
const bank = { bank_type: 'code', bank_id: 'new' };

/** Writes whose answers read more than those of the plan do. */
const further: readonly Step[] = [
  ['create_tasks', () => ({ objective_slug: 'open', tasks: [{ text: 'One' }] })],
  ['update_objective', () => ({ slug: 'open', status: 'completed' })],
  ['memory_write', () => ({ category: 'patterns', key: 'first', value: said })],
  ['memory_write', () => ({ category: 'patterns', key: 'second', value: `${said} Always.` })],
  [
    'verify_memory',
    () => ({
      path: 'knowledge/patterns/second.md',
      supersedes: ['knowledge/patterns/first.md'],
    }),
  ],
  ['activate', () => bank],
  [
    'update',
    () => ({ ...bank, target_file: 'readme.md', operation: 'append', content: `${said}\n` }),
  ],
];

test('a change that is committed is never answered as an error, also to a caller who has gone', async () => {
  const repo = Repo.create();
  const remote = newFolder();
  repo.git('init', '-q', '--bare', remote);
  repo.git('remote', 'add', 'origin', remote);
  repo.git('push', '-q', '-u', 'origin', 'HEAD');
  const app = projectApp(repo.root);
  const session = app.connect({ isAgent: true });
  const answers = new Map<string, unknown>();
  const open: Step = ['create_objective', () => ({ slug: 'open', name: 'Open' })];
  const committed = new Set<string>();
  const few = [open, ...further];
  for (const [name, args] of isFull ? [...planning, ...few, ...everything] : few) {
    const caller = new AbortController();
    let hasCommit = false;
    const onCommit = () => {
      hasCommit = true;
      caller.abort();
    };
    const given = args((tool) => answers.get(tool));
    const reply = await app.call(session, name, given, { signal: caller.signal, onCommit });
    expect(reply?.error, `${name}: ${reply?.text}`).toBeUndefined();
    answers.set(name, reply?.body);
    if (hasCommit) committed.add(name);
  }
  expect(committed.size).toBeGreaterThan(isFull ? 25 : 5);
  await app.close();
  repo.remove();
});
