import { expect, test } from 'vitest';
import type { Session } from '../../../src/core/memory/session.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';
import type { Answer } from '../../unit/graph/planner.ts';

test('sessions divide the tasks of an objective', async () => {
  const repo = Repo.create();
  const app = projectApp(repo.root);
  const call = async (session: Session, tool: string, args: object): Promise<Answer> =>
    (await app.call(session, tool, args))?.body;
  const [ann, ben] = ['ann/1', 'ben/2'].map((agent) => {
    const session = app.connect();
    session.agent = agent;
    return session;
  }) as [Session, Session];
  try {
    await call(ann, 'create_objective', { slug: 'ship', name: 'Ship' });
    const tasks = ['Write it', 'Test it'].map((text) => ({ text }));
    const made = await call(ann, 'create_tasks', { objective_slug: 'ship', tasks });
    const [id, other] = made.data.tasks.map((one: Answer) => one.id);
    const commits = repo.git('rev-list', '--count', 'HEAD');

    const claimed = await call(ann, 'claim_task', { id, minutes: 5 });
    expect(claimed).toEqual({
      success: true,
      data: {
        task_id: id,
        claim: {
          agent: 'ann/1',
          person: expect.any(String),
          until: expect.stringMatching(/Z$/),
          mine: true,
        },
        shared: false,
      },
    });
    expect(await call(ben, 'claim_task', { id })).toMatchObject({
      success: false,
      error: { type: 'db_error', message: expect.stringContaining('ann/1') },
    });
    const listed = await call(ben, 'list_tasks', { objective_slug: 'ship' });
    expect(listed.data.tasks[0]).toMatchObject({ id, claim: { agent: 'ann/1', mine: false } });
    expect(listed.data.tasks[1]).not.toHaveProperty('claim');
    expect((await call(ann, 'get_task', { id })).data.task.claim.mine).toBe(true);
    expect(await call(ben, 'release_task', { id })).toMatchObject({ success: false });
    expect((await call(ben, 'release_task', { id, force: true })).data).toEqual({
      task_id: id,
      released: true,
    });
    expect((await call(ben, 'release_task', { id: other })).data.released).toBe(false);
    expect((await call(ben, 'claim_task', { id: 'AAAAAAAAAAAA' })).error.type).toBe('not_found');
    expect((await call(ben, 'claim_task', { id, minutes: 0 })).error.type).toBe('validation_error');
    expect(repo.git('rev-list', '--count', 'HEAD')).toBe(commits);
    expect(repo.status()).toEqual([]);
  } finally {
    await app.close();
    repo.remove();
  }
});
