import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { App } from '../../src/app/app.ts';
import { exportMemory } from '../../src/app/exchange/exporter.ts';
import { importSources } from '../../src/app/exchange/importer.ts';
import { readYaml } from '../../src/core/yaml/yaml.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { verifyMemory } from '../../src/toolsets/truth/verify-memory.ts';
import { deep, runs } from '../support/depth.ts';
import fc from '../support/fc.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';
import { linked } from '../support/windows.ts';

class World {
  readonly repo = Repo.create();
  readonly app = new App({
    place: { flag: this.repo.root, env: {}, cwd: this.repo.root, home: '/home/nobody' },
    homeFolder: newFolder(),
    durability: 'relaxed',
    log: () => {},
  });
  readonly session = this.app.connect();

  constructor() {
    worlds.push(this);
    this.repo.write('src/code.ts', 'a\nb\nc\n');
    this.commit('Begin');
    this.session.agent = 'tester/1.0';
  }

  async call(tool: string, args: object) {
    const reply = await this.app.call(this.session, tool, args);
    expect(reply?.error, reply?.text).toBeUndefined();
  }

  commit(message: string): void {
    this.repo.git('add', '-A');
    this.repo.git('commit', '-q', '--allow-empty', '-m', message);
  }

  export(): Promise<ReadonlyMap<string, string>> {
    return exportMemory(this.app, this.session, 'okf', {});
  }

  async import(files: Iterable<readonly [string, string]>, dryRun = false) {
    const path = newFolder();
    for (const [name, text] of files) write(path, name, text);
    return this.importFolder(path, dryRun);
  }

  async importFolder(path: string, dryRun = false) {
    const request = { path, from: 'okf', dryRun, overwrite: false };
    const [report] = await importSources(this.app, this.session, request, {});
    return report ?? expect.unreachable();
  }

  /** The files of the memory, without those of its own. */
  files(): { [path: string]: string } {
    const paths = this.repo.git('ls-files', '-z', '.memory-bank').split('\0').filter(Boolean);
    const own = paths.filter((path) => !/config\.yaml|\.gitattributes/.test(path));
    return Object.fromEntries(own.map((path) => [path, this.repo.read(path)]));
  }

  get commits(): number {
    return Number(this.repo.git('rev-list', '--count', 'HEAD'));
  }
}

const worlds: World[] = [];

afterAll(async () => {
  for (const { app, repo } of worlds) {
    await app.close();
    repo.remove();
  }
});

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** The front matter of a concept file. */
function keysOf(text: string | undefined) {
  const [, yaml = ''] = /^---\n([\s\S]*?\n)---\n/.exec(text ?? '') ?? [];
  return readYaml(yaml);
}

/** Fills a memory with a record of each type, by the tools, with texts that are hard to keep. */
async function fill(world: World, text: string): Promise<void> {
  const name = `x${text}`;
  const file = (path: string, content: string) =>
    world.call('write_memory_bank_file', { filename: path, content });
  await world.call('initialize_memory_bank', { path: world.repo.root });
  await world.call('log_decision', {
    title: 'One',
    context: name,
    decision: name,
    evidence: ['src/code.ts:1-2'],
  });
  await file('index.md', `# Index\n\n${text}`);
  await file('docs/log.md', `---\ntags: [a, b]\ntype: Own\n---\n${text}`);
  await file('plain.md', text);
  const memory = { category: 'patterns', key: name, value: name };
  await world.call('memory_write', {
    ...memory,
    reason: name,
    metadata: { list: [1, { x: name }] },
  });
  await world.call('memory_write', { ...memory, category: 'corrections', value: `${name}\n` });
  await world.call('activate_project', { project_path: world.repo.root });
  await world.call('store_memory', { title: name, type: 'rules', content: name });
  await world.call('create_features', { features: [{ slug: 'a', name, description: name }] });
  await world.call('create_paths', {
    paths: [{ path: 'src/x.ts', type: 'file', use_when: [name] }],
  });
  const requirements = [{ text: name, notes: [name] }, { text: name }];
  await world.call('create_requirements', { feature_slug: 'a', requirements });
  await world.call('create_objective', { slug: 'a', name, description: name });
  await world.call('create_tasks', { objective_slug: 'a', tasks: [{ text: name }] });
  await world.call('create_tickets', { tickets: [{ key: name, title: name }] });
  for (const [path, content] of [
    ['banks/code/b/api.md', `# Api\r\n\r\n${text}`],
    ['banks/code/b/front.md', `---\nversion: 2\nowner: Ada # by hand\n---\n${text}`],
    ['rules/own.yaml', 'mode: own # by hand\ninstructions:\n  general: []\n'],
    ['rules/other.json', '{"mode": "other"}'],
    ['rules/third.toml', 'mode = "third"\n'],
  ] as const) {
    world.repo.write(`.memory-bank/${path}`, content);
  }
  const added = '# by hand\ncolour: red\nlinks:\n  - https://example.org\n';
  for (const path of ['knowledge/patterns', 'graph/features', 'graph/tickets', 'documents']) {
    const all = world.repo.git('ls-files', '-z', `.memory-bank/${path}`).split('\0');
    const whole = all.find((one) => one !== '') ?? expect.unreachable();
    const before = world.repo.read(whole);
    world.repo.write(
      whole,
      before.replace(/^(---\n)?/, (open) => open + added),
    );
  }
  world.commit('By hand');
  await world.call('verify_memory', {
    path: 'graph/features/a.yaml',
    evidence: ['src/code.ts'],
    expires: '2030-01-31',
    status: 'open question',
  });
  await world.call('verify_memory', { path: 'plain.md', supersedes: ['docs/log.md'] });
}

const special = fc.constantFrom(
  '---\n',
  '`',
  '```\n',
  '# H\n',
  ': ',
  '\r\n',
  ' \n',
  '\t',
  'é😀',
  '"',
  "'",
);
const text = fc
  .array(fc.oneof(special, fc.string({ maxLength: 6 })), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''))
  .filter((made) => made.isWellFormed() && !/[<>=]{7}|\0/.test(made));

describe('a bundle of the Open Knowledge Format', () => {
  test('brings every type of record back as it was', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (made) => {
        const one = new World();
        await fill(one, made);
        const files = await one.export();
        const types = [...files.values()].map((file) => {
          const own: unknown = keysOf(file).memory_bank;
          return typeof own === 'object' && own && 'record' in own ? own.record : undefined;
        });
        const names = toolsets.flatMap(({ records }) => records.map(({ name }) => name));
        expect(new Set(types)).toEqual(new Set([undefined, ...names]));
        const other = new World();
        const report = await other.import(files);
        expect(report.left).toEqual([]);
        expect(report.kept).toEqual([]);
        expect(other.files()).toEqual(one.files());
        const before = other.commits;
        expect(await other.import(files)).toMatchObject({ created: [], replaced: [], kept: [] });
        expect(other.commits).toBe(before);
      }),
      { numRuns: runs(20) },
    );
  });

  test('says what a record rests on, who made and confirmed it, and whether it still counts', async () => {
    const world = new World();
    const note = (key: string, rest: object = {}) =>
      world.call('memory_write', { category: 'patterns', key, value: `It is ${key}.`, ...rest });
    await note('old');
    await note('new', { evidence: ['src/code.ts:1-2'] });
    const supersedes = ['knowledge/patterns/old.md'];
    const path = 'knowledge/patterns/new.md';
    await world.call('verify_memory', { path, supersedes, expires: '2030-12-31' });
    await world.call('verify_memory', { path });
    await world.call('log_decision', {
      title: 'T',
      context: 'C',
      decision: 'D',
      evidence: ['src/code.ts:1-2'],
    });
    world.repo.write('src/code.ts', 'a\nB\nc\n');
    await world.call('verify_memory', { path: 'decisionLog.md' });
    await world.call('create_features', { features: [{ slug: 'f', name: 'F' }] });
    const requirements = [{ text: 'R' }];
    await world.call('create_requirements', { feature_slug: 'f', requirements });
    const files = await world.export();
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    const by = 'tester/1.0';
    expect(keysOf(files.get('memory/knowledge/patterns/new.md'))).toMatchObject({
      type: 'Knowledge Entry',
      title: 'new',
      description: 'It is new.',
      tags: ['patterns'],
      sources: [{ resource: 'src/code.ts:1-2' }],
      generated: { by, at: time },
      verified: [{ by, at: time }],
      stale_after: '2031-01-01T00:00:00Z',
    });
    const old = keysOf(files.get('memory/knowledge/patterns/old.md'));
    expect(old).toMatchObject({ status: 'deprecated', generated: { by } });
    expect(old).not.toHaveProperty('verified');
    expect(keysOf(files.get('memory/decisionLog.md'))).toMatchObject({
      sources: [{ resource: 'src/code.ts:1-2' }],
      verified: [{ by, at: time }],
    });
    expect(files.get('memory/graph/requirements/f/r.md')).toContain(
      '- [Feature f](/memory/graph/features/f.md)',
    );
    const index = files.get('index.md');
    expect(index).toMatch(/^---\nokf_version: "0\.2"\n---\n\n# memory/);
    expect(index).toContain('* [new](/memory/knowledge/patterns/new.md) - It is new.');
    for (const [name, file] of files) {
      if (name !== 'index.md') expect(keysOf(file).type, name).toMatch(/\S/);
    }
  });

  test('names the person who accepted a change, and the agent that made it', async () => {
    const world = new World();
    await world.call('memory_write', { category: 'patterns', key: 'k', value: 'V' });
    const path = '.memory-bank/knowledge/patterns/k.md';
    world.repo.write(path, world.repo.read(path).replace('V', 'W'));
    const trailers = `Memory-Tool: memory_write\nMemory-Agent: other/2\nMemory-Reviewed: ${'a'.repeat(40)}`;
    world.commit(`memory: accept one\n\n${trailers}\n`);
    const keys = keysOf((await world.export()).get('memory/knowledge/patterns/k.md'));
    expect(keys.generated).toMatchObject({ by: 'other/2' });
    expect(keys.verified).toMatchObject([{ by: 'human:Ada Lovelace' }]);
  });

  test('names a person who writes and verifies by commands, and when the text was written', async () => {
    const world = new World();
    world.session.agent = 'memory-bank-cli/1.0.0';
    const [path, file] = ['knowledge/patterns/k.md', 'memory/knowledge/patterns/k.md'];
    await world.call('memory_write', {
      category: 'patterns',
      key: 'k',
      value: 'See src/code.ts:1.',
    });
    const exported = async () => keysOf((await world.export()).get(file));
    const { generated } = await exported();
    expect(generated).toMatchObject({ by: 'human:Ada Lovelace' });
    world.repo.write('src/code.ts', 'A\nb\nc\n');
    world.repo.git('commit', '-qam', 'Change');
    await world.app.run(world.session, 'verify', {}, (context) =>
      verifyMemory.call(context, { path }),
    );
    expect(await exported()).toMatchObject({ generated, verified: [{ by: 'human:Ada Lovelace' }] });
  });

  test('has the banks of the user, which go to those of the other user', async () => {
    const [world, other] = [new World(), new World()];
    const bank = { bank_type: 'global', bank_id: 'g', target_file: 'a.md' };
    await world.call('activate', { bank_type: 'global', bank_id: 'g' });
    await world.call('update', { ...bank, operation: 'append', content: '# A\n\nText.' });
    const files = await world.export();
    expect([...files.keys()]).toContain('memory/banks/global/g/a.md');
    expect((await other.import(files)).created).toContain('banks/global/g/a.md');
    expect(other.files()).toEqual({});
    const again = await other.export();
    expect(again.get('memory/banks/global/g/a.md')).toBe(files.get('memory/banks/global/g/a.md'));
  });

  test('keeps the keys and texts that another program has added', async () => {
    const world = new World();
    await world.call('memory_write', { category: 'patterns', key: 'k', value: 'V' });
    await world.call('create_features', { features: [{ slug: 'f', name: 'F' }] });
    const files = [...(await world.export())].map(([name, text]) => {
      const added = text.replace(
        /^---\n/,
        '---\nx_owner: Ada\nexpires: "2020-01-01"\ncreated_at: other\n',
      );
      return [name, name.endsWith('/k.md') ? `${added} More.` : added] as const;
    });
    const other = new World();
    await other.import(files.filter(([name]) => name !== 'index.md'));
    const { 'knowledge/patterns/k.md': note, 'graph/features/f.yaml': feature } =
      Object.fromEntries(
        Object.entries(other.files()).map(([name, text]) => [
          name.replace('.memory-bank/', ''),
          text,
        ]),
      );
    expect(note).toMatch(/^x_owner: Ada$/m);
    expect(note).toMatch(/---\nV\n More\.$/);
    expect(feature).toMatch(/^x_owner: Ada$/m);
    for (const text of [note, feature]) expect(text).not.toMatch(/expires|other/);
    for (const name of ['memory/knowledge/patterns/k.md', 'memory/graph/features/f.md']) {
      expect(keysOf((await other.export()).get(name))).toMatchObject({ x_owner: 'Ada' });
    }
  });

  test('of another program is kept file by file, with its last day', async () => {
    const table =
      '---\ntype: Table # a comment\ntitle: Orders\nsources:\n  - { id: a, resource: https://example.org }\nverified: { by: human:ada, at: 2026-01-01T00:00:00Z }\n---\n\n# Schema\r\n\nSee [x](/x.md).';
    const files = new Map([
      ['tables/orders.md', table],
      ['tables/index.md', '# Tables\n'],
      ['log.md', '# Log\n\n## 2026-01-01\n* **Creation**: all.\n'],
      ['stale.md', '---\ntype: Metric\nstale_after: 2026-03-01\n---\nM\n'],
      ['instant.md', '---\ntype: Metric\nstale_after: 2026-03-01T00:00:00Z\n---\nM\n'],
      [
        'old.md',
        '---\ntype: Metric\nstatus: deprecated\ngenerated: { by: a/1, at: 2026-02-01T10:00:00Z }\n---\nO\n',
      ],
    ]);
    const world = new World();
    const other: [string, string][] = [
      ['index.md', '---\nokf_version: "0.2"\n---\n'],
      ['references/run.py', 'print(1)\n'],
      ['bare.md', '# No front matter\n'],
      ['untyped.md', '---\ntitle: T\n---\n'],
    ];
    const planned = await world.import([...files, ...other], true);
    expect(planned).toMatchObject({ commits: [] });
    expect(world.files()).toEqual({});
    const before = world.commits;
    const report = await world.import([...files, ...other]);
    expect(world.commits).toBe(before + 1);
    expect([...planned.created].sort()).toEqual([...report.created].sort());
    expect(report.left.map(({ from }) => from).sort()).toEqual([
      'bare.md',
      'references/run.py',
      'untyped.md',
    ]);
    const kept = world.files();
    expect(kept['.memory-bank/okf/tables/orders.md']).toBe(table);
    expect(kept['.memory-bank/okf/instant.md']).toContain('expires: "2026-02-28"\n');
    expect(kept['.memory-bank/okf/stale.md']).toContain('expires: "2026-02-28"\n');
    expect(kept['.memory-bank/okf/old.md']).toContain('expires: "2026-02-01"\n');
    const exported = await world.export();
    for (const [name, text] of files) expect(exported.get(name), name).toBe(text);
    await world.call('verify_memory', { path: 'okf/tables/orders.md', evidence: ['src/code.ts'] });
    const again = await world.export();
    expect(keysOf(again.get('tables/orders.md'))).toMatchObject({
      type: 'Table',
      sources: [{ id: 'a' }, { resource: 'src/code.ts' }],
    });
    await world.call('verify_memory', { path: 'okf/log.md', evidence: ['src/code.ts'] });
    world.repo.write('.memory-bank/okf/memory/okf/log-2.md', '---\ntype: X\n---\n');
    world.commit('Add a file');
    const third = new World();
    const all = await world.export();
    expect(all.get('log.md')).toBeUndefined();
    expect(await third.import(all)).toMatchObject({ left: [] });
    expect(third.files()).toEqual(world.files());
  });

  test('that is hostile writes nothing outside, and the rest is imported', async () => {
    const own = (path: string, record = 'bank-file') =>
      `---\ntype: T\nmemory_bank:\n  record: ${record}\n  path: ${JSON.stringify(path)}\n---\nX\n`;
    const deep = `---\ntype: T\nx: ${'['.repeat(5000)}\n---\n`;
    const bomb = `---\ntype: T\na: &a [x, x]\n${Array.from({ length: 40 }, (_, i) => `b${i}: &b${i} [*${i ? `b${i - 1}` : 'a'}, *${i ? `b${i - 1}` : 'a'}]`).join('\n')}\n---\n`;
    const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
    const world = new World();
    const files: [string, string][] = [
      ['a.md', own('../../escape.md')],
      ['b.md', own('/etc/escape.md')],
      ['c.md', own('banks/../../x.md', 'bank-document')],
      ['d.md', own('rules/../config.yaml', 'rule-file')],
      ['e.md', own('.git/hooks.md')],
      ['f.md', own('config.yaml')],
      ['g.md', own('x.md', 'feature')],
      ['h.md', own('x.md', '__proto__')],
      ['deep.md', deep],
      ['bomb.md', bomb],
      ['large.md', `---\ntype: T\n---\n${'x'.repeat(5 * 1024 * 1024)}`],
      ['wide.md', `---\ntype: T\nx: ${'y'.repeat(1024 * 1024)}\n---\n`],
      ['secret.md', `---\ntype: T\n---\ntoken: ${secret}\n`],
      ['ok/Same.md', '---\ntype: T\n---\n1\n'],
      ['ok/same.md', '---\ntype: T\n---\n2\n'],
    ];
    const start = Date.now();
    const report = await world.import(files);
    expect(Date.now() - start).toBeLessThan(60_000);
    const left = new Set(report.left.map(({ from }) => from));
    const refused = files.slice(0, 13).map(([name]) => name);
    for (const name of refused) expect(left, name).toContain(name);
    expect(report.left.find(({ from }) => /same/i.test(from))?.message).toContain('letter case');
    expect(report.created).toHaveLength(1);
    expect(Object.keys(world.files())).toEqual([`.memory-bank/${report.created[0]}`]);
    expect(JSON.stringify(report)).not.toContain(secret);
    expect(world.repo.git('status', '--porcelain').trim()).toBe('');
  });

  deep('has records of any size', async () => {
    const world = new World();
    const ticks = '` '.repeat(500_000);
    const wide = `extra: ${'y'.repeat(1024 * 1024 - 1000)}\n`;
    await world.call('memory_write', { category: 'patterns', key: 'wide', value: 'V' });
    await world.call('create_tickets', { tickets: [{ key: 'T', description: 'D' }] });
    const note = '.memory-bank/knowledge/patterns/wide.md';
    const ticket = Object.keys(world.files()).find((path) => path.includes('/tickets/')) ?? '';
    world.repo.write(ticket, world.repo.read(ticket) + wide);
    const written = world.repo.read(note).replace('---\n', `---\n${wide}`);
    world.repo.write(note, written + 'z'.repeat(900_000));
    world.commit('By hand');
    await world.call('write_memory_bank_file', { filename: 'ticks.md', content: ticks });
    const other = new World();
    expect(await other.import(await world.export())).toMatchObject({ left: [], kept: [] });
    expect(other.files()).toEqual(world.files());
  });

  linked('does not follow links', async () => {
    const world = new World();
    const [folder, outside] = [newFolder(), newFolder()];
    write(outside, 'x.md', '---\ntype: T\n---\nSecret\n');
    write(folder, 'y.md', '---\ntype: T\n---\nY\n');
    symlinkSync(join(outside, 'x.md'), join(folder, 'x.md'));
    symlinkSync(outside, join(folder, 'all'));
    expect((await world.importFolder(folder)).created).toEqual(['okf/y.md']);
  });
});
