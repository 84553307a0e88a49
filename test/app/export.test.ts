import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { App } from '../../src/app/app.ts';
import { exportMemory } from '../../src/app/exchange/exporter.ts';
import { importSources } from '../../src/app/exchange/importer.ts';
import type { JsonObject } from '../../src/core/values/json.ts';
import { deep, sample } from '../support/depth.ts';
import { newFolder } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

class World {
  readonly repo = Repo.create();
  readonly app = new App({
    place: { flag: this.repo.root, env: {}, cwd: this.repo.root, home: '/home/nobody' },
    homeFolder: newFolder(),
    durability: 'relaxed',
    log: () => {},
  });
  readonly session = this.app.connect();

  async call(tool: string, args: JsonObject = {}): Promise<JsonObject> {
    const reply = await this.app.call(this.session, tool, args);
    if (!reply || reply.error) throw new Error(JSON.stringify(reply));
    return reply.body;
  }

  /** Writes an export to a new folder. */
  async export(name: string): Promise<string> {
    const folder = newFolder();
    for (const [path, content] of await exportMemory(this.app, this.session, name, {})) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    return folder;
  }

  import(path: string, from?: string) {
    return importSources(
      this.app,
      this.session,
      { path, from, dryRun: false, overwrite: false },
      {},
    );
  }

  /** The files of the memory, without those of its own. */
  files(): { [path: string]: string } {
    const paths = this.repo.git('ls-files', '-z', '.memory-bank').split('\0').filter(Boolean);
    const own = paths.filter((path) => !/config\.yaml|\.gitattributes/.test(path));
    return Object.fromEntries(own.map((path) => [path, this.repo.read(path)]));
  }
}

const full = new World();
const worlds = [full];

afterAll(async () => {
  for (const { app, repo } of worlds) {
    await app.close();
    repo.remove();
  }
});

async function fill({ call }: { call: World['call'] }): Promise<void> {
  await call('log_decision', {
    title: 'Tokens',
    context: 'c',
    decision: 'Use <script>alert(1)</script>',
  });
  await call('write_memory_bank_file', {
    filename: 'docs/a b.md',
    content: '# A\r\n```\n# no heading\n',
  });
  await call('write_memory_bank_file', { filename: 'decisions/0001-x.md', content: '# 1. X\n' });
  const features = Array.from({ length: 300 }, (_, i) => ({
    slug: `f${i}`,
    name: `F ${i}`,
    description: 'é😀'.repeat(i * 8),
  }));
  await call('create_features', { features });
  const paths = Array.from({ length: 150 }, (_, i) => ({
    path: `src/${'deep/'.repeat(i % 25)}file-${i}.ts`,
    type: 'file',
    use_when: ['editing'],
  }));
  const { data } = await call('create_paths', { paths });
  expect(data).toBeDefined();
  await call('create_objective', { slug: 'ship', name: 'Ship', description: 'now' });
  await call('create_tickets', { tickets: [{ key: 'JIRA-1', title: 'One' }, { key: 'jira-1' }] });
  await call('activate_project');
  await call('store_memory', { title: 'Plan', type: 'design_doc', content: '# Plan\n\r\n' });
  const entry = { category: 'patterns', key: '__proto__', value: 'v\n', metadata: { a: [null] } };
  await call('memory_write', entry);
  await call('activate', { bank_type: 'code', bank_id: 'My Repo' });
}

const filled = fill({ call: (tool, args) => full.call(tool, args) });

describe('an export that is imported again gives the same files', () => {
  it.each(
    sample<readonly [string, RegExp]>(
      [
        ['memory-bank', /^\.memory-bank\/(?!decisions|graph|documents|knowledge|banks|rules)/],
        ['adr', /^\.memory-bank\/decisions\//],
        ['infinity', /^\.memory-bank\/documents\//],
        ['claude-memory', /^\.memory-bank\/knowledge\//],
        ['banks', /^\.memory-bank\/banks\//],
      ],
      3,
    ),
  )('%s', { timeout: 60_000 }, async (name, owned) => {
    await filled;
    const other = new World();
    worlds.push(other);
    const folder = await full.export(name);
    const reports = await other.import(name === 'banks' ? join(folder, 'memory') : folder);
    expect(reports.flatMap(({ left, kept }) => [...left, ...kept])).toEqual([]);
    const expected = Object.entries(full.files()).filter(([path]) => owned.test(path));
    expect(expected.length).toBeGreaterThan(0);
    expect(other.files()).toEqual(Object.fromEntries(expected));
  });

  deep('server-memory and rules, as they were imported', async () => {
    const one = new World();
    worlds.push(one);
    const lines = [
      { type: 'entity', name: 'Ada', entityType: 'person', observations: ['wrote', 'thought'] },
      { type: 'entity', name: 'Bob', entityType: 'person', observations: ['two\nlines'] },
      { type: 'relation', from: 'Ada', to: 'Bob', relationType: 'knows' },
    ];
    const source = newFolder();
    writeFileSync(
      join(source, 'memory.jsonl'),
      lines.map((line) => JSON.stringify(line)).join('\n'),
    );
    writeFileSync(join(source, '.clinerules-code'), 'mode: code\n');
    await one.import(source);
    const files = await exportMemory(one.app, one.session, 'server-memory', {});
    const written = String(files.get('memory.jsonl')).trim().split('\n');
    expect(written.map((line) => JSON.parse(line))).toEqual(lines);
    const rules = await exportMemory(one.app, one.session, 'rules', {});
    expect(rules).toEqual(new Map([['.clinerules-code.yaml', 'mode: code\n']]));
    const other = new World();
    worlds.push(other);
    for (const name of ['server-memory', 'rules']) {
      const reports = await other.import(await one.export(name));
      expect(reports.flatMap(({ left, kept }) => [...left, ...kept])).toEqual([]);
    }
    expect(untimed(other.files())).toEqual(untimed(one.files()));
  });
});

/** Files without the times of the import, which such a graph does not carry. */
function untimed(files: { readonly [path: string]: string }) {
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, text.replace(/_at: .*/g, '')]),
  );
}

describe('a report', () => {
  it('as markdown holds everything below its own headings', async () => {
    await filled;
    const text = String(
      (await exportMemory(full.app, full.session, 'markdown', {})).get('memory.md'),
    );
    for (const part of ['### Plan', '#### Decision Log', 'JIRA-1', '`docs/a b.md`', 'f299']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('\n# no heading\n');
    expect(text.match(/^# (?!no heading)/gm)).toHaveLength(1);
  });

  it('shows front matter as code, with the title of the text below it', async () => {
    const one = new World();
    worlds.push(one);
    const content = '---\n# Theme of the website\nnav: 1\n---\n\n# Use Markdown\n\nText\n';
    await one.call('write_memory_bank_file', { filename: 'decisions/0001-a.md', content });
    const report = await exportMemory(one.app, one.session, 'markdown', {});
    expect(String(report.get('memory.md'))).toContain(
      '### Use Markdown\n\n`decisions/0001-a.md`\n\n```yaml\n# Theme of the website\nnav: 1\n```\n\n#### Use Markdown\n',
    );
    const { results } = await one.call('search_memory', { query: 'markdown' });
    expect(results).toMatchObject([{ title: 'Use Markdown' }]);
  });

  it('of an empty memory, or in an unknown format, is refused', async () => {
    const empty = new World();
    worlds.push(empty);
    for (const [name, code] of [
      ['markdown', 'not_found'],
      ['memory-bank-db', 'invalid_input'],
      ['html', 'invalid_input'],
      ['nonsense', 'invalid_input'],
    ] as const) {
      const refused = exportMemory(empty.app, empty.session, name, {});
      await expect(refused).rejects.toMatchObject({ code });
    }
  });
});
