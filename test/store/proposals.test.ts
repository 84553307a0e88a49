import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/app/app.ts';
import type { ProposedEntry } from '../../src/core/memory/proposed-entry.ts';
import { Repo } from '../support/repo.ts';
import { startApp } from '../support/reviewed.ts';

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

const proposals = (outside: readonly { name: string; text: string }[] = []) =>
  app.run(app.connect(), 'propose', {}, ({ project }) => project.proposals(outside));

/** Commits files, and returns the proposals of a kind. */
async function found(
  kind: ProposedEntry['kind'],
  files: { readonly [path: string]: string },
): Promise<readonly ProposedEntry[]> {
  for (const [path, text] of Object.entries(files)) repo.write(path, text);
  repo.git('add', '.');
  repo.git('commit', '-q', '-m', 'Files');
  return (await proposals()).filter((one) => one.kind === kind);
}

const adr = (status: string, decision = 'We store jobs in SQLite, one file for each worker.') =>
  `# 7. Store jobs in SQLite\n\n## Status\n\n${status}\n\n## Context\n\nA second server is too much to run.\n\n## Decision\n\n${decision}\n\n## Consequences\n\nOne writer.\n`;

describe('of the memories that clients keep by themselves', () => {
  const noted = async (name: string, text: string) =>
    (await proposals([{ name, text }])).filter(({ kind }) => kind === 'client memory');

  test('a note of Claude Code is one entry with its reason; what is about the person is none', async () => {
    repo.write('src/login.ts', 'export const columns = 1;\n');
    repo.commitAll('Add the login');
    const note = (type: string) =>
      `---\nname: Login columns\ndescription: All columns\nmetadata:\n  type: ${type}\n---\n\nThe login in \`src/login.ts\` selects all columns of the user.\n\n**Why:** A page reads what it omits.\n\n**How to apply:** Ask the server for the state.\n`;
    expect(await noted('~/memory/login.md', note('project'))).toEqual([
      {
        kind: 'client memory',
        category: 'project-learnings',
        key: 'login-columns',
        value: 'The login in `src/login.ts` selects all columns of the user.',
        reason: 'A page reads what it omits.',
        source: '~/memory/login.md:1',
        evidence: ['src/login.ts'],
      },
    ]);
    expect((await noted('a.md', note('feedback')))[0]?.category).toBe('user-preferences');
    expect(await noted('a.md', note('user'))).toEqual([]);
    const index = '- [Login columns](login.md) — all columns of the user\n';
    expect(await noted('~/memory/MEMORY.md', index)).toEqual([]);
  });

  test('of the memory of Codex, the items that hold for later tasks are entries', async () => {
    repo.write('README.md', 'Shop\n');
    repo.commitAll('Begin');
    const text =
      '# Task Group: Release\napplies_to: cwd=/p\n\n## Task 1: Tag it\n\n### keywords\n\n- release, tags, versions, changes, packages\n\n## User preferences\n\n- take `pnpm`, not npm, for all scripts [Task 1]\n- the files are in /home/…/shop for now [Task 1]\n\n## Reusable knowledge\n\n- `pnpm build` writes to dist, which tests do not read [Task 1, Task 2]\n\n## Failures and how to do differently\n\n- Symptom: the tag is old. Cause: no version. Fix: run `pnpm version` first [Task 1][Task 2]\n';
    const found = await noted('~/.codex/memories/MEMORY.md', text);
    expect(found.map(({ category, value, source }) => [category, value, source])).toEqual([
      [
        'user-preferences',
        'take `pnpm`, not npm, for all scripts',
        '~/.codex/memories/MEMORY.md:12',
      ],
      [
        'project-learnings',
        '`pnpm build` writes to dist, which tests do not read',
        '~/.codex/memories/MEMORY.md:17',
      ],
      [
        'corrections',
        'Symptom: the tag is old. Cause: no version. Fix: run `pnpm version` first',
        '~/.codex/memories/MEMORY.md:21',
      ],
    ]);
  });
});

describe('of the decision records of a project', () => {
  test('those that hold are proposed, with their context and their file as evidence', async () => {
    expect(await found('decision record', { 'docs/adr/0007-jobs.md': adr('Accepted') })).toEqual([
      {
        kind: 'decision record',
        category: 'decisions',
        key: 'store-jobs-in-sqlite',
        value: 'Store jobs in SQLite: We store jobs in SQLite, one file for each worker.',
        reason: 'A second server is too much to run.',
        source: 'docs/adr/0007-jobs.md:13',
        evidence: ['docs/adr/0007-jobs.md'],
      },
    ]);
  });

  test('templates, and those that do not hold or say nothing, are not', async () => {
    const files = {
      '0001-proposed.md': adr('Proposed'),
      '0002-old.md': adr('Accepted\n\nSuperseded by [3](0003.md)'),
      '0003-rejected.md': `---\nstatus: rejected\n---\n${adr('')}`,
      '0004-empty.md': adr('Accepted', ''),
      '0005-filled.md': adr('Accepted', "The change that we're proposing or have agreed to do."),
      '0006-open.md': adr('Accepted', 'There are two main options, and both would work for us.'),
      'template.md': adr('Accepted'),
      'README.md': adr('Accepted'),
    };
    const below = Object.entries(files).map(([name, text]) => [`docs/decisions/${name}`, text]);
    expect(await found('decision record', Object.fromEntries(below))).toEqual([]);
  });

  test('those in other languages and forms are known', async () => {
    const madr = `# Nutze Postgres statt MySQL\n\n* Status: akzeptiert\n\n## Kontext\n\nWir brauchen JSON in der Datenbank.\n\n## Entscheidung\n\nWir nutzen Postgres für alle Dienste.\n`;
    const chinese =
      '# 使用 Postgres 数据库\n\n## 状态\n\n已接受\n\n## 背景\n\n需要 JSON 支持。\n\n## 决策\n\n所有服务都使用 Postgres 数据库。\n';
    const own = await found('decision record', { 'adr/1.md': madr, 'adr/2.md': chinese });
    expect(own.map(({ value }) => value)).toEqual([
      'Nutze Postgres statt MySQL: Wir nutzen Postgres für alle Dienste.',
      '使用 Postgres 数据库: 所有服务都使用 Postgres 数据库。',
    ]);
  });
});

test('a section "Decisions" of a document gives its items and headings', async () => {
  const text =
    '# X\n\n- no decision at all here, only a list\n\n## Design decisions\n\n- **No ORM**: queries are plain SQL in one folder\n- short\n\n### One binary\n\nEverything is linked into one binary for deployment.\n\n## Other\n\n- nothing to take from this list\n';
  const own = await found('decision section', { 'README.md': text, 'docs/blog.md': text });
  expect(own.map(({ value, source }) => [value, source])).toEqual([
    ['One binary: Everything is linked into one binary for deployment.', 'README.md:10'],
    ['No ORM: queries are plain SQL in one folder', 'README.md:7'],
  ]);
});

test('instructions for agents give their rules about the project, each once', async () => {
  const text =
    '<!-- memory-bank: begin -->\n- Never edit files of `.memory-bank/` by hand\n<!-- memory-bank: end -->\n# Rules\n\n## Style\n\n- Never use `any` in files below `src/`\n- This is never used in `src/`\n- You are always a helpful `assistant` in here\n- 🚫 Do not edit `schema.sql` by hand, run `make schema`\n- nothing that is a rule at all\n\n```\n- Never `copy` this from the code block here\n```\n';
  const own = await found('client memory', {
    'AGENTS.md': text,
    'CLAUDE.md': text,
    'x/y.md': text,
  });
  expect(own.map(({ value, source, category }) => [value, source, category])).toEqual([
    ['Never use `any` in files below `src/`', 'AGENTS.md:8', 'user-preferences'],
    ['Do not edit `schema.sql` by hand, run `make schema`', 'AGENTS.md:11', 'user-preferences'],
  ]);
  const outside = [
    { name: '~/.claude/memory/MEMORY.md', text: '- Always run `npm test` before a push to main\n' },
  ];
  const [, , private_] = (await proposals(outside)).filter(({ kind }) => kind === 'client memory');
  expect(private_).toMatchObject({ source: '~/.claude/memory/MEMORY.md:1', evidence: [] });
});

test('the scripts of a manifest are one entry, with the program that runs them', async () => {
  const scripts = {
    'test:unit': 'vitest unit',
    test: 'vitest',
    prepare: 'husky',
    lint: 'biome check',
  };
  const files = {
    'package.json': JSON.stringify({ scripts }),
    'pnpm-lock.yaml': '',
    'sub/package.json': JSON.stringify({ scripts }),
    Makefile: '.PHONY: build\n# Builds all of it\nbuild:\n\tgo build\nCC := gcc\nhelper:\n\ttrue\n',
    'deno.json': '{ broken',
  };
  expect((await found('script', files)).map(({ value }) => value)).toEqual([
    'Commands of this project (Makefile):\n- `make build`: `Builds all of it`',
    'Commands of this project (package.json):\n- `pnpm run test`: `vitest`\n- `pnpm run lint`: `biome check`\n- `pnpm run test:unit`: `vitest unit`',
  ]);
});

describe('of the commits of a project', () => {
  const commit = (text: string, message: string, path = 'ci.yaml') => {
    repo.write(path, text);
    repo.git('add', '.');
    repo.git('commit', '-q', '-m', message);
  };
  const decided = async () => (await proposals()).filter(({ kind }) => kind === 'commit');
  const because = 'Yarn is slow in our pipeline because it downloads every package again.';

  test('those that choose, give a reason and still hold are proposed', async () => {
    commit('run: yarn\n', 'Add a pipeline');
    commit(
      'run: pnpm\n',
      `build(ci): use pnpm instead of yarn (#12)\n\n${because}\n\nSigned-off-by: Ada`,
    );
    const oid = repo.git('rev-parse', 'HEAD').trim().slice(0, 12);
    expect(await decided()).toMatchObject([
      {
        key: 'use-pnpm-instead-of-yarn',
        value: `Use pnpm instead of yarn. ${because}`,
        source: expect.stringContaining(`commit ${oid} of `),
        evidence: ['ci.yaml'],
      },
    ]);
    // It holds no longer.
    commit('run: yarn\n', 'Something else');
    expect(await decided()).toEqual([]);
  });

  test('those without a reason, of programs, of a detail or taken back are not', async () => {
    commit('run: yarn\n', 'Add a pipeline');
    commit('run: pnpm\n', 'Use pnpm instead of yarn');
    commit('let a = 1\n', 'Add code', 'a.js');
    commit('const a = 1\n', `Use const instead of let\n\n${because}`, 'a.js');
    repo.git('config', 'user.name', 'renovate[bot]');
    commit('run: bun\n', `Use bun instead of pnpm\n\n${because}`);
    expect(await decided()).toEqual([]);
  });

  test('a revert says why it was made, unless the change was made again', async () => {
    commit('cache: true\n', 'Turn the cache on');
    commit(
      'cache: false\n',
      `Revert "Turn the cache on"\n\nThis reverts commit 1.\n\nThe jobs failed because two of them wrote one file.`,
    );
    expect(await decided()).toMatchObject([
      {
        value:
          'Tried and taken back: Turn the cache on. The jobs failed because two of them wrote one file.',
      },
    ]);
    commit('cache: true\n', 'Turn the cache on');
    expect(await decided()).toEqual([]);
  });

  test('a hostile message adds no lines, and takes no time', async () => {
    commit('run: yarn\n', 'Add a pipeline');
    const long = `${'because a '.repeat(3000)}\n${'((`['.repeat(2000)}`;
    commit(
      'run: pnpm\n',
      `Use pnpm instead of yarn\n\n\u202e${because}\u0007\n\nMemory-Confirmed: x\n\n${long}`,
    );
    const began = performance.now();
    const [one] = await decided();
    expect(one?.value).toBe(`Use pnpm instead of yarn. ${because}`);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('a shallow clone and a repository without a commit have only what is there', async () => {
    commit('run: yarn\n', 'Add a pipeline');
    commit('run: pnpm\n', `Use pnpm instead of yarn\n\n${because}`);
    const shallow = new Repo();
    shallow.git('init', '-q');
    const nothing = startApp(shallow);
    const of = (one: App) =>
      one.run(one.connect(), 'propose', {}, ({ project }) => project.proposals([]));
    expect(await of(nothing)).toEqual([]);
    await nothing.close();
    shallow.git('fetch', '-q', '--depth', '1', `file://${repo.root}`, 'main');
    shallow.git('checkout', '-q', '-b', 'main', 'FETCH_HEAD');
    const cut = startApp(shallow);
    expect(await of(cut)).toEqual([]);
    await cut.close();
    shallow.remove();
  });
});
