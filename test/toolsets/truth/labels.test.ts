import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { exportedCautions, exportMemory } from '../../../src/app/exchange/exporter.ts';
import type { Session } from '../../../src/core/memory/session.ts';
import { ResourceFeed } from '../../../src/server/mcp/resources.ts';
import { deep } from '../../support/depth.ts';
import { serve } from '../../support/http.ts';
import { projectApp } from '../../support/project-app.ts';
import { Repo } from '../../support/repo.ts';

let repo: Repo;
let app: App;
let session: Session;

beforeEach(() => {
  repo = Repo.create();
  repo.write('src/lock.ts', 'export function lock() {\n  wait();\n}\n');
  repo.write('src/other.ts', 'other\n');
  commit('Begin');
  app = projectApp(repo.root);
  session = app.connect();
});

afterEach(async () => {
  await app.close();
  repo.remove();
});

function commit(message: string): void {
  repo.git('add', '-A');
  repo.git('commit', '-q', '-m', message);
}

// biome-ignore lint/suspicious/noExplicitAny: answers of several tools
type Answer = any;

async function call(tool: string, args: object): Promise<Answer> {
  const body: Answer = (await app.call(session, tool, args))?.body;
  expect(JSON.stringify(body)).not.toMatch(/"(?:error|success":false)/);
  return body;
}

/** Removes what every record rests on. */
function removeLock(): void {
  repo.git('rm', '-q', 'src/lock.ts');
  commit('Remove the lock');
}

const gone = 'src/lock.ts was removed.';

describe('a record whose code was removed', () => {
  test('has a label in every answer of the graph, and none before', async () => {
    await call('create_features', {
      features: [
        { slug: 'lock', name: 'Lock', description: 'In src/lock.ts.' },
        { slug: 'other', name: 'Other' },
      ],
    });
    const { data } = await call('create_paths', {
      paths: [
        { path: 'src/lock.ts', type: 'file', description: 'waits' },
        { path: 'src/other.ts', type: 'file', description: 'waits' },
      ],
    });
    await call('link_paths_to_feature', {
      feature_slug: 'lock',
      path_ids: data.paths.map(({ id }: Answer) => id),
    });
    const requirements = await call('create_requirements', {
      feature_slug: 'lock',
      requirements: [{ text: 'It waits', evidence: ['src/lock.ts'] }],
    });
    await call('create_objective', { slug: 'wait', name: 'Wait', description: 'See src/lock.ts.' });
    const tasks = await call('create_tasks', {
      objective_slug: 'wait',
      tasks: [{ text: 'Change src/lock.ts' }],
    });
    await call('create_tickets', { tickets: [{ key: 'L-1', description: 'About src/lock.ts' }] });
    await call('link_objective_to_features', { objective_slug: 'wait', feature_slugs: ['lock'] });
    await call('link_objective_to_tickets', { objective_slug: 'wait', ticket_keys: ['L-1'] });
    const reads: readonly (readonly [tool: string, args: object, labels: number])[] = [
      ['get_feature', { slug: 'lock' }, 1],
      ['list_features', {}, 1],
      ['get_feature_context', { slug: 'lock' }, 3],
      ['get_path', { path: 'src/lock.ts' }, 1],
      ['list_paths', { feature_slug: 'lock' }, 1],
      ['find_relevant_paths', { query: 'waits' }, 1],
      ['get_requirement', { id: requirements.data.requirements[0].id }, 1],
      ['list_requirements', { feature_slug: 'lock' }, 1],
      ['get_objective', { slug: 'wait' }, 1],
      ['list_objectives', {}, 1],
      ['get_objective_context', { slug: 'wait' }, 4],
      ['get_task', { id: tasks.data.tasks[0].id }, 1],
      ['list_tasks', { objective_slug: 'wait' }, 1],
      ['get_ticket', { key: 'L-1' }, 1],
      ['list_tickets', {}, 1],
      ['build_context', { objective_slug: 'wait' }, 1],
    ];
    const before = new Map<string, Answer>();
    for (const [tool, args] of reads) {
      const answer = await call(tool, args);
      expect(JSON.stringify(answer), tool).not.toContain('caution');
      before.set(tool, answer);
    }
    removeLock();
    for (const [tool, args, labels] of reads) {
      const answer = await call(tool, args);
      expect(JSON.stringify(answer).split('"caution":[').length - 1, tool).toBe(labels);
      const unlabelled = JSON.parse(JSON.stringify(answer), (key, value) =>
        key === 'caution' ? undefined : value,
      );
      if (tool !== 'find_relevant_paths') expect(unlabelled, tool).toEqual(before.get(tool));
    }
    const { data: found } = await call('find_relevant_paths', { query: 'waits' });
    expect(found.paths.map(({ path, caution }: Answer) => [path, caution])).toEqual([
      ['src/other.ts', undefined],
      ['src/lock.ts', [gone]],
    ]);
  });

  deep('has a label in files, banks, documents, reports and resources', async () => {
    const content = '# Notes\n\nThe lock is in `src/lock.ts`.\n';
    await call('write_memory_bank_file', { filename: 'notes.md', content });
    await call('write_memory_bank_file', { filename: 'productContext.md', content });
    await call('activate_project', {});
    const { memory_id } = await call('store_memory', { title: 'Lock', type: 'rules', content });
    const bank = { bank_type: 'code', bank_id: 'app' };
    await call('activate', bank);
    await call('update', {
      ...bank,
      target_file: 'doc/api.md',
      operation: 'append',
      content: '# API\n\nSee `src/lock.ts`.\n',
    });
    const feed = new ResourceFeed(app, session);
    const read = () => feed.read('memory-bank://notes.md', {});
    const healthy = [
      await call('read_memory_bank_file', { filename: 'notes.md' }),
      await call('Product_Context', {}),
      await call('get_memory', { memory_id }),
      await call('swap', bank),
      await read(),
    ];
    expect(JSON.stringify(healthy)).not.toContain('caution');
    const report = async () =>
      (await exportMemory(app, session, 'markdown', {})).get('memory.md')?.toString() ?? '';
    expect(await report()).not.toContain('Caution');
    expect((await exportedCautions(app, session, {})).size).toBe(0);
    removeLock();
    expect(await call('read_memory_bank_file', { filename: 'notes.md' })).toEqual({
      ...healthy[0],
      caution: [gone],
    });
    expect(await call('Product_Context', {})).toEqual({ ...healthy[1], caution: [gone] });
    expect((await call('get_memory', { memory_id })).memory.caution).toEqual([gone]);
    expect((await call('swap', bank)).caution).toEqual([`banks/code/app/doc/api.md: ${gone}`]);
    expect(await read()).toEqual({ ...healthy[4], _meta: { 'memory-bank/caution': [gone] } });
    expect(await report()).toContain(`\`notes.md\`\n\n> **Caution:** ${gone}\n`);
    expect((await exportedCautions(app, session, {})).get('notes.md')).toEqual([gone]);
  });

  deep('has a label over HTTP, also at the section that was asked for', async () => {
    const server = await serve();
    server.repo.write('src/lock.ts', 'lock\n');
    server.repo.write('.memory-bank/notes.md', '# Notes\n\n## Lock\n\nIn `src/lock.ts`.\n');
    server.repo.git('add', '-A');
    server.repo.git('commit', '-q', '-m', 'Begin');
    const paths = ['/memory-bank/file/notes.md', '/memory-bank/file/notes.md?section=Lock'];
    const read = () => Promise.all(paths.map((path) => server.ask('GET', path)));
    const healthy = await read();
    for (const { status, body } of healthy) {
      expect({ status, keys: Object.keys(body) }).toEqual({
        status: 200,
        keys: ['status', 'content'],
      });
    }
    server.repo.git('rm', '-q', 'src/lock.ts');
    server.repo.git('commit', '-q', '-m', 'Remove the lock');
    const labelled = await read();
    expect(labelled.map(({ body }) => body)).toEqual(
      healthy.map(({ body }) => ({ ...body, caution: [gone] })),
    );
    await server.close();
  });

  deep('has a label in the hits of each search, after equal hits without one', async () => {
    const write = (key: string, value: string) =>
      call('memory_write', { category: 'patterns', key, value });
    await write('one', 'Wait, see `src/lock.ts`.');
    await write('two', 'Wait, see `src/other.ts`.');
    const reads = [
      ['search_memory', { query: 'wait see' }],
      ['memory_search', { query: 'wait see' }],
      ['memory_read', { category: 'patterns' }],
    ] as const;
    const before = await Promise.all(reads.map(([tool, args]) => call(tool, args)));
    expect(JSON.stringify(before)).not.toContain('caution');
    removeLock();
    for (const [i, [tool, args]] of reads.entries()) {
      const answer = await call(tool, args);
      const hits: Answer[] = answer.results ?? answer.entries;
      const labelled = hits.filter(({ caution }) => caution);
      expect(labelled, tool).toEqual([expect.objectContaining({ caution: [gone] })]);
      expect(labelled[0].key, tool).toMatch(/\bone$/);
      expect(hits).toHaveLength((before[i].results ?? before[i].entries).length);
      if (tool !== 'memory_read') expect(hits[1], tool).toBe(labelled[0]);
    }
  });
});

describe('the code that one section mentions', () => {
  const decide = (title: string, decision: string) =>
    call('log_decision', { title, context: 'C', decision });
  const log = '.memory-bank/decisionLog.md';
  const cautions = async () => (await call('Decision_Log', {})).caution;
  const edit = (file: string, before: string, after: string) =>
    repo.write(file, repo.read(file).replace(before, after));
  const changed = ['The text of src/lock.ts:2 was changed.'];

  beforeEach(async () => {
    await decide('Wait', 'As src/lock.ts:2 does.');
    await decide('Other', 'See src/other.ts.');
    edit('src/lock.ts', 'wait()', 'await wait()');
    commit('Wait for it');
    expect(await cautions()).toEqual(changed);
  });

  test('stays changed when another section is written, by a tool or by hand', async () => {
    await decide('Third', 'D');
    expect(await cautions()).toEqual(changed);
    edit(log, 'See src/other.ts', 'Look at src/other.ts');
    expect(await cautions()).toEqual(changed);
    commit('Edit the other decision');
    expect(await cautions()).toEqual(changed);
  });

  test('is the code of today when the section itself is written', async () => {
    edit(log, 'As src/lock.ts:2 does', 'As src/lock.ts:2 does now');
    expect(await cautions()).toBeUndefined();
    commit('Edit the decision');
    expect(await cautions()).toBeUndefined();
    await decide('Third', 'D');
    expect(await cautions()).toBeUndefined();
  });

  test('is the code of the oldest section that mentions it', async () => {
    await decide('Third', 'Also about src/lock.ts:2.');
    expect(await cautions()).toEqual(changed);
  });

  deep('stays removed when another section is written', async () => {
    repo.git('rm', '-q', 'src/other.ts');
    commit('Remove the other');
    const both = [...changed, 'src/other.ts was removed.'];
    expect(await cautions()).toEqual(both);
    await decide('Third', 'D');
    expect(await cautions()).toEqual(both);
    await call('verify_memory', { path: 'decisionLog.md#Wait' });
    expect(await cautions()).toEqual(both.slice(1));
  });
});

deep('a verification of a page is one of all its sections', async () => {
  const content = '# Notes\n\n## One\n\nSee src/lock.ts:2.\n\n## Two\n\nSee src/other.ts:1.\n';
  await call('write_memory_bank_file', { filename: 'notes.md', content });
  repo.write('src/lock.ts', 'other\ntext\n');
  repo.write('src/other.ts', 'changed\n');
  commit('Change both');
  const read = () => call('read_memory_bank_file', { filename: 'notes.md' });
  expect((await read()).caution).toHaveLength(2);
  await call('write_memory_bank_file', { filename: 'notes.md', content: `${content}\n## Three\n` });
  expect((await read()).caution).toHaveLength(2);
  await call('verify_memory', { path: 'notes.md' });
  expect((await read()).caution).toBeUndefined();
});
