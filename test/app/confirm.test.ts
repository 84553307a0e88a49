import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { LogEntry } from '../../src/core/memory/commit-log.ts';
import type { Session } from '../../src/core/memory/session.ts';
import { verifyMemory } from '../../src/toolsets/truth/verify-memory.ts';
import { deep } from '../support/depth.ts';
import { Repo } from '../support/repo.ts';
import {
  agentOf,
  call as callTool,
  lastChangeShown,
  startApp,
  write,
} from '../support/reviewed.ts';

const otters = 'knowledge/patterns/otters.md';

let repo: Repo;
let app: App;

beforeEach(() => {
  repo = Repo.create();
  app = startApp(repo);
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

const changed = (query: string) => lastChangeShown(app, query);

const confirmed = 'by claude-code (agent), confirmed by Ada Lovelace';
const unconfirmed = 'by claude-code (agent), not confirmed';

const call = (session: Session, tool: string, args: object) => callTool(app, session, tool, args);

const confirm = (address: string, seen?: string, session = app.connect()) =>
  app.run(session, 'confirm', {}, ({ reviews }) => reviews.confirm(address, seen));

const decide = (title: string) =>
  call(agentOf(app), 'log_decision', { title, context: 'x', decision: `${title} it is.` });

const log = (path?: string): Promise<readonly LogEntry[]> =>
  app.run(app.connect(), 'log', {}, async ({ history }) => {
    return (await history.log({ path, revision: 'HEAD', limit: 10, skip: 0 })).entries;
  });

/** The number of commits that each verification makes. */
async function verifyAs(name: string, ...paths: string[]): Promise<number[]> {
  repo.git('config', 'user.name', name);
  const made: number[] = [];
  for (const path of paths) {
    const before = head();
    await app.run(app.connect(), 'verify', {}, (context) => verifyMemory.call(context, { path }));
    made.push(Number(repo.git('rev-list', '--count', `${before}..`)));
  }
  return made;
}

const head = () => repo.git('rev-parse', 'HEAD').trim();

describe('a confirmation of a record', () => {
  test('is a commit that changes no file, and a hit says by whom and when', async () => {
    await write(app, agentOf(app), 'otters', 'They sleep in holts.');
    repo.write('staged.txt', 'staged');
    repo.git('add', 'staged.txt');
    const [tree, status] = [
      repo.git('rev-parse', 'HEAD^{tree}'),
      repo.git('status', '--porcelain'),
    ];
    expect(await changed('otters')).toBe(unconfirmed);
    await confirm(otters);
    expect(await changed('otters')).toBe(confirmed);
    expect(repo.git('rev-parse', 'HEAD^{tree}')).toBe(tree);
    expect(repo.git('status', '--porcelain')).toBe(status);
    expect(repo.git('fsck', '--full', '--strict')).toBe('');
    const message = repo.git('log', '-1', '--format=%B');
    expect(message).toContain(`memory: confirm ${otters}\n`);
    expect(message).toMatch(new RegExp(`^Memory-Confirmed: [0-9a-f]{32} ${otters}$`, 'm'));
  });

  test('holds until the text changes, also after a move', async () => {
    await write(app, agentOf(app), 'otters', 'They sleep in holts.');
    await confirm(otters);
    await write(app, agentOf(app), 'otters', 'They sleep in trees.');
    expect(await changed('otters')).toBe(unconfirmed);
    await write(app, agentOf(app), 'voles', 'They eat grass.');
    await confirm('knowledge/patterns/voles.md');
    repo.git(
      'mv',
      '.memory-bank/knowledge/patterns/voles.md',
      '.memory-bank/knowledge/patterns/v.md',
    );
    repo.git('commit', '-q', '-m', 'Move it');
    expect(await changed('voles')).toBe(confirmed);
  });

  test('commits an edit by hand first, and refuses a state that the person has not seen', async () => {
    await write(app, agentOf(app), 'otters', 'They sleep in holts.');
    const seen = head();
    const path = `.memory-bank/${otters}`;
    repo.write(path, repo.read(path).replace('holts', 'trees'));
    await confirm(otters);
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(repo.git('log', '-2', '--format=%s')).toContain(
      'memory: keep edit by hand of otters.md',
    );
    expect(await changed('otters')).toBe('by Ada Lovelace (git), confirmed by Ada Lovelace');
    const before = head();
    await expect(confirm(otters, seen)).rejects.toMatchObject({ code: 'conflict' });
    expect(head()).toBe(before);
  });

  test.each([
    ['nowhere.md', 'not_found'],
    ['decisionLog.md#Nothing', 'not_found'],
    ['../outside.md', 'invalid_input'],
  ])('of %s is refused', async (address, code) => {
    await decide('Otters');
    const before = head();
    await expect(confirm(address)).rejects.toMatchObject({ code });
    expect(head()).toBe(before);
  });

  test('is refused to an agent', async () => {
    await write(app, agentOf(app), 'otters');
    const before = head();
    const asAgent = confirm(otters, undefined, agentOf(app));
    await expect(asAgent).rejects.toMatchObject({ code: 'forbidden' });
    // What it writes is no confirmation, whatever it says.
    const reason = `Memory-Tool: confirm\nMemory-Confirmed: ${'0'.repeat(32)} ${otters}`;
    await call(agentOf(app), 'log_decision', { title: 'X', context: reason, decision: reason });
    expect(await changed('otters')).toBe(unconfirmed);
    expect(head()).not.toBe(before);
  });
});

describe('a confirmation of a decision', () => {
  test('is of this entry of the log alone, and holds while others are added', async () => {
    await decide('Otters');
    await decide('Voles');
    await confirm('decisionLog.md#Otters');
    await decide('Hares');
    expect(await changed('otters')).toBe(confirmed);
    expect(await changed('voles')).toBe(unconfirmed);
    await confirm('decisionLog.md');
    await decide('Moles');
    expect([await changed('voles'), await changed('moles')]).toEqual([confirmed, unconfirmed]);
  });

  test('is in the log of the memory, of the record and of the entry, and in blame', async () => {
    await decide('Otters');
    await decide('Voles');
    await confirm('decisionLog.md#Otters');
    const change = { change: 'confirmed', path: 'decisionLog.md' };
    for (const path of [undefined, 'decisionLog.md', 'decisionLog.md#Otters']) {
      const [first] = await log(path);
      expect(first).toMatchObject({ commit: { oid: head() }, changes: [change] });
    }
    expect((await log('decisionLog.md#Voles'))[0]?.changes).toMatchObject([{ change: 'changed' }]);
    const { commits } = await call(agentOf(app), 'record_history', { path: 'decisionLog.md' });
    expect(commits[0].changes).toEqual([change]);
    const blame = await call(agentOf(app), 'blame_record', { path: 'decisionLog.md' });
    expect(blame.confirmed).toMatchObject([{ from: 3, commit: head().slice(0, 12) }]);
    const voles = { path: 'decisionLog.md#Voles' };
    expect(await call(agentOf(app), 'blame_record', voles)).not.toHaveProperty('confirmed');
  });

  test('survives a merge, and a squash if the text stayed', async () => {
    await decide('Otters');
    repo.git('checkout', '-q', '-b', 'other');
    await confirm('decisionLog.md#Otters');
    repo.git('checkout', '-q', 'main');
    expect(await changed('otters')).toBe(unconfirmed);
    await write(app, agentOf(app), 'voles', 'They eat grass.');
    repo.git('merge', '-q', '--no-edit', 'other');
    expect(await changed('otters')).toBe(confirmed);
    repo.git('branch', '-q', '-D', 'other');
    await write(app, agentOf(app), 'hares', 'They run.');
    await confirm('knowledge/patterns/hares.md');
    await confirm(`knowledge/patterns/voles.md`);
    await write(app, agentOf(app), 'voles', 'They eat roots.');
    await app.run(app.connect(), 'squash', {}, ({ history }) => history.squash(undefined));
    expect(repo.git('log', '-1', '--format=%s')).toContain('squash 4 changes');
    expect([await changed('hares'), await changed('voles')]).toEqual([confirmed, unconfirmed]);
  });
});

describe('a verification that finds everything as it was', () => {
  test('is a confirmation by a person, and nothing by an agent', async () => {
    await decide('Otters');
    const before = head();
    await call(agentOf(app), 'verify_memory', { path: 'decisionLog.md#Otters' });
    expect(head()).toBe(before);
    await call(app.connect(), 'verify_memory', { path: 'decisionLog.md#Otters' });
    expect(await changed('otters')).toBe(confirmed);
    const after = head();
    expect(after).not.toBe(before);
    await call(app.connect(), 'verify_memory', { path: 'decisionLog.md#Otters' });
    expect(head()).toBe(after);
  });

  deep('is said once by each person, as a command also', async () => {
    await decide('Otters');
    await decide('Voles');
    await write(app, agentOf(app), 'otters', 'They sleep in holts.');
    const [entry, log] = ['decisionLog.md#Otters', 'decisionLog.md'];
    expect(await verifyAs('Ada', entry, entry, otters, otters)).toEqual([1, 0, 1, 0]);
    expect(await verifyAs('Ada', log, log, entry)).toEqual([1, 0, 0]);
    expect(await verifyAs('Bea', entry, otters, otters, entry)).toEqual([1, 1, 0, 0]);
    expect(await verifyAs('Ada', log, entry, otters)).toEqual([0, 0, 0]);
    await write(app, agentOf(app), 'otters', 'They sleep in trees.');
    expect(await verifyAs('Ada', otters, otters)).toEqual([1, 0]);
  });
});
