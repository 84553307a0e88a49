import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { App } from '../../src/app/app.ts';
import {
  type ImportReport,
  type ImportRequest,
  importSources,
} from '../../src/app/exchange/importer.ts';
import { isoTime } from '../../src/core/declarations/exchange-format.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { corpus } from '../support/corpus.ts';
import { deep, describeDeep } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { hasEntries } from '../support/test-layout.ts';

/** A project with an app, and the ways to look at what an import did. */
class World {
  readonly repo = Repo.create();
  readonly home = newFolder();
  readonly app: App;
  readonly session;

  constructor() {
    this.app = new App({
      place: { flag: this.repo.root, env: {}, cwd: this.repo.root, home: '/home/nobody' },
      homeFolder: this.home,
      durability: 'relaxed',
      log: () => {},
    });
    this.session = this.app.connect();
  }

  import(path: string, request: Partial<ImportRequest> = {}): Promise<ImportReport[]> {
    const given = { from: undefined, dryRun: false, overwrite: false, ...request };
    return importSources(this.app, this.session, { path, ...given }, {});
  }

  /** Imports, and returns each step of the progress that was reported. */
  async steps(path: string): Promise<{ done: number; total: number; message: string }[]> {
    const steps: { done: number; total: number; message: string }[] = [];
    const progress = (done: number, total: number, message: string) =>
      steps.push({ done, total, message });
    const request = { path, from: undefined, dryRun: false, overwrite: false };
    await importSources(this.app, this.session, request, { progress });
    return steps;
  }

  async call(tool: string, args: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.app.call(this.session, tool, args);
    if (!reply || reply.error) throw new Error(JSON.stringify(reply));
    return reply.body;
  }

  get commits(): number {
    return Number(this.repo.git('rev-list', '--count', 'HEAD'));
  }

  async close(): Promise<void> {
    await this.app.close();
    this.repo.remove();
  }
}

const worlds: World[] = [];

function world(): World {
  const one = new World();
  worlds.push(one);
  return one;
}

afterAll(async () => {
  for (const one of worlds) await one.close();
});

/** A folder with these files. */
function folder(files: { readonly [path: string]: string | Buffer }): string {
  const top = newFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), content);
  }
  return top;
}

function filesBelow(top: string): string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function fingerprint(top: string): string {
  const hash = createHash('sha256');
  for (const file of statSync(top).isFile() ? [top] : filesBelow(top).sort()) {
    hash.update(file).update(readFileSync(file));
  }
  return hash.digest('hex');
}

test('a memory whose log entries are files is imported as its logs', async () => {
  const source = folder({
    '.memory-bank/config.yaml': 'layout: entries\n',
    '.memory-bank/decisionLog.md': '# Decision Log\n',
    '.memory-bank/decisionLog/2026-01-02-one-1a2b3c.md': '## One - 2026-01-02\n\n1\n',
    '.memory-bank/decisionLog/moved/two.md': '## Two - 2026-01-03\n\n2\n',
    '.memory-bank/progress/2026-01-04-5e6f7a8b.md': '- [2026-01-04] - Fix: it\n',
    '.memory-bank/activeContext.md': '# Current Context\n',
    '.memory-bank/notes.md': '# Notes\n',
  });
  const one = world();
  const [report] = await one.import(join(source, '.memory-bank'), { from: 'memory-bank' });
  expect(report?.created).toEqual([
    'activeContext.md',
    'decisionLog.md',
    'notes.md',
    'progress.md',
  ]);
  const read = (path: string) => one.repo.read(`.memory-bank/${path}`);
  expect(read('decisionLog.md').match(/^## .*$/gm)).toHaveLength(2);
  expect(read('progress.md')).toContain('- [2026-01-04] - Fix: it');
  expect(read('activeContext.md')).toContain('- [2026-01-04] - Fix: it');
});

describe('a memory-bank folder', () => {
  const crlf = '# Active\r\n\r\n- \u{1f600}\r\nno end';
  const source = folder({
    'memory-bank/active-context.md': crlf,
    'memory-bank/progress.md': '# Progress\n',
    'memory-bank/decision-log.md': 'kebab',
    'memory-bank/decisionLog.md': 'camel',
    'memory-bank/docs/über uns.md': '# Deep\n',
    'memory-bank/documents/notes.md': 'in a reserved folder',
    'memory-bank/state.json': '{}',
    'memory-bank/latin1.md': Buffer.from([0x63, 0x61, 0x66, 0xe9]),
  });

  deep('is taken over byte for byte as one commit, and again without a change', async () => {
    const one = world();
    const { repo } = one;
    const before = fingerprint(source);
    const [report] = await one.import(join(source, 'memory-bank'));
    expect(report).toMatchObject({ format: 'memory-bank', unchanged: 0, kept: [], replaced: [] });
    expect(one.commits).toBe(2);
    expect(repo.read('.memory-bank/activeContext.md')).toBe(crlf);
    expect(repo.read('.memory-bank/decisionLog.md')).toBe('camel');
    expect(repo.read('.memory-bank/decision-log.md')).toBe('kebab');
    expect(repo.read('.memory-bank/docs/über uns.md')).toBe('# Deep\n');
    expect(repo.read('.memory-bank/files/documents/notes.md')).toBe('in a reserved folder');
    expect(report?.left.map(({ from }) => from)).toEqual(['latin1.md', 'state.json']);
    expect(report?.notes.map(({ from }) => from)).toEqual([
      'decision-log.md',
      'documents/notes.md',
    ]);
    expect(repo.git('log', '-1', '--format=%s').trim()).toBe(
      'memory: import 6 records from memory-bank (memory-bank)',
    );
    const [again] = await one.import(join(source, 'memory-bank'));
    expect(again).toMatchObject({ created: [], unchanged: 6, commits: [] });
    expect(one.commits).toBe(2);
    expect(fingerprint(source)).toBe(before);
  });

  deep('is found in its place below a project; a dry run writes nothing', async () => {
    const one = world();
    const [report] = await one.import(source, { dryRun: true });
    expect(report?.created).toHaveLength(6);
    expect(one.commits).toBe(1);
    expect(readdirSync(one.repo.root)).not.toContain('.memory-bank');
  });

  it('replaces untouched templates, and keeps what differs unless told otherwise', async () => {
    const one = world();
    await one.call('initialize_memory_bank', { path: '.' });
    await one.call('write_memory_bank_file', { filename: 'progress.md', content: 'mine' });
    const [report] = await one.import(source);
    expect(report?.replaced).toEqual(['activeContext.md', 'decisionLog.md']);
    expect(report?.kept).toMatchObject([{ from: 'progress.md' }]);
    expect(one.repo.read('.memory-bank/progress.md')).toBe('mine');
    await one.import(source, { overwrite: true });
    expect(one.repo.read('.memory-bank/progress.md')).toBe('# Progress\n');
  });

  it('leaves out what holds a credential, and takes over the rest', async () => {
    const one = world();
    const key = ['AKIA', 'QWERTYUIOPASDFGH'].join('');
    const secret = folder({
      'cline_docs/progress.md': 'fine',
      'cline_docs/activeContext.md': `aws_access_key_id = ${key}\n`,
    });
    const [report] = await one.import(secret);
    expect(report?.created).toEqual(['progress.md']);
    expect(report?.left).toMatchObject([{ from: 'activeContext.md' }]);
  });

  it('repeats no credential that is the key of an entry or part of broken JSON', async () => {
    const token = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;
    const source = folder({
      '.claude/memory/patterns.json': JSON.stringify({ entries: { [token]: {} } }),
      '.claude/memory/corrections.json': token,
    });
    const [report] = await world().import(source);
    expect(report?.left).toMatchObject([
      { from: 'corrections.json', message: "Not valid JSON: Unexpected token 'g'." },
      { from: 'patterns.json, "[a GitHub token]"' },
    ]);
    expect(JSON.stringify(report)).not.toContain(token.slice(0, 8));
  });

  it('leaves out only the entry whose key is a credential', async () => {
    const token = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;
    const entries = [
      { key: 'first', value: 'v' },
      { key: token, value: 'v' },
      { key: 'last', value: 'v' },
    ];
    const one = world();
    const source = folder({ 'patterns.json': JSON.stringify(entries) });
    const [report] = await one.import(source, { from: 'claude-memory' });
    expect(report?.created).toHaveLength(2);
    expect(report?.left).toMatchObject([{ message: expect.stringContaining('a GitHub token') }]);
    expect(JSON.stringify(report)).not.toContain(token.slice(0, 8));
    expect(one.repo.git('log', '-p', '--all')).not.toContain(token.slice(0, 8));
  });
});

describe('the stores of the seeds', () => {
  it.skipIf(!corpus)('.infinity keeps ids, times and contents', async () => {
    const one = world();
    const source = join(corpus ?? '', '_reference-outputs/seed002-hemanthpai');
    const { memories } = JSON.parse(readFileSync(join(source, '.infinity/memories.json'), 'utf8'));
    const [report] = await one.import(source);
    await one.call('activate_project');
    for (const memory of memories) {
      if (report?.left.some(({ from }) => from.endsWith(String(memories.indexOf(memory) + 1)))) {
        expect(memory.content).toBeNull();
        continue;
      }
      const { created_at, updated_at, ...rest } = memory;
      const found = await one.call('get_memory', { memory_id: memory.id });
      expect(found.memory).toEqual({
        ...rest,
        created_at: isoTime(created_at),
        ...(updated_at && { updated_at: isoTime(updated_at) }),
      });
    }
    expect((await one.import(source))[0]).toMatchObject({ created: [], commits: [] });
  });

  const time = '2025-01-02T05:04:05+02:00';
  const kept = '2025-01-02T03:04:05.000Z';
  it.each([
    ['a map with times', { entries: { k: { value: 'v', created_at: time, updated_at: time } } }],
    ['a list with timestamp', { entries: [{ key: 'k', value: 'v', timestamp: time }] }],
    ['a list with recorded_at', { entries: [{ key: 'k', value: 'v', recorded_at: time }] }],
    ['a bare list', [{ key: 'k', value: 'v', timestamp: time }]],
  ])('knowledge as %s', async (_, data) => {
    const one = world();
    const source = folder({ '.claude/memory/patterns.json': JSON.stringify(data) });
    await one.import(source);
    const { entries } = await one.call('memory_read', { category: 'patterns' });
    expect(entries).toEqual([
      { category: 'patterns', key: 'k', value: 'v', created_at: kept, updated_at: kept },
    ]);
    expect((await one.import(source))[0]).toMatchObject({ created: [], kept: [], notes: [] });
  });

  it('a free protocol-state is an entry for each key; undated entries are imported once', async () => {
    const one = world();
    const source = folder({
      '.claude/memory/protocol-state.json': '{"done":true,"project":{"name":"x"},"at":"now"}',
      '.claude/memory/decisions.json': '{"decisions":[{"id":1}]}',
      '.claude/memory/broken.json': '{',
      '.claude/memory/corrections.json': '{"entries":[{"value":"no key"},{"key":"k","value":[1]}]}',
    });
    const [report] = await one.import(source);
    expect(report?.left.map(({ from }) => from)).toEqual([
      'broken.json',
      'corrections.json, entry 1',
      'decisions.json',
    ]);
    const { entries } = await one.call('memory_read', { category: 'protocol-state' });
    expect(entries).toMatchObject([
      { key: 'done', value: 'true' },
      { key: 'project', value: '{"name":"x"}' },
      { key: 'at', value: 'now' },
    ]);
    expect(await one.import(source)).toMatchObject([{ created: [], kept: [], unchanged: 4 }]);
  });

  it('knowledge keeps all fields of an entry and reports invalid timestamps', async () => {
    const one = world();
    const map = {
      a: { value: 'v', reason: 5, context: { f: 1 }, tags: ['x'], confidence: 0.9, id: null },
      b: { value: 'v', metadata: [1], timestamp: '2024-01-01' },
      c: { value: 'v', metadata: { tags: ['y'] }, tags: ['x'], created_at: 1_700_000_000 },
      d: { key: 'd', category: 'patterns', value: 'v', created_at: 'nope', recorded_at: 1.5e9 },
      e: { value: 'v', updated_at: '2024-01-01T00:00:00Z' },
      f: { value: 'v', created_at: null, updated_at: 'soon' },
    };
    const data = { version: 2, category: 'patterns', updated: null, entries: map };
    const source = folder({ '.claude/memory/patterns.json': JSON.stringify(data) });
    const [report] = await one.import(source);
    expect(report?.left.map(({ from }) => from)).toEqual(['patterns.json, "version"']);
    expect(report?.notes).toEqual([
      {
        from: 'patterns.json, "c"',
        message: 'its "tags" is left out: its metadata also has a "tags"',
      },
      {
        from: 'patterns.json, "d"',
        message: 'its created_at is not a timestamp and is kept as metadata',
      },
      {
        from: 'patterns.json, "f"',
        message: 'its updated_at is not a timestamp and is kept as metadata',
      },
    ]);
    const { entries } = await one.call('memory_read', { category: 'patterns' });
    const found = new Map(Array.from(Object(entries), (entry) => [Object(entry).key, entry]));
    expect(found.get('a')).toMatchObject({
      reason: '5',
      context: '{"f":1}',
      metadata: { tags: ['x'], confidence: 0.9 },
    });
    const times = (time: string) => ({ created_at: time, updated_at: time });
    expect(found.get('b')).toMatchObject({
      metadata: { metadata: [1] },
      ...times('2024-01-01T00:00:00.000Z'),
    });
    expect(found.get('c')).toMatchObject({
      metadata: { tags: ['y'] },
      ...times('2023-11-14T22:13:20.000Z'),
    });
    expect(found.get('d')).toEqual({
      category: 'patterns',
      key: 'd',
      value: 'v',
      metadata: { created_at: 'nope' },
      ...times('2017-07-14T02:40:00.000Z'),
    });
    expect(found.get('e')).toMatchObject(times('2024-01-01T00:00:00.000Z'));
    expect(found.get('f')).toMatchObject({ metadata: { updated_at: 'soon' } });
    expect((await one.import(source))[0]).toMatchObject({ created: [], kept: [], unchanged: 6 });
  });

  it('.infinity reports fields that a document does not have', async () => {
    const one = world();
    const memory = {
      id: '11111111-0000-4000-8000-000000000001',
      title: 'T',
      type: 'rules',
      content: 'c',
      created_at: '2024-01-01',
      updated_at: null,
    };
    const second = {
      ...memory,
      id: '11111111-0000-4000-8000-000000000002',
      tags: ['x'],
      updated_at: 'nope',
    };
    const third = { ...memory, created_at: 'nope' };
    const data = { memories: [memory, second, third], version: 1 };
    const [report] = await one.import(folder({ '.infinity/memories.json': JSON.stringify(data) }));
    expect(report?.created).toHaveLength(2);
    expect(report?.notes).toEqual([
      {
        from: 'memories.json, memory 2',
        message: 'its updated_at is not a timestamp and is left out',
      },
      {
        from: 'memories.json, memory 2',
        message: 'its "tags" is left out: a document has no such field',
      },
    ]);
    expect(report?.left).toMatchObject([
      { from: 'memories.json, "version"' },
      { from: 'memories.json, memory 3', message: expect.stringContaining('created_at') },
    ]);
    await one.call('activate_project');
    const { memory: found } = await one.call('get_memory', { memory_id: memory.id });
    expect(found).toEqual({
      id: memory.id,
      title: 'T',
      type: 'rules',
      content: 'c',
      created_at: '2024-01-01T00:00:00.000Z',
    });
  });

  describe('.infinity of another project', () => {
    const [mine, other] = ['a', 'b'].map((digit) => `0b0f4b1e-52b5-4e0e-9d0d-0f6b1f6a9a0${digit}`);
    const id = '11111111-0000-4000-8000-000000000001';
    const memory = { id, title: 'T', type: 'rules', content: 'c', created_at: '2024-01-01' };
    const store = (project_id: string | undefined, beside = project_id) => ({
      '.infinity/project_id': `${beside}\n`,
      '.infinity/memories.json': JSON.stringify({ project_id, memories: [memory] }),
    });

    it('is left out where its files differ, or where it lies in this one', async () => {
      const one = world();
      const apart = folder(store(mine, other));
      const [report] = await one.import(apart);
      expect(report).toMatchObject({ created: [], left: [{ from: 'memories.json' }] });
      expect(report?.left[0]?.message).toContain(`project_id contains "${other}"`);
      await one.call('activate_project');
      const [path, text] = Object.entries(store(other))[1] ?? ['', ''];
      one.repo.write(path, text);
      const message = expect.stringContaining(`project ${other}; this one is`);
      expect(await one.import(one.repo.root)).toMatchObject([
        { created: [], left: [{ from: '.infinity', message }], commits: [] },
      ]);
    });

    it('is taken over from elsewhere, and told', async () => {
      const one = world();
      await one.call('activate_project');
      const [report] = await one.import(folder(store(other)));
      expect(report).toMatchObject({ created: [expect.any(String)], left: [] });
      expect(report?.notes[0]?.message).toContain(`project ${other}; this one is`);
      if (hasEntries) return;
      const fresh = world();
      expect((await fresh.import(folder(store(other))))[0]?.notes).toEqual([]);
    });
  });

  it('a SQLite database becomes records of all six types, with their links', async () => {
    const one = world();
    const source = join(import.meta.dirname, '../fixtures/graph/memory-bank.db');
    const [report] = await one.import(source);
    expect(report).toMatchObject({ format: 'memory-bank-db', left: [], notes: [] });
    expect(report?.created).toHaveLength(18);
    const feature = await one.call('get_feature_context', { slug: 'auth' });
    expect(feature.data).toMatchObject({
      feature: { id: 'feature00000', name: 'F 0', description: null },
      paths: [
        { path: 'src/auth.ts', use_when: ['editing sign-in', 'reading'] },
        { path: 'src/deep', type: 'directory', updated_at: '2026-02-03T04:05:06.000Z' },
      ],
      requirements: [{ text: 'Tokens expire', notes: ['after an hour'] }],
    });
    const objective = await one.call('get_objective_context', { slug: 'ship' });
    expect(objective.data).toMatchObject({
      objective: { status: 'in_progress', plan_file_path: 'plan.md' },
      tasks: [
        { text: 'Build', status: 'completed' },
        { text: 'Test', order: 1 },
      ],
      features: [{ slug: 'auth' }],
      tickets: [{ key: 'JIRA-1', title: 'One' }],
    });
    const long = await one.call('get_feature', { slug: 'f9' });
    expect(long.data).toMatchObject({
      // Rows of the same second are kept apart by milliseconds.
      feature: { description: 'é😀'.repeat(144), created_at: '2026-01-02T03:04:05.009Z' },
    });
    expect((await one.import(source))[0]).toMatchObject({ created: [], commits: [] });
  });

  it.skipIf(!corpus)('a SQLite database answers as the program that wrote it did', async () => {
    const one = world();
    const source = join(corpus ?? '', '_reference-outputs/seed000-amhuppert');
    const [report] = await one.import(source);
    expect(report).toMatchObject({ format: 'memory-bank-db', left: [], notes: [] });
    const dump = JSON.parse(readFileSync(join(source, 'tool-dump.json'), 'utf8'));
    for (const [tool, key] of [
      ['list_features', 'features'],
      ['list_paths', 'paths'],
      ['list_objectives', 'objectives'],
      ['list_tickets', 'tickets'],
    ] as const) {
      expect(timeless(await one.call(tool)), tool).toEqual(timeless(dump[key]));
    }
    expect((await one.import(source))[0]).toMatchObject({ created: [], commits: [] });
    const { data } = await one.call('list_features');
    expect(JSON.stringify(data)).toContain('2026-11-21T03:36:21.000Z');
  });

  it('banks keep their front matter byte for byte; the global ones go to the user', async () => {
    const one = world();
    const text = '---\n# mine\nversion:   3\nowner: Ada\n---\n# Project\r\n';
    const source = folder({
      'global/context.md': '# Context\n',
      'projects/my app/readme.md': text,
      'projects/my app/cache.json': '{}',
      'code/repo/doc/api.md': '# API\n',
    });
    const [report] = await one.import(source);
    expect(report).toMatchObject({ format: 'banks', kept: [] });
    expect(report?.left).toMatchObject([{ from: 'projects/my app/cache.json' }]);
    expect(report?.commits).toHaveLength(2);
    expect(one.repo.read('.memory-bank/banks/code/repo/doc/api.md')).toBe('# API\n');
    const { content } = await one.call('activate', { bank_type: 'project', bank_id: 'my app' });
    expect(content).toMatchObject({ 'readme.md': '# Project\r\n' });
    expect(readFileSync(join(one.home, 'banks/global/general/context.md'), 'utf8')).toBe(
      '# Context\n',
    );
    expect((await one.import(source))[0]).toMatchObject({ created: [], commits: [] });
  });

  it('rule files become rules of the bank; one that sets no mode is told', async () => {
    const one = world();
    const good = 'mode: code\ninstructions:\n  general:\n    - Be kind\n';
    const source = folder({ '.clinerules-code': good, '.clinerules-plain': 'Just be kind.\n' });
    const [dry] = await one.import(source, { dryRun: true });
    const [report] = await one.import(source);
    expect(dry?.notes).toEqual(report?.notes);
    expect(one.repo.read('.memory-bank/rules/code.yaml')).toBe(good);
    expect(report?.notes.map(({ from }) => from)).toEqual(['.memory-bank/rules/plain.yaml']);
    expect(await one.call('switch_mode', { mode: 'code' })).toMatchObject({ mode: 'code' });
  });
});

describe('other programs', () => {
  it('a knowledge graph: entities are entries, whatever else a line says is metadata', async () => {
    const one = world();
    const lines = [
      { type: 'entity', name: 'Ada', entityType: 'person', observations: ['wrote', 'thought'] },
      { name: 'Bob', entityType: 'person', observations: [{ text: 'x', timestamp: 't' }] },
      { type: 'relation', from: 'Ada', to: 'Bob', relationType: 'knows' },
    ];
    const source = folder({
      'memory.jsonl': `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"broken"\n[]\nno\n[1]\n`,
    });
    const [report] = await one.import(source);
    expect(report?.left).toEqual([
      { from: 'memory.jsonl, line 4', message: 'ends in the middle of a JSON value' },
      { from: 'memory.jsonl, line 6', message: 'is not valid JSON' },
      { from: 'memory.jsonl, line 7', message: 'is neither an entity nor a relation' },
    ]);
    const { entries } = await one.call('memory_read', { key: 'Ada' });
    expect(entries).toMatchObject([
      {
        category: 'project-learnings',
        value: 'wrote\nthought',
        metadata: {
          entityType: 'person',
          relations: [{ type: 'relation', to: 'Bob', relationType: 'knows' }],
        },
      },
    ]);
    expect(await one.import(source)).toMatchObject([{ created: [], kept: [], unchanged: 2 }]);
  });

  const ada = { name: 'Ada', entityType: 'person', observations: ['wrote "}{"'] };
  const bob = { name: 'Bob', entityType: 'person', observations: [] };
  const knows = { from: 'Ada', to: 'Bob', relationType: 'knows' };
  const [one, two, three] = [ada, bob, knows].map((value) => JSON.stringify(value));
  const graph = { entities: [ada, bob], relations: [knows] };
  const turned = { relations: [knows], entities: [ada, bob] };
  const cutOff = JSON.stringify(turned, undefined, 2).slice(0, -5);

  deep.each([
    ['values in one line', `${one}${two} ${three}\n`, []],
    ['a list', `[${one},\n${two},\n${three}]`, []],
    ['the answer of its tool', JSON.stringify(graph, undefined, 2), []],
    ['the answer of its tool in one line', JSON.stringify(graph), []],
    ['a byte order mark', `\ufeff${one}\r\n${two}\r\n${three}\r\n`, []],
    ['half a line at the end', `${one}\n${two}\n${three}\n{"name":"Eve","obs`, [4]],
    ['a line after half a line', `${one}\n${two}\n${three}${'{"name":"E{'}\n`, [3]],
    ['a value after half a value', `${one}\n${'{"name":"Eve","obs'}${two}\n${three}\n`, [2]],
    ['half a list', `[${one},${two},${three},{"name":"Ev`, [1]],
    ['half the answer of its tool', JSON.stringify(turned).slice(0, -2), [1]],
    ['half the answer of its tool, indented', cutOff, ['']],
  ])('a knowledge graph with %s is read as far as it can be', async (_, text, cut) => {
    const world_ = world();
    const [report] = await world_.import(folder({ 'memory.json': text }));
    const message = 'ends in the middle of a JSON value';
    expect(report?.left).toEqual(
      cut.map((line) => ({ from: `memory.json${line && `, line ${line}`}`, message })),
    );
    const { entries } = await world_.call('memory_read', { key: 'Ada' });
    expect(entries).toMatchObject([
      { value: 'wrote "}{"', metadata: { relations: [{ to: 'Bob', relationType: 'knows' }] } },
    ]);
    expect((await world_.call('memory_read', { key: 'Bob' })).entries).toHaveLength(1);
  });

  it('a knowledge graph by another name is known by its first line', async () => {
    const one = world();
    const entity = '{"name":"Ada","entityType":"person","observations":["wrote"]}';
    const source = folder({
      'mcp_memory_entries.jsonl': `${entity}\n`,
      'graph-2024': '{"type":"relation","from":"Ada","to":"Bob"}',
      'memory.jsonl': `${entity}\n`,
      'log.jsonl': '{"name":"Ada","event":"start"}\n',
      'later.jsonl': `{}\n${entity}\n`,
      'large.jsonl': `{"name":"Ada","observations":["${'x'.repeat(70_000)}"]}\n`,
      'deep/memory-2.jsonl': `${entity}\n`,
    });
    const reports = await one.import(source, { dryRun: true });
    expect(reports.map((report) => [report.format, report.source])).toEqual(
      ['memory.jsonl', 'graph-2024', 'mcp_memory_entries.jsonl'].map((name) => [
        'server-memory',
        join(source, name),
      ]),
    );
    const given = join(source, 'graph-2024');
    expect(await one.import(given, { dryRun: true })).toMatchObject([
      { format: 'server-memory', source: given },
    ]);
  });

  it('decision records keep their names, so that links between them hold', async () => {
    const one = world();
    const source = folder({
      'docs/adr/0001-use-it.md': '# 1. Use it\n\nSee [2](0002-stop.md)\n',
      'docs/adr/0002-stop.md': '# 2. Stop\n',
    });
    const [report] = await one.import(source);
    expect(report?.format).toBe('adr');
    expect(one.repo.read('.memory-bank/decisions/0001-use-it.md')).toContain('(0002-stop.md)');
  });
});

describe('what cannot be imported', () => {
  it.each([
    ['nothing', {}, 'not_found'],
    ['files of no format', { 'a.txt': 'x' }, 'not_found'],
  ])('%s', async (_, files, code) => {
    await expect(world().import(folder(files))).rejects.toMatchObject({ code });
  });

  it('a broken database is told', async () => {
    const one = world();
    const source = folder({
      'a.db': 'no database',
      'b.db': Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(200)]),
    });
    for (const name of ['a.db', 'b.db']) {
      const [report] = await one.import(join(source, name));
      expect(report).toMatchObject({ created: [], left: [{ from: name }] });
    }
    expect(one.commits).toBe(1);
  });

  it('an unknown format is refused by name', async () => {
    const refused = world().import(newFolder(), { from: 'nonsense' });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe.skipIf(!corpus)('the corpus', () => {
  const top = corpus ?? '/nowhere';
  const sources = corpus ? sourceFolders(top) : [];

  const readBack = async (name: string) => {
    const one = world();
    const before = fingerprint(join(top, name));
    const dry = await one.import(join(top, name), { dryRun: true });
    expect(one.repo.status()).toEqual([]);
    expect(one.commits).toBe(1);
    const reports = await one.import(join(top, name));
    expect(reports.length).toBeGreaterThan(0);
    expect(dry.map(outline)).toEqual(reports.map(outline));
    const made = reports.filter(({ created }) => created.length > 0).length;
    expect(one.commits).toBe(1 + made);
    for (const { format, kept, created, left } of reports) {
      expect(kept).toEqual([]);
      if (!['memory-bank', 'adr', 'rules'].includes(format)) continue;
      const told = new Set(left.map(({ from }) => from));
      const originals = new Set(
        filesBelow(join(top, name)).map((file) => readFileSync(file, 'utf8')),
      );
      for (const path of created) {
        // It also shows the notes of the progress.
        if (hasEntries && path === 'activeContext.md') continue;
        expect(originals.has(one.repo.read(`.memory-bank/${path}`)), path).toBe(true);
      }
      const markdown = filesBelow(join(top, name)).filter((file) => file.endsWith('.md'));
      if (format === 'memory-bank' && reports.length === 1) {
        expect(created.length + told.size).toBeGreaterThanOrEqual(markdown.length);
      }
    }
    expect((await one.import(join(top, name))).flatMap(({ created }) => created)).toEqual([]);
    expect(fingerprint(join(top, name))).toBe(before);
    expect(one.repo.git('status', '--porcelain')).toBe('');
  };
  test.each(sources.slice(0, 6))('%s reads back identical', { timeout: 60_000 }, readBack);
  deep.each(sources.slice(6))('%s reads back identical', { timeout: 60_000 }, readBack);
});

/** What a dry run has to foresee of a report. */
function outline({ source, format, created, replaced, unchanged, kept, left }: ImportReport) {
  return { source, format, created, replaced, unchanged, kept, left };
}

/** Every folder and file of the corpus that people would import. */
function sourceFolders(top: string): string[] {
  const found = new Set<string>();
  for (const file of filesBelow(top)) {
    const path = relative(top, file).replaceAll('\\', '/');
    const place =
      /^.*?(?:memory-bank|cline_docs|\.claude\/memory|\.infinity|docs?\/(?:adr|decisions))(?=\/)/.exec(
        path,
      )?.[0];
    if (place) found.add(place);
    else if (/\.(?:jsonl|db)$/.test(path)) found.add(path);
    else if (path.includes('/.clinerules-')) found.add(dirname(path));
  }
  return [...found].filter((path) => !/_at_|prompts?\.jsonl/.test(path)).sort();
}

/** An answer without its times, which the database keeps to the second only. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item) => (/_at$/.test(key) ? undefined : item)));
}

it('reports how far reading, checking and storing are, and never goes back', async () => {
  const one = world();
  const path = join(newFolder(), 'memory.jsonl');
  const lines = Array.from({ length: 120 }, (_, i) =>
    JSON.stringify({ type: 'entity', name: `entity ${i}`, entityType: 'thing', observations: [] }),
  );
  writeFileSync(path, lines.join('\n'));
  const steps = await one.steps(path);
  const messages = steps.map(({ message }) => message.replace(/ .*/, ''));
  expect(messages[0]).toBe('reading');
  expect(messages).toContain('checking');
  expect(messages.slice(-2)).toEqual(['storing', 'done']);
  const done = steps.map((step) => step.done);
  expect(done).toEqual(done.toSorted((a, b) => a - b));
  // A terminal clears the line of a step that is the last of its total.
  for (const step of steps.slice(0, -1)) expect(step.done).toBeLessThan(step.total);
});

/** A graph of so many entities, in a file of its own. */
function graphFile(count: number, last: string | Buffer = ''): string {
  const path = join(newFolder(), 'memory.jsonl');
  const lines = Array.from(
    { length: count },
    (_, i) =>
      `${JSON.stringify({ type: 'entity', name: `entity ${i}`, observations: ['a', 'b'] })}\n`,
  );
  writeFileSync(path, Buffer.concat([Buffer.from(lines.join('')), Buffer.from(last)]));
  return path;
}

describeDeep('a large graph', () => {
  it('is one commit, whose storing is reported in batches', async () => {
    const one = world();
    const before = one.commits;
    const steps = await one.steps(graphFile(1500));
    expect(one.commits).toBe(before + 1);
    const storing = steps.filter(({ message }) => /storing record \d/.test(message));
    expect(storing.length).toBeGreaterThan(3);
    const done = steps.map((step) => step.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });

  it('lets the event loop turn while it is read and compared', async () => {
    const one = world();
    const phases = new Set<string>();
    let current = '';
    const watch = setInterval(() => phases.add(current), 1);
    const progress = (_done: number, _total: number, message: string) => {
      current = message.replace(/ .*/, '');
    };
    const request = { path: graphFile(20_000), from: undefined, dryRun: true, overwrite: false };
    await importSources(one.app, one.session, request, { progress });
    clearInterval(watch);
    expect([...phases]).toEqual(expect.arrayContaining(['reading', 'checking', 'comparing']));
  });

  test.each([/^reading/, /^checking/, /^storing the/, /^storing record/])(
    'leaves nothing when it is cancelled at %s',
    async (phase) => {
      const one = world();
      const before = one.repo.git('rev-parse', 'HEAD');
      const cancel = new AbortController();
      const progress = (_done: number, _total: number, message: string) => {
        if (phase.test(message)) cancel.abort();
      };
      const request = { path: graphFile(1500), from: undefined, dryRun: false, overwrite: false };
      const options = { progress, signal: cancel.signal };
      await expect(importSources(one.app, one.session, request, options)).rejects.toThrow();
      expect(one.repo.git('rev-parse', 'HEAD')).toBe(before);
      expect(one.repo.git('status', '--porcelain')).toBe('');
      // An empty journal is one that has ended.
      const own = join(one.repo.root, '.git/memory-bank');
      const left = (existsSync(own) ? filesBelow(own) : []).filter((path) =>
        /\/(?:file|journal)[^/]*$/.test(path),
      );
      expect(left.filter((path) => statSync(path).size > 0)).toEqual([]);
    },
  );

  it('is not imported in part when a late line is not UTF-8', async () => {
    const one = world();
    const before = one.commits;
    const bad = Buffer.from('{"type":"entity","name":"\xff","observations":[]}\n', 'latin1');
    const [report] = await one.import(graphFile(9000, bad));
    expect(report).toMatchObject({ created: [], commits: [], left: [{ from: 'memory.jsonl' }] });
    expect(one.commits).toBe(before);
  });

  it('keeps characters and lines that two pieces of the file share', async () => {
    const one = world();
    const text = '\u{1f600}'.repeat(150_000);
    const path = join(newFolder(), 'memory.jsonl');
    const line = (name: string) => JSON.stringify({ name, observations: [text] });
    writeFileSync(path, ` ${line('x')}\n${line('y')}`);
    expect(await one.import(path)).toMatchObject([
      { left: [], created: [{}, {}].map(() => expect.any(String)) },
    ]);
    expect(await one.import(path)).toMatchObject([{ unchanged: 2 }]);
  });
});
