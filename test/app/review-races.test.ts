import { renameSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { deep } from '../support/depth.ts';
import { Clock, place } from '../support/placed.ts';
import { Repo } from '../support/repo.ts';
import {
  accept,
  agentOf,
  keys,
  requireReviews,
  reviewOf,
  reviews,
  startApp,
  write,
} from '../support/reviewed.ts';

const ownBranch: MemoryPlace = { kind: 'own-branch', branch: 'memory' };

let repo: Repo;
const apps: App[] = [];
const others: Repo[] = [];
beforeEach(() => {
  repo = Repo.create();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  for (const one of [repo, ...others.splice(0)]) one.remove();
});

function start(): App {
  const app = startApp(repo);
  apps.push(app);
  return app;
}

test('a change that an agent makes while its review is accepted keeps waiting', async () => {
  const [app, server] = [start(), start()];
  const [person, agent] = [app.connect(), agentOf(server)];
  await requireReviews(repo, app, person);
  await write(server, agent, 'seen');
  const accepting = accept(app, person, await reviewOf(app, person));
  const written: string[] = [];
  let isOver = false;
  const end = accepting.finally(() => {
    isOver = true;
  });
  for (let i = 0; !isOver; i++) {
    // The work tree of the review may end before the change: then it is refused, and not lost.
    const done = await write(server, agent, `unseen-${i}`).catch(String);
    if (done === undefined) written.push(`unseen-${i}`);
    else expect(done).toContain('busy');
  }
  await end;
  expect(await keys(app, person)).toContain('seen');
  for (const { name } of await reviews(app, person)) await accept(app, person, name);
  expect(await keys(app, person)).toEqual(['first', 'seen', ...written].sort());
  expect(repo.fsck()).toBe('');
});

deep('a review is not dropped with a change that the person has not seen', async () => {
  const app = start();
  const [person, agent] = [app.connect(), agentOf(app)];
  await requireReviews(repo, app, person);
  await write(app, agent, 'seen');
  const [review] = await reviews(app, person);
  await write(app, agent, 'unseen');
  const drop = (tip?: string) =>
    app.run(person, 'review', {}, (context) => context.reviews.drop(review?.name ?? '', tip));
  await expect(drop(review?.tip)).rejects.toMatchObject({ code: 'conflict' });
  expect(await keys(app, agent)).toEqual(['first', 'seen', 'unseen']);
  const tip = await drop();
  expect(await keys(app, agent)).toEqual(['first']);
  // The command that "review drop" prints.
  repo.git('branch', `memory-review/${review?.name}`, tip);
  expect(await keys(app, agent)).toEqual(['first', 'seen', 'unseen']);
});

deep('after the history was rewritten, a review is accepted record by record', async () => {
  const app = start();
  const [person, agent] = [app.connect(), agentOf(app)];
  await requireReviews(repo, app, person);
  for (const key of ['a', 'b']) await write(app, agent, key);
  const tree = repo.git('rev-parse', 'HEAD^{tree}').trim();
  const other = repo.git('commit-tree', '-m', 'Begin again', tree).trim();
  repo.git('reset', '-q', '--hard', other);
  const [review] = await reviews(app, person);
  expect(review).toMatchObject({
    problem: expect.stringContaining('was rewritten'),
    changes: [{ path: 'knowledge/patterns/a.md' }, { path: 'knowledge/patterns/b.md' }],
  });
  const name = review?.name ?? '';
  await expect(accept(app, person, name)).rejects.toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining(`memory-bank review accept ${name} <record>`),
  });
  await accept(app, person, name, { records: ['knowledge/patterns/a.md'] });
  expect(await keys(app, person)).toEqual(['a', 'first']);
  expect((await reviews(app, person))[0]?.changes).toHaveLength(1);
});

deep('without a commit of the memory, no review begins', async () => {
  const app = start();
  const [person, agent] = [app.connect(), agentOf(app)];
  const id = 'project_id: 035344c9-b4d0-423a-b857-09c1b6a562af';
  repo.write('.memory-bank/config.yaml', `format: 1\n${id}\nreview: required\n`);
  await expect(write(app, agent, 'a')).rejects.toThrow('nothing of');
  expect(repo.git('branch', '--list', 'memory-review/*')).toBe('');
  await write(app, person, 'first');
  await write(app, agent, 'a');
  expect(await reviewOf(app, person)).toMatch(/^claude-code-/);
});

deep('a review waits through moves of the memory and of the project', async () => {
  const app = start();
  const [person, agent] = [app.connect(), agentOf(app)];
  await requireReviews(repo, app, person);
  await write(app, agent, 'a');
  const clock = new Clock();
  const team = Repo.create();
  others.push(team);
  await expect(
    place(repo.root, { kind: 'repository', folder: team.root }, clock),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('for a review') });
  await place(repo.root, ownBranch, clock);
  await write(app, person, 'b');
  await write(app, agent, 'c');
  await place(repo.root, undefined, clock);
  await write(app, person, 'd');
  expect(await keys(app, agent)).toEqual(['a', 'b', 'c', 'd', 'first']);
  await app.close();
  const moved = new Repo(`${repo.root}-moved`);
  renameSync(repo.root, moved.root);
  repo = moved;
  const next = start();
  const again = next.connect();
  await accept(next, again, await reviewOf(next, again));
  expect(await keys(next, again)).toEqual(['a', 'b', 'c', 'd', 'first']);
  expect(repo.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(repo.fsck()).toBe('');
});
