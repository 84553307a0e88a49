import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { Files } from '../../src/git/disk/file-layer.ts';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { bury } from '../faults/place.ts';
import { deep, isFull } from '../support/depth.ts';
import { FaultFiles } from '../support/fault-files.ts';
import { Clock, place } from '../support/placed.ts';
import { Random } from '../support/random.ts';
import { Repo } from '../support/repo.ts';
import {
  accept,
  agentOf,
  keys,
  requireReviews,
  reviews,
  startApp,
  write,
} from '../support/reviewed.ts';
import { seed } from '../support/seed.ts';

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

function start(files?: Files): App {
  const app = startApp(repo, files);
  apps.push(app);
  return app;
}

const require = (app: App, person: Session, line?: string) =>
  requireReviews(repo, app, person, line);

const places: readonly (readonly [string, MemoryPlace | undefined])[] = [
  ['on the branches of the project', undefined],
  ['on a branch of its own', { kind: 'own-branch', branch: 'memory' }],
  ['on one branch for each branch', { kind: 'own-branch', branch: 'memory/*' }],
];

describe('where reviews are required', () => {
  test('the first change of an agent raises the format of the memory itself, as one commit', async () => {
    const app = start();
    const [person, agent] = [app.connect(), agentOf(app)];
    await require(app, person);
    const path = '.memory-bank/config.yaml';
    repo.write(path, repo.read(path).replace('format: 2', 'format: 1'));
    repo.git('commit', '-q', '-am', 'As an older program left it');
    const before = repo.git('rev-parse', 'HEAD').trim();
    await write(app, agent, 'learned');
    await write(app, agent, 'more');
    expect(repo.git('log', '--format=%s', '--name-only', `${before}..`).trim()).toBe(
      `memory: complete the files of the memory itself\n\n${path}`,
    );
    expect(repo.read(path)).toContain('format: 2\n');
    expect(await keys(app, person)).toEqual(['first']);
  });

  test.each([
    ['aux/1', 'untitled-aux'],
    ['Claude Code (remote)/2', 'claude-code-remote'],
    ['助手/1', 'agent'],
  ])(
    'a change of the agent %s in a single call waits in %s, on Windows too',
    async (agent, name) => {
      const app = start();
      const person = app.connect();
      await require(app, person);
      const session = app.connect({ isAgent: true, isOneCall: true });
      session.agent = agent;
      await write(app, session, 'learned');
      expect((await reviews(app, person)).map((one) => one.name)).toEqual([name]);
    },
  );

  deep.each(isFull ? places : places.slice(0, 1))(
    'and the memory is %s, a change of an agent waits until a person accepts it',
    async (_, to) => {
      const app = start();
      const person = app.connect();
      if (to) await place(repo.root, to, new Clock());
      await require(app, person);
      repo.write('staged.txt', 'staged\n');
      repo.git('add', 'staged.txt');
      repo.write('README.md', '# Dirty\n');
      const before = [repo.git('rev-parse', 'HEAD'), repo.git('ls-files', '-s'), repo.status()];
      const [agent, other] = [agentOf(app), agentOf(app, 'codex/1')];
      await write(app, agent, 'learned');
      expect([repo.git('rev-parse', 'HEAD'), repo.git('ls-files', '-s'), repo.status()]).toEqual(
        before,
      );
      expect(await keys(app, agent)).toEqual(['first', 'learned']);
      expect(await keys(app, person)).toEqual(['first']);
      expect(await keys(app, other)).toEqual(['first']);
      await write(app, person, 'meanwhile');
      expect(await keys(app, agent)).toEqual(['first', 'learned', 'meanwhile']);
      const [review, ...rest] = await reviews(app, person);
      expect(rest).toEqual([]);
      expect(review).toMatchObject({
        agent: 'claude-code/2.1',
        changes: [{ change: 'added', path: 'knowledge/patterns/learned.md' }],
      });
      const name = review?.name ?? '';
      expect(name).toMatch(/^claude-code-\w{8}$/);
      await accept(app, person, name);
      expect(await keys(app, person)).toEqual(['first', 'learned', 'meanwhile']);
      expect(await reviews(app, person)).toEqual([]);
      expect(repo.git('branch', '--list', 'memory-review/*')).toBe('');
      expect(repo.status()).toEqual([' M README.md', 'A  staged.txt']);
      expect(repo.fsck()).toBe('');
      const branch = to ? repo.git('branch', '--list', 'memory*').replace(/[*+\s]/g, '') : 'main';
      const log = repo.git('log', '--format=%s|%an', branch);
      expect(log).toContain(`memory: accept ${name}|Ada Lovelace`);
      expect(log).toContain('memory: remember "learned"');
      // The next change begins another review of the same name.
      await write(app, agent, 'more');
      expect((await reviews(app, person)).map(({ changes }) => changes.length)).toEqual([1]);
    },
  );

  deep('reading begins no review, and a project without the rule has none', async () => {
    const app = start();
    const [person, agent] = [app.connect(), agentOf(app)];
    await write(app, agent, 'direct');
    expect(await keys(app, person)).toEqual(['direct']);
    await require(app, person);
    expect(await keys(app, agent)).toEqual(['direct', 'first']);
    expect(existsSync(repo.path('.git/memory-bank/trees'))).toBe(false);
  });

  deep('the changes of all agents can wait under one name', async () => {
    const app = start();
    const person = app.connect();
    await require(app, person, 'review: required\nreview_branch: agents');
    const [one, two] = [agentOf(app), agentOf(app, 'codex/1')];
    await write(app, one, 'a');
    await write(app, two, 'b');
    expect(await keys(app, one)).toEqual(['a', 'b', 'first']);
    expect((await reviews(app, person)).map(({ name }) => name)).toEqual(['agents']);
  });

  deep('a conflict is named, and a side decides it', async () => {
    const app = start();
    const person = app.connect();
    await require(app, person);
    const agent = agentOf(app);
    await write(app, agent, 'first', 'the text of the agent');
    await write(app, person, 'first', 'the text of the person');
    const [review] = await reviews(app, person);
    const take = (theirs: readonly string[]) => accept(app, person, review?.name ?? '', { theirs });
    await expect(take([])).rejects.toMatchObject({ code: 'conflict' });
    expect(await reviews(app, person)).toHaveLength(1);
    await take(['knowledge/patterns/first.md']);
    expect(repo.read('.memory-bank/knowledge/patterns/first.md')).toContain('of the agent');
  });

  deep('records are accepted, edited and dropped one by one', async () => {
    const app = start();
    const person = app.connect();
    await require(app, person);
    const agent = agentOf(app);
    for (const key of ['a', 'b', 'c']) await write(app, agent, key);
    const name = (await reviews(app, person))[0]?.name ?? '';
    const path = (key: string) => `knowledge/patterns/${key}.md`;
    const { changes } = await accept(app, person, name, { records: [path('a')] });
    expect(changes).toEqual([{ change: 'added', path: path('a') }]);
    const waiting = async () =>
      (await reviews(app, person)).flatMap(({ changes }) => changes.map((one) => one.path));
    expect(await waiting()).toEqual([path('b'), path('c')]);
    const inside = app.connect({ review: name });
    await write(app, inside, 'b', 'corrected');
    const base = (await reviews(app, person))[0]?.base;
    await app.run(inside, 'review', {}, (context) =>
      context.reviews.withdraw(base ?? '', [path('c')]),
    );
    expect(await waiting()).toEqual([path('b')]);
    const tip = await app.run(person, 'review', {}, (context) => context.reviews.drop(name));
    expect(await reviews(app, person)).toEqual([]);
    expect(await keys(app, person)).toEqual(['a', 'first']);
    expect(repo.git('show', `${tip}:.memory-bank/${path('b')}`)).toContain('corrected');
    await expect(
      app.run(person, 'review', {}, (context) => context.reviews.drop(name)),
    ).rejects.toMatchObject({ code: 'not_found' });
  });
});

deep('a process that dies while it writes or accepts loses nothing', async () => {
  const random = new Random(seed);
  const none = { ours: [], theirs: [] };
  for (let i = 0; i < 60; i++) {
    const one = start();
    const person = one.connect();
    await require(one, person);
    await write(one, agentOf(one), 'a');
    const name = (await reviews(one, person))[0]?.name ?? '';
    await one.close();
    const files = new FaultFiles();
    const point = random.below(1200);
    const dying = start(files);
    const [first, second] = [dying.connect(), agentOf(dying, 'codex/1')];
    await keys(dying, first);
    const begun = files.log.length;
    files.plan = (n) => (n === begun + point ? { kind: 'kill' } : undefined);
    let acknowledged = 0;
    try {
      await write(dying, second, 'b');
      acknowledged += 1;
      await dying.run(first, 'review', {}, (context) => context.reviews.accept(name, none));
      acknowledged += 1;
    } catch {}
    apps.splice(apps.indexOf(dying), 1);
    await dying.close().catch(() => undefined);
    bury(repo.root);
    const next = start();
    const again = next.connect();
    const where = `killed before ${files.hit ?? 'the end'} (${point}, seed ${seed})`;
    const waiting = (await reviews(next, again)).flatMap(({ changes }) =>
      changes.map(({ path }) => path),
    );
    const there = await keys(next, again);
    const has = (key: string) =>
      there.includes(key) || waiting.includes(`knowledge/patterns/${key}.md`);
    expect(has('a'), where).toBe(true);
    expect(acknowledged < 1 || has('b'), where).toBe(true);
    expect(acknowledged < 2 || there.includes('a'), where).toBe(true);
    expect(repo.fsck(), where).toBe('');
    for (const review of await reviews(next, again)) {
      await next.run(again, 'review', {}, (context) => context.reviews.accept(review.name, none));
    }
    expect(await keys(next, again), where).toContain('a');
    await next.close();
    repo.remove();
    repo = Repo.create();
  }
});
