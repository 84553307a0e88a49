import { afterEach, beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { deep } from '../../support/depth.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  app = projectApp(repo.root);
  session = app.connect();
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object): Promise<Answer> {
  const body: Answer = (await app.call(session, tool, args))?.body;
  expect(JSON.stringify(body)).not.toMatch(/"(?:error|success":false)/);
  return body;
}

const remember = (key: string, value: string) =>
  call('memory_write', { category: 'patterns', key, value });

test('a write that is nearly the same as an existing record names it', async () => {
  const value = 'Take the lock before the index is read, and release it after the ref was written.';
  for (let i = 0; i < 30; i++) await remember(`other-${i}`, `Number ${i} is about topic${i}.`);
  expect(await remember('lock', value)).not.toHaveProperty('similar');
  const again = await remember('lock-order', `${value} Always.`);
  expect(again.similar).toEqual([
    {
      path: 'knowledge/patterns/lock.md',
      title: 'lock',
      likeness: expect.any(Number),
      answer: expect.any(String),
      changed: expect.stringMatching(/^\d{4}-\d\d-\d\d by Ada Lovelace/),
    },
  ]);
  expect(again.similar[0].likeness).toBeGreaterThan(0.6);
  // It is stored all the same, in one commit.
  expect(repo.git('log', '-1', '--format=', '--name-only').trim()).toMatch(/lock-order\.md$/);
  expect(repo.read('.memory-bank/knowledge/patterns/lock-order.md')).toContain('Always.');
  // The terms are those of the search: other forms of the words, in another order.
  const forms =
    'Locks are taken before indexes were reading, and releasing them after refs are written.';
  const inflected = await remember('locking', forms);
  expect(inflected.similar.map(({ title }: Answer) => title)).toContain('lock');
  expect(await remember('lock-order', `${value} Always.`)).not.toHaveProperty('similar');
  await call('activate_project', {});
  const stored = await call('store_memory', { title: 'lock', type: 'rules', content: value });
  expect(stored.similar[0]).toMatchObject({ path: expect.stringMatching(/^knowledge/) });
  await call('create_features', { features: [{ slug: 'git', name: 'Git' }] });
  const { data } = await call('create_requirements', {
    feature_slug: 'git',
    requirements: [{ text: value }, { text: 'It tells people what it is doing all the time' }],
  });
  expect(data.requirements.map(({ similar }: Answer) => similar?.length)).toEqual([
    expect.any(Number),
    undefined,
  ]);
});

test('a decision that is nearly the same as an earlier one of the log names it', async () => {
  const decide = (title: string, decision: string) =>
    call('log_decision', { title, context: 'Two servers write at the same time.', decision });
  const done = { status: 'success', message: 'Decision logged successfully' };
  const decision = 'Take the lock before the index is read, release it after the ref was written.';
  expect(await decide('Lock order', decision)).toEqual(done);
  expect(await decide('Colour of pages', 'Pages follow the scheme of the browser.')).toEqual(done);
  const again = await decide('Order of the lock', `${decision} Always.`);
  expect(again).toEqual({
    ...done,
    similar: [
      {
        path: 'decisionLog.md',
        section: expect.stringMatching(/^Decision Log > Lock order - \d{4}-/),
        title: expect.stringMatching(/^Lock order - \d{4}-/),
        likeness: expect.any(Number),
        answer: expect.any(String),
        changed: expect.stringMatching(/^\d{4}-\d\d-\d\d by Ada Lovelace/),
      },
    ],
  });
});

/** The note next to an answer. */
const noteOf = async (tool: string, args: object) => (await app.call(session, tool, args))?.note;

test('one decision in several toolsets is found by each, and says how to make it one', async () => {
  let note: string | undefined;
  const similar = async (tool: string, args: object) => {
    const reply = await app.call(session, tool, args);
    note = reply?.note;
    return Object(reply?.body).similar?.map(({ path }: Answer) => path);
  };
  const decide = (title: string, decision: string) =>
    similar('log_decision', { title, decision, context: 'People asked for it again and again.' });
  const keep = (key: string, value: string) =>
    similar('memory_write', { category: 'decisions', key, value, confirm: true });
  const content = 'Amounts of money are stored as integer cents.';
  const money = 'knowledge/decisions/money.md';
  await call('activate_project', {});
  expect(await keep('money', 'Store amounts of money as integer cents')).toBeUndefined();
  expect(note).toBeUndefined();
  expect(await decide('Colour of buttons', 'All buttons are blue')).toBeUndefined();
  expect(await decide('Money', content)).toEqual([money]);
  const [, address = ''] =
    /^"knowledge\/decisions\/money\.md" says nearly the same\. To replace it: verify_memory with path ("decisionLog\.md#[^"]+") and supersedes \["[^"]+"\]\. To keep only that one: correct it, and forget_memory with record \1\.$/.exec(
      note ?? '',
    ) ?? [];
  const rule = { title: 'Money', type: 'rules', content };
  expect(await similar('store_memory', rule)).toEqual(['decisionLog.md', money]);

  // The calls of the note do what they say.
  await call('verify_memory', { path: JSON.parse(address), supersedes: [money] });
  expect(await keep('amounts', content)).not.toContain(money);
  await call('forget_memory', { record: JSON.parse(address), reason: 'twice' });
  expect(repo.read('.memory-bank/decisionLog.md')).not.toContain('Money');
  expect(note).toContain('says nearly the same');
  expect(await keep('button-colour', 'They are green.')).toEqual(['decisionLog.md']);
  expect(note).toContain('has the same subject');
  expect(await keep('size', 'They are large.')).toBeUndefined();
});

test('the decisions of one toolset name those of the other, if it has any', async () => {
  const read = { category: 'decisions' };
  const decide = (title: string) =>
    call('log_decision', { title, context: 'Asked.', decision: 'It is so.' });
  await decide('Blue buttons');
  expect(await noteOf('Decision_Log', {})).toBeUndefined();
  expect(await noteOf('memory_read', { category: 'patterns' })).toBeUndefined();
  expect(await noteOf('memory_read', read)).toBe(
    'decisionLog.md has 1 more decision; read by Decision_Log.',
  );
  await decide('Round corners');
  for (const key of ['a', 'b']) {
    await call('memory_write', { ...read, key, value: key, confirm: true });
  }
  await remember('c', 'A pattern.');
  expect(await noteOf('memory_read', { ...read, key: 'none' })).toContain('2 more decisions');
  expect(await noteOf('memory_read', { ...read, key: 'a' })).toBeUndefined();
  expect(await noteOf('Decision_Log', {})).toBe(
    'The knowledge has 2 more decisions; read by memory_read with category decisions.',
  );
});

deep(
  'every tool that writes a text of its own names a record that says nearly the same',
  async () => {
    const value =
      'Take the lock before the index is read, and release it after the ref was written.';
    const again = `${value} Always.`;
    await remember('lock', value);
    await call('activate_project', {});
    const { memory_id } = await call('store_memory', {
      title: 'A',
      type: 'rules',
      content: 'New.',
    });
    const { data } = await call('create_features', {
      features: [{ slug: 'git', name: 'Git' }],
    });
    expect(data.features[0]).not.toHaveProperty('similar');
    await call('create_objective', { slug: 'goal', name: 'Goal' });
    await call('create_tickets', { tickets: [{ key: 'L-1' }] });
    const requirements = [{ text: 'It is fast.' }];
    const made = await call('create_requirements', { feature_slug: 'git', requirements });
    const tasks = await call('create_tasks', {
      objective_slug: 'goal',
      tasks: [{ text: 'Begin.' }],
    });
    const ids = { requirement: made.data.requirements[0].id, task: tasks.data.tasks[0].id };
    const bank = { bank_type: 'code', bank_id: 'app' };
    await call('activate', bank);
    const objective_slug = 'goal';
    const bankFile = { ...bank, target_file: 'lock.md', operation: 'append', content: again };
    const file = { filename: 'notes.md', content: `# Lock\n\n${again}\n` };
    const lock = { slug: 'lock', name: 'Lock', description: again };
    const answers: Answer[] = [];
    const write = async (tool: string, args: object) => {
      const answer = await call(tool, args);
      answers.push(answer.data ? Object.values(answer.data).flat()[0] : answer);
    };
    await write('create_features', { features: [lock] });
    await write('update_feature', { slug: 'git', description: again });
    await write('create_objective', lock);
    await write('update_objective', { slug: 'goal', description: again });
    await write('create_tickets', { tickets: [{ key: 'L-2', description: again }] });
    await write('update_ticket', { key: 'L-1', description: again });
    await write('create_tasks', { objective_slug, tasks: [{ text: again }] });
    await write('update_task', { id: ids.task, text: again });
    await write('create_requirements', { feature_slug: 'git', requirements: [{ text: again }] });
    await write('update_requirement', { id: ids.requirement, text: again });
    await write('update_memory', { memory_id, content: again });
    await write('write_memory_bank_file', file);
    await write('update', bankFile);
    for (const { similar } of answers) {
      expect(similar[0]).toEqual({
        path: expect.any(String),
        title: expect.any(String),
        likeness: expect.closeTo(0.9, 0),
        answer: expect.any(String),
        changed: expect.stringMatching(/^\d{4}-\d\d-\d\d by Ada Lovelace/),
      });
    }
    // These change no text, or only a status.
    answers.length = 0;
    await write('update_memory', { memory_id, content: again });
    await write('write_memory_bank_file', file);
    await write('update_feature', { slug: 'git', description: again });
    await write('update_task', { id: ids.task, status: 'completed' });
    expect(JSON.stringify(answers)).not.toContain('similar');
  },
);
