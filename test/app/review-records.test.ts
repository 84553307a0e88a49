import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { MergeConflict } from '../../src/core/memory/conflict.ts';
import type { Session } from '../../src/core/memory/session.ts';
import type { AcceptRequest } from '../../src/core/memory/waiting-reviews.ts';
import type { MemoryPlace } from '../../src/git/repository/memory-place.ts';
import { deep, isFull, runs } from '../support/depth.ts';
import { Clock, place } from '../support/placed.ts';
import { Random } from '../support/random.ts';
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
import { seed } from '../support/seed.ts';

let repo: Repo;
const apps: App[] = [];
beforeEach(() => {
  repo = Repo.create();
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  repo.remove();
});

function start(): App {
  const app = startApp(repo);
  apps.push(app);
  return app;
}

async function begin(to?: MemoryPlace) {
  const app = start();
  const [person, agent] = [app.connect(), agentOf(app)];
  if (to) await place(repo.root, to, new Clock());
  await requireReviews(repo, app, person);
  return { app, person, agent };
}

async function decide(app: App, session: Session, title: string, because = 'It is needed.') {
  const args = { title, context: because, decision: `Do ${title}.` };
  const reply = await app.call(session, 'log_decision', args);
  if (reply?.error !== undefined) throw new Error(reply.text);
}

/** A record as the person sees it. */
async function read(app: App, session: Session, path: string): Promise<string> {
  const found = await app.run(session, 'read', {}, async ({ history }) =>
    (await history.at('HEAD')).read(path),
  );
  return found.text;
}

/** The titles of the decisions that a person sees, in order. */
async function decisions(app: App, person: Session): Promise<string[]> {
  const text = await read(app, person, 'decisionLog.md');
  return [...text.matchAll(/^## (.*) - \d{4}-\d\d-\d\d$/gm)].map(([, title = '']) => title);
}

const waiting = async (app: App, person: Session) =>
  (await reviews(app, person)).flatMap(({ changes }) => changes.map(({ path }) => path));

const places: readonly (readonly [string, MemoryPlace | undefined])[] = [
  ['on the branches of the project', undefined],
  ['on a branch of its own', { kind: 'own-branch', branch: 'memory' }],
];

describe('a record of a review that is accepted alone', () => {
  test.each(isFull ? places : places.slice(0, 1))(
    'is merged with what the memory has learnt since, where the memory is %s',
    async (_, to) => {
      const { app, person, agent } = await begin(to);
      await decide(app, person, 'Before');
      await decide(app, agent, 'With the agent', 'The agent needs it.');
      await write(app, agent, 'other');
      await decide(app, person, 'By the person');
      const name = await reviewOf(app, person);
      await accept(app, person, name, { records: ['decisionLog.md'] });
      expect(await decisions(app, person)).toEqual(['Before', 'By the person', 'With the agent']);
      expect(await waiting(app, person)).toEqual(['knowledge/patterns/other.md']);
      const message = repo.git('log', '-1', '--format=%B%an', to ? 'memory' : 'main');
      expect(message).toMatch(/^memory: accept decisionLog.md of claude-code-\w+\n/);
      expect(message).toContain('\nThe agent needs it.\n');
      expect(message).toMatch(/^Memory-Agent: claude-code\/2\.1$/m);
      expect(message).toMatch(/^Memory-Session: \w+$/m);
      expect(message).toMatch(/^Memory-Reviewed: [0-9a-f]{40,64}$/m);
      expect(message).toMatch(/^Ada Lovelace$/m);
      await accept(app, person, name);
      expect(await decisions(app, person)).toEqual(['Before', 'By the person', 'With the agent']);
      expect(await keys(app, person)).toEqual(['first', 'other']);
      expect(repo.git('branch', '--list', 'memory-review/*')).toBe('');
      expect(repo.status()).toEqual([]);
      expect(repo.fsck()).toBe('');
    },
  );

  deep.each(places)('counts as accepted, where the memory is %s', async (_, to) => {
    const { app, person, agent } = await begin(to);
    const accepted = () =>
      app.run(person, 'review', {}, async ({ history, reviews }) => {
        const { entries } = await history.newest('HEAD', 100);
        const found = await reviews.accepted(entries.map(({ commit }) => commit.oid));
        const isBy = (name: string) => entries.filter((one) => one.commit.agent?.startsWith(name));
        const byAgent = isBy('claude-code');
        const left = byAgent.filter(({ commit }) => !found.has(commit.oid));
        return [byAgent.length, left.length, found.size - byAgent.length + left.length];
      });
    for (const title of ['One', 'Two', 'Three']) await decide(app, agent, title);
    await decide(app, person, 'Meanwhile');
    const name = await reviewOf(app, person);
    expect(await accepted()).toEqual([0, 0, 0]);
    await accept(app, person, name, { records: ['decisionLog.md#Two'] });
    expect((await accepted()).slice(1)).toEqual([0, 0]);
    await decide(app, person, 'In between');
    await accept(app, person, name);
    const [all = 0, ...others] = await accepted();
    expect(all).toBeGreaterThan(3);
    expect(others).toEqual([0, 0]);
    await app.call(person, 'log_decision', { title: 'A', context: 'C', decision: 'D' });
    expect(await accepted()).toEqual([all, 0, 0]);
  });

  deep('can be a decision of a log, which leaves the other ones waiting', async () => {
    const { app, person, agent } = await begin();
    for (const title of ['One', 'Two', 'Three']) await decide(app, agent, title);
    await decide(app, person, 'Meanwhile');
    const name = await reviewOf(app, person);
    await accept(app, person, name, { records: ['decisionLog.md#Two'] });
    expect(await decisions(app, person)).toEqual(['Meanwhile', 'Two']);
    expect(repo.git('log', '-1', '--format=%B')).toContain('log decision "Two"');
    await expect(
      accept(app, person, name, { records: ['decisionLog.md#Two'] }),
    ).rejects.toMatchObject({ code: 'not_found' });
    const inside = app.connect({ review: name });
    // It merges the memory into the review.
    await read(app, inside, 'decisionLog.md');
    const [review] = await reviews(app, person);
    const shown = await app.run(person, 'review', {}, ({ history }) =>
      history.compare({
        from: review?.base ?? '',
        to: review?.tip ?? '',
        sections: true,
        limit: 9,
        skip: 0,
      }),
    );
    expect(shown.changes.map(({ sections }) => sections)).toEqual([
      [expect.stringMatching(/^decisionLog.md#One - /), expect.stringMatching(/#Three - /)],
    ]);
    await app.run(inside, 'review', {}, (context) =>
      context.reviews.withdraw(review?.base ?? '', ['decisionLog.md#One'], review?.tip),
    );
    await accept(app, person, name);
    expect(await decisions(app, person)).toEqual(['Meanwhile', 'Two', 'Three']);
  });

  deep(
    'asks for a decision where both sides changed a field, and changes nothing before',
    async () => {
      const { app, person, agent } = await begin();
      await write(app, agent, 'first', 'by the agent');
      await write(app, person, 'first', 'by the person');
      const name = await reviewOf(app, person);
      const before = [repo.git('for-each-ref'), repo.status()];
      const path = 'knowledge/patterns/first.md';
      const take = (request: Partial<AcceptRequest>) =>
        accept(app, person, name, { records: [path], ...request });
      await expect(take({ theirs: [`${path}#valeu`] })).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('In conflict: value'),
      });
      await expect(take({ ours: [path], theirs: [path] })).rejects.toMatchObject({
        code: 'invalid_input',
      });
      await expect(take({})).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('value is "by the person" here and "by the agent" there'),
        conflicts: [
          {
            path,
            reasons: ['both sides changed value'],
            fields: [
              { field: 'value', base: 'text', ours: 'by the person', theirs: 'by the agent' },
            ],
          },
        ],
      });
      expect([repo.git('for-each-ref'), repo.status()]).toEqual(before);
      await take({ ours: [path] });
      expect(await read(app, person, path)).toContain('by the person');
      // The decision holds: the record does not wait any more.
      expect(await waiting(app, person)).toEqual([]);
    },
  );

  deep('is merged by the decisions about its sections, unless one has changed since', async () => {
    const { app, person, agent } = await begin();
    const log = (texts: readonly string[]) =>
      `# Notes\n\n${texts.map((text, i) => `## Part ${i}\n\n${text}\n`).join('\n')}`;
    const store = async (session: Session, ...texts: string[]) => {
      const args = { filename: 'notes.md', content: log(texts) };
      const reply = await app.call(session, 'write_memory_bank_file', args);
      if (reply?.error !== undefined) throw new Error(reply.text);
    };
    await store(person, 'a', 'b', 'c', 'd');
    await store(agent, 'a1', 'b1', 'c1', 'd');
    await store(person, 'a2', 'b2', 'c2', 'd2');
    const name = await reviewOf(app, person);
    const conflictOf = (request: Partial<AcceptRequest>): Promise<MergeConflict> =>
      accept(app, person, name, request).then(
        () => Promise.reject(new Error('It was accepted.')),
        (error) => error,
      );
    const before = [repo.git('for-each-ref'), repo.status()];
    const { conflicts, state } = await conflictOf({});
    expect(conflicts).toMatchObject([
      {
        path: 'notes.md',
        fields: [
          { field: 'Part 0', base: 'a', ours: 'a2', theirs: 'a1' },
          { field: 'Part 1', base: 'b', ours: 'b2', theirs: 'b1' },
          { field: 'Part 2', base: 'c', ours: 'c2', theirs: 'c1' },
        ],
      },
    ]);
    const decisions = {
      ours: ['notes.md#Part 0'],
      theirs: ['notes.md#Part 1'],
      texts: new Map([['notes.md#Part 2', 'c1 and c2']]),
    };
    const open = await conflictOf({ ours: decisions.ours });
    expect(open.conflicts[0]?.fields.map(({ field }) => field)).toEqual(['Part 1', 'Part 2']);
    expect([repo.git('for-each-ref'), repo.status()]).toEqual(before);
    await store(person, 'a2', 'b3', 'c2', 'd2');
    await expect(accept(app, person, name, { ...decisions, decided: state })).rejects.toMatchObject(
      { code: 'conflict', message: expect.stringContaining('has changed') },
    );
    const now = await conflictOf({});
    await accept(app, person, name, { ...decisions, decided: now.state });
    expect(await read(app, person, 'notes.md')).toBe(log(['a2', 'b1', 'c1 and c2', 'd2']));
    expect(repo.status()).toEqual([]);
  });

  deep('stays as the memory changes it later, when the rest is accepted', async () => {
    const { app, person, agent } = await begin();
    for (const key of ['kept', 'removed', 'rest']) await write(app, agent, key);
    const name = await reviewOf(app, person);
    const path = (key: string) => `knowledge/patterns/${key}.md`;
    await accept(app, person, name, { records: [path('kept'), path('removed')] });
    await write(app, person, 'kept', 'corrected');
    repo.git('rm', '-q', `.memory-bank/${path('removed')}`);
    repo.git('commit', '-q', '-m', 'Remove it');
    expect(await waiting(app, person)).toEqual([path('rest')]);
    await accept(app, person, name);
    expect(await keys(app, person)).toEqual(['first', 'kept', 'rest']);
    expect(await read(app, person, path('kept'))).toContain('corrected');
  });

  deep('is not accepted or withdrawn with a text that the person has not seen', async () => {
    const { app, person, agent } = await begin();
    await write(app, agent, 'a', 'seen');
    const [review] = await reviews(app, person);
    await write(app, agent, 'a', 'not seen');
    const { name = '', tip = '', base = '' } = review ?? {};
    const records = ['knowledge/patterns/a.md'];
    await expect(accept(app, person, name, { records, seen: tip })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('another change meanwhile'),
    });
    const inside = app.connect({ review: name });
    await expect(
      app.run(inside, 'review', {}, (context) => context.reviews.withdraw(base, records, tip)),
    ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('was changed') });
    expect(await keys(app, person)).toEqual(['first']);
    expect(await keys(app, agent)).toEqual(['a', 'first']);
  });

  deep('is merged also after the history was rewritten', async () => {
    const { app, person, agent } = await begin();
    await decide(app, person, 'Before');
    await decide(app, agent, 'With the agent');
    const tree = repo.git('rev-parse', 'HEAD^{tree}').trim();
    repo.git('reset', '-q', '--hard', repo.git('commit-tree', '-m', 'Again', tree).trim());
    await decide(app, person, 'By the person');
    const name = await reviewOf(app, person);
    await accept(app, person, name, { records: ['decisionLog.md'] });
    expect((await decisions(app, person)).sort()).toEqual([
      'Before',
      'By the person',
      'With the agent',
    ]);
    expect(await reviews(app, person)).toEqual([]);
    expect(repo.git('log', '--format=%s', 'main')).not.toContain('Begin\n');
  });

  deep('of another branch is merged as well', async () => {
    const app = start();
    const person = app.connect();
    await decide(app, person, 'Before');
    repo.git('checkout', '-q', '-b', 'feature');
    await decide(app, person, 'On the branch');
    await write(app, person, 'other');
    const seen = repo.git('rev-parse', 'HEAD').trim();
    repo.git('checkout', '-q', 'main');
    await decide(app, person, 'On main');
    const none = { ours: [], theirs: [] };
    const take = (request: Pick<AcceptRequest, 'seen' | 'records'>) =>
      app.run(person, 'review', {}, ({ reviews }) =>
        reviews.acceptFrom('feature', { ...none, records: [], ...request }),
      );
    const records = ['decisionLog.md'];
    await expect(take({ records, seen: '1'.repeat(40) })).rejects.toMatchObject({
      code: 'conflict',
    });
    await take({ records, seen });
    expect(await decisions(app, person)).toEqual(['Before', 'On main', 'On the branch']);
    expect(await keys(app, person)).toEqual([]);
    expect(repo.git('log', '-1', '--format=%P').trim().split(' ')).toHaveLength(1);
  });
});

test('random parts of random changes, accepted in random order, lose nothing of either side', async () => {
  for (let run = 0; run < runs(10); run++) {
    const random = new Random(seed * 1000 + run);
    const pick = <T>(list: readonly T[]): T | undefined => list[random.below(list.length)];
    const { app, person, agent } = await begin(run % 3 === 2 ? places[1]?.[1] : undefined);
    const inMain = new Set<string>();
    const ofAgent = new Set<string>();
    /** The text that the memory must have for each key. */
    const texts = new Map<string, string>([['first', 'text']]);
    const where = (step: number) => `run ${run}, step ${step}, seed ${seed}`;
    for (let step = 0; step < (isFull ? 25 : 8); step++) {
      const who = random.below(2) === 0 ? agent : person;
      const action = random.below(5);
      if (action < 2) {
        const title = `Decision ${step}`;
        await decide(app, who, title);
        (who === person ? inMain : ofAgent).add(title);
      } else if (action === 2) {
        const key = pick(['first', 'second', `new-${step}`]) ?? '';
        await write(app, who, key, `${step} by ${who === person ? 'a person' : 'an agent'}`);
        if (who === person) texts.set(key, `${step} by a person`);
      } else {
        const [review] = await reviews(app, person);
        if (!review) continue;
        const { name, tip: seen, changes } = review;
        const titles = [...ofAgent].filter((title) => !inMain.has(title));
        const records = changes
          .map(({ path }) => path)
          .filter(() => random.below(2) === 0)
          .map((path) => {
            const title = path === 'decisionLog.md' && random.below(2) === 0 && pick(titles);
            return title ? `${path}#${title}` : path;
          });
        if (records.length === 0) continue;
        const shown = (path: string) => repo.git('show', `${seen}:.memory-bank/${path}`);
        /** The text of each conflicted field that was decided, by the path of its record. */
        const decided = new Map<string, string>();
        await accept(app, person, name, { records, seen }).catch(async (error: MergeConflict) => {
          expect(error.code, `${where(step)}: ${error.message}`).toBe('conflict');
          const decisions = { ours: Array.of<string>(), theirs: Array.of<string>() };
          const own = new Map<string, string>();
          for (const { path, fields } of error.conflicts) {
            expect(fields, where(step)).not.toEqual([]);
            for (const { field, ours, theirs } of fields) {
              const taken = random.below(3);
              const text = [ours, theirs, `${step} of both`][taken];
              if (taken === 2) own.set(`${path}#${field}`, `${text}`);
              else decisions[taken === 0 ? 'ours' : 'theirs'].push(`${path}#${field}`);
              decided.set(path, `${text}`);
            }
          }
          const { state } = error;
          const request = { records, seen, ...decisions, texts: own, decided: state };
          await accept(app, person, name, request);
        });
        for (const record of records) {
          const [path = '', title] = record.split('#');
          if (title !== undefined) inMain.add(title);
          else if (path === 'decisionLog.md') for (const one of titles) inMain.add(one);
          else {
            const key = path.replace(/^.*\/|\.md$/g, '');
            const text = await read(app, person, path);
            const proposed = /\d+ by an agent/.exec(shown(path))?.[0] ?? '';
            const known = texts.get(key);
            const taken = decided.get(path) ?? (text.includes(proposed) ? proposed : known);
            expect(text, `${where(step)}: ${record}`).toContain(taken ?? proposed);
            texts.set(key, taken ?? '');
          }
        }
      }
      const log = inMain.size > 0 ? await decisions(app, person) : [];
      expect([...log].sort(), where(step)).toEqual([...inMain].sort());
      for (const [key, text] of texts) {
        expect(await read(app, person, `knowledge/patterns/${key}.md`), where(step)).toContain(
          text,
        );
      }
    }
    for (const { name } of await reviews(app, person)) {
      const theirs = ['first', 'second'].map((key) => `knowledge/patterns/${key}.md`);
      await accept(app, person, name, { theirs });
    }
    const all = new Set([...inMain, ...ofAgent]);
    const log = all.size > 0 ? await decisions(app, person) : [];
    expect([...log].sort(), where(99)).toEqual([...all].sort());
    expect(repo.fsck(), where(99)).toBe('');
    await app.close();
    apps.pop();
    repo.remove();
    repo = Repo.create();
  }
});
