import { beforeEach, describe, expect, it } from 'vitest';
import { Session } from '../../../src/core/memory/session.ts';
import { MemoryError } from '../../../src/core/values/error.ts';
import { contentBudget } from '../../../src/toolsets/banks/budget.ts';
import { bytesOf } from '../../../src/toolsets/banks/summary.ts';
import { banks } from '../../../src/toolsets/banks/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { deep } from '../../support/depth.ts';
import { MemoryStore } from '../../support/memory-store.ts';

let context: TestContext;
const repo = { bank_type: 'code', bank_id: 'my-repo' };

beforeEach(() => {
  context = new TestContext(banks);
});

async function call(name: string, args: object = {}) {
  return callTool(banks, context, name, args);
}

async function good(name: string, args: object = {}) {
  const { body, isError } = await call(name, args);
  expect(isError, JSON.stringify(body)).toBe(false);
  return body;
}

async function code(name: string, args: object): Promise<unknown> {
  const { body, isError } = await call(name, args);
  expect(isError, JSON.stringify(body)).toBe(true);
  expect(body).toEqual({
    status: 'error',
    error: { code: expect.any(String), message: expect.stringMatching(/\S/) },
  });
  return Object(body.error).code;
}

function body(store: MemoryStore, path: string): string | undefined {
  return banks.records[0]?.codec.decode(store.files.get(path) ?? '', path).body;
}

describe('activate', () => {
  it.each([
    ['global', 'general', 'homeStore', ['context.md', 'preferences.md', 'references.md']],
    [
      'project',
      'project_x',
      'store',
      ['doc/architecture.md', 'doc/design.md', 'doc/progress.md', 'readme.md', 'tasks.md'],
    ],
    [
      'code',
      'project_x_repo',
      'store',
      [
        'doc/api.md',
        'doc/architecture.md',
        'doc/design.md',
        'readme.md',
        'snippets.md',
        'structure.md',
      ],
    ],
  ] as const)('makes a %s bank in one commit', async (type, id, place, files) => {
    const answer = await good('activate', { bank_type: type, bank_id: id });
    expect(answer).toMatchObject({
      status: 'success',
      bank_info: { type, id, files, last_updated: '2026-01-01T00:00:00.001Z' },
      custom_instructions: { directives: expect.any(Array), prompts: expect.any(Array) },
    });
    expect(Object.keys(Object(answer.content))).toEqual(files);
    const folder = type === 'project' ? 'projects' : type;
    expect(context[place].commits.map(({ subject, paths }) => ({ subject, paths }))).toEqual([
      {
        subject: `create ${type} bank "${id}"`,
        paths: files.map((file) => `banks/${folder}/${id}/${file}`),
      },
    ]);
    expect(context[place === 'homeStore' ? 'store' : 'homeStore'].commits).toEqual([]);
  });

  it('keeps the front matter out of the content', async () => {
    const answer = await good('activate', repo);
    expect(Object(answer.content)['doc/design.md']).toBe(
      '# Design\n\n## Patterns\n\n## Error handling\n\n## Testing\n\n## Trade-offs\n',
    );
    expect(context.store.files.get('banks/code/my-repo/doc/design.md')).toMatch(
      /^---\nlast_updated: .*2026-01-01T00:00:00\.001Z.*\nversion: 1\nrelevance_score: 0\.5\n---\n/,
    );
  });

  it('changes nothing the second time', async () => {
    const first = await good('activate', repo);
    const files = new Map(context.store.files);
    expect(await good('activate', repo)).toEqual(first);
    expect(context.store.files).toEqual(files);
    expect(context.store.commits).toHaveLength(1);
  });

  it('serves a bank that a person made, without adding to it', async () => {
    context.store.files.set('banks/code/MyRepo/notes.md', '---\n\nA rule, then text.\n');
    const answer = await good('activate', { bank_type: 'code', bank_id: 'MyRepo' });
    expect(answer).toMatchObject({
      bank_info: { files: ['notes.md'], last_updated: null },
      content: { 'notes.md': '---\n\nA rule, then text.\n' },
    });
    expect(context.store.commits).toEqual([]);
  });

  it('keeps ids apart that differ in case only, in folders with readable names', async () => {
    const ids = ['JIRA-1', 'jira-1', 'con', 'Prüfung: 日本語 %2e%2e'];
    for (const id of [...ids, ...ids]) {
      await good('activate', { bank_type: 'project', bank_id: id });
    }
    const { projects } = await good('list', { bank_type: 'project' });
    expect(Object(projects).map((bank: { id: string }) => bank.id)).toEqual(
      expect.arrayContaining(ids),
    );
    const folders = new Set([...context.store.files.keys()].map((path) => path.split('/')[2]));
    expect([...folders].sort()).toEqual([
      'jira-1',
      expect.stringMatching(/^jira-1-[0-9a-f]{6}$/),
      'prüfung-日本語-2e-2e',
      'untitled-con',
    ]);
    expect(context.store.commits).toHaveLength(4);
  });

  it('finds a bank in the folder of an earlier version', async () => {
    const path = 'banks/code/MyRepo~l/notes.md';
    context.store.files.set(path, '---\nbank: MyRepo\n---\nText.\n');
    const answer = await good('activate', { bank_type: 'code', bank_id: 'MyRepo' });
    expect(answer).toMatchObject({ bank_info: { files: ['notes.md'] } });
    expect(context.store.commits).toEqual([]);
  });

  it('tells where the code stands and which documents to distrust', async () => {
    await good('activate', repo);
    await good('update', {
      ...repo,
      target_file: 'doc/api.md',
      operation: 'append',
      content: 'Tokens are checked in `src/auth.ts`.',
    });
    context.project.change = { oid: 'a'.repeat(40), at: '2026-01-01T00:00:00Z' };
    context.project.moved = {
      commits: 3,
      files: [
        'src/auth.ts',
        ...Array.from({ length: 99 }, (_, i) => `src/${'f'.repeat(50)}${i}.ts`),
      ],
      truncated: false,
    };
    const answer = await good('activate', repo);
    expect(answer.git).toMatchObject({
      branch: 'main',
      head: '1'.repeat(40),
      moved: { commits: 3, files_changed: 100, truncated: false },
      doubtful: ['doc/api.md'],
    });
    expect(Object(answer.git).moved.files).toHaveLength(33);
    expect(JSON.stringify(answer.custom_instructions)).toContain('moved by 3 commits');
  });

  it('counts the names for which there is no room', async () => {
    await good('activate', repo);
    context.project.change = { oid: 'a'.repeat(40), at: '2026-01-01T00:00:00Z' };
    context.project.moved = { commits: 1, files: ['src/auth.ts'], truncated: false };
    for (let i = 0; i < 8; i++) {
      const path = `banks/code/my-repo/${'d'.repeat(190)}/${i}.md`;
      context.store.files.set(path, 'See src/auth.ts.\n');
      context.store.files.set(path.replace('.md', '-broken.md'), '---\nversion: [\n---\n');
    }
    const { git } = await good('activate', repo);
    expect(Object(git).doubtful).toHaveLength(5);
    expect(Object(git).more_doubtful).toBe(3);
    const merge_files = Array.from({ length: 9 }, (_, i) => `${'m'.repeat(200)}${i}`);
    const { bank_info } = await good('swap', { ...repo, merge_files });
    const { missing, more_missing, damaged, more_damaged } = Object(bank_info);
    expect(missing.length + more_missing).toBe(9);
    expect(damaged.length + more_damaged).toBe(8);
  });

  it('tells nothing of code with a global bank', async () => {
    expect(await good('activate', { bank_type: 'global', bank_id: 'general' })).not.toHaveProperty(
      'git',
    );
  });

  it('names a damaged document and serves the others', async () => {
    await good('activate', repo);
    const damaged = '---\n<<<<<<< ours\nversion: 1\n---\ntext\n=======\n>>>>>>> theirs\n';
    context.store.files.set('banks/code/my-repo/doc/api.md', damaged);
    const answer = await good('activate', repo);
    expect(answer.bank_info).toMatchObject({ damaged: [expect.stringContaining('doc/api.md')] });
    expect(Object.keys(Object(answer.content))).toHaveLength(5);
    expect(
      await code('update', {
        ...repo,
        target_file: 'doc/api.md',
        operation: 'replace',
        content: 'x',
      }),
    ).toBe('conflict');
    expect(context.store.files.get('banks/code/my-repo/doc/api.md')).toBe(damaged);
  });
});

describe('sources of a code bank', () => {
  const readme = 'banks/code/my-repo/readme.md';

  it('come with the content, marked, when the repository has them', async () => {
    context.project.files.set('README.md', '# The repository\n');
    const answer = await good('activate', repo);
    expect(Object(answer.content)['source:README.md']).toBe('# The repository\n');
    const single = await good('swap', { ...repo, merge_files: ['source:README.md'] });
    expect(single.content).toEqual({ 'source:README.md': '# The repository\n' });
    expect(body(context.store, readme)).toContain('## Sources\n\n- `README.md`\n');
  });

  it('are added by an update, and told when they are not there or not allowed', async () => {
    context.project.files.set('docs/a b.md', 'A and B');
    await good('activate', repo);
    await good('update', {
      ...repo,
      target_file: 'readme.md',
      operation: 'insert',
      position: 'Sources',
      content: '- [How](docs/a b.md)\n- `gone.md`\n- `../secret.md`\n- `.env`',
    });
    const answer = await good('activate', repo);
    expect(Object(answer.content)['source:docs/a b.md']).toBe('A and B');
    expect(Object(answer.bank_info).missing).toEqual([
      'source:gone.md',
      'source:../secret.md',
      'source:.env',
    ]);
  });

  it('are 20 of those that exist; what is not read is told with the reason', async () => {
    const { readFile } = context.project;
    context.project.readFile = async (path) => {
      if (path === 'huge.md') throw new MemoryError('too_large', 'It is large.');
      return readFile.call(context.project, path);
    };
    await good('activate', repo);
    const names = Array.from({ length: 22 }, (_, i) => `s${i}.md`);
    for (const name of names) context.project.files.set(name, name);
    const listed = [...Array.from({ length: 25 }, (_, i) => `gone${i}.md`), 'huge.md', ...names];
    const content = listed.map((name) => `- \`${name}\``).join('\n');
    const change = { target_file: 'readme.md', operation: 'insert', position: 'Sources', content };
    await good('update', { ...repo, ...change });
    const answer = await good('activate', repo);
    const given = Object.keys(Object(answer.content)).filter((name) => name.startsWith('source:'));
    expect(given.sort()).toEqual(
      names
        .slice(0, 20)
        .map((name) => `source:${name}`)
        .sort(),
    );
    expect(Object(answer.bank_info).missing).toHaveLength(25);
    expect(Object(answer.bank_info).unread).toEqual([
      'source:huge.md: it is larger than 256 KiB',
      'source:s20.md: the limit of 20 files is reached',
      'source:s21.md: the limit of 20 files is reached',
    ]);
  });

  it('are read-only', async () => {
    await good('activate', repo);
    expect(
      await code('update', {
        ...repo,
        target_file: 'source:README.md',
        operation: 'append',
        content: 'x',
      }),
    ).toBe('invalid_request');
  });
});

describe('swap', () => {
  it('refuses a bank that does not exist, and makes none', async () => {
    await good('activate', repo);
    expect(await code('swap', { bank_type: 'code', bank_id: 'my-rep' })).toBe('bank_not_found');
    expect(context.store.commits).toHaveLength(1);
    expect((await good('list')).code).toMatchObject([{ id: 'my-repo', active: true }]);
  });

  it('makes the bank the active one', async () => {
    await good('activate', repo);
    await good('activate', { bank_type: 'global', bank_id: 'general' });
    expect(await good('swap', repo)).toMatchObject({ status: 'success', bank_info: repoInfo });
    const { global, code: codes } = await good('list');
    expect(global).not.toMatchObject([{ active: true }]);
    expect(codes).toMatchObject([{ id: 'my-repo', active: true }]);
  });

  const repoInfo = { type: 'code', id: 'my-repo' };

  it('reads a section of a document in the form that a search names it', async () => {
    await good('activate', repo);
    const content = '# API\n\n## Errors\n\n### Codes\n\n404\n\nOther\n-----\n\nrest\n';
    const target = { target_file: 'doc/api.md', operation: 'replace' };
    await good('update', { ...repo, ...target, content });
    const names = ['doc/api.md#API > Errors > Codes', 'doc/api.md#other', 'doc/api.md#None'];
    const answer = await good('swap', { ...repo, merge_files: names });
    expect(answer).toMatchObject({
      content: {
        'doc/api.md#API > Errors > Codes': '### Codes\n\n404\n\n',
        'doc/api.md#other': 'Other\n-----\n\nrest\n',
      },
      bank_info: { missing: ['doc/api.md#None'] },
    });
  });

  it('with merge_files gives those only, and reports the ones it does not know', async () => {
    await good('activate', repo);
    const answer = await good('swap', {
      ...repo,
      merge_files: ['doc/api.md', 'nope.md', '../../../etc/passwd'],
    });
    expect(answer).toMatchObject({
      bank_info: { files: ['doc/api.md'], missing: ['nope.md', '../../../etc/passwd'] },
    });
    expect(Object.keys(Object(answer.content))).toEqual(['doc/api.md']);
    expect(context.store.commits).toHaveLength(1);
  });

  it('temporary: updates are skipped in this session until the bank is activated', async () => {
    await good('activate', repo);
    const note = { ...repo, target_file: 'snippets.md', operation: 'append', content: 'x' };
    const answer = await good('swap', { ...repo, temporary: true });
    expect(answer.bank_info).toMatchObject({ temporary: true });
    expect(answer.custom_instructions).toMatchObject({ directives: [] });
    expect(await good('update', note)).toMatchObject({
      status: 'skipped',
      cache_updated: false,
      cache_optimized: false,
      verification: '',
    });
    expect(context.store.commits).toHaveLength(1);

    const mine = context.session;
    context.session = new Session(() => '01OTHER');
    expect(await good('update', note)).toMatchObject({ status: 'success' });
    context.session = mine;
    expect(await good('update', note)).toMatchObject({ status: 'skipped' });

    await good('swap', repo);
    expect(await good('update', note)).toMatchObject({ status: 'success' });
    await good('swap', { ...repo, temporary: true });
    await good('activate', repo);
    expect(await good('update', note)).toMatchObject({ status: 'success' });
  });
});

describe('list', () => {
  it('has all three keys, even when there is nothing', async () => {
    expect(await good('list')).toEqual({ global: [], projects: [], code: [] });
    expect(context.homeStore.kept.size + context.store.kept.size).toBe(0);
  });

  it('tells the last use without a commit, and describes a bank in its own words', async () => {
    await good('activate', repo);
    await good('activate', { bank_type: 'code', bank_id: 'other' });
    await good('update', {
      ...repo,
      target_file: 'readme.md',
      operation: 'insert',
      position: 'Purpose',
      content: 'Parses invoices. Nothing else.',
    });
    const commits = context.store.commits.length;
    await good('swap', repo);
    const { code: codes } = await good('list', { bank_type: 'code' });
    expect(codes).toEqual([
      {
        id: 'my-repo',
        last_used: expect.stringMatching(/^2026-01-01T/),
        description: 'Parses invoices.',
        active: true,
      },
      { id: 'other', last_used: expect.any(String), description: 'Memory of a codebase' },
    ]);
    expect(context.store.commits).toHaveLength(commits);
  });

  it('takes one type only when asked to', async () => {
    expect(await good('list', { bank_type: 'project' })).toEqual({ projects: [] });
  });
});

describe('update', () => {
  const note = { ...repo, target_file: 'doc/design.md', operation: 'append', content: 'New.' };

  it('answers in the shape of the seed and commits with the proof in the message', async () => {
    await good('activate', repo);
    expect(
      await good('update', {
        ...note,
        trigger_type: 'commit',
        conversation_id: 'conv-7',
        update_count: 4,
      }),
    ).toEqual({
      status: 'success',
      updated_file: 'doc/design.md',
      operation: 'append',
      cache_updated: true,
      cache_optimized: false,
      verification: '// Update #4 for conversation conv-7',
      next_actions: [],
    });
    expect(context.store.commits.at(-1)).toEqual({
      subject: 'update doc/design.md of code bank "my-repo"',
      reason: '// Update #4 for conversation conv-7',
      trailers: { Trigger: 'commit' },
      paths: ['banks/code/my-repo/doc/design.md'],
    });
    expect(body(context.store, 'banks/code/my-repo/doc/design.md')).not.toContain('Update #');
  });

  it('counts the updates of each conversation by itself', async () => {
    await good('activate', repo);
    const proofs = [];
    for (const [i, conversation_id] of ['a', 'b', 'a', undefined].entries()) {
      const content = `Note ${i}`;
      proofs.push((await good('update', { ...note, content, conversation_id })).verification);
    }
    expect(proofs).toEqual([
      '// Update #1 for conversation a',
      '// Update #1 for conversation b',
      '// Update #2 for conversation a',
      '// Update #1 for conversation 01TEST',
    ]);
  });

  it('raises version, time and relevance of the document, and of no other', async () => {
    await good('activate', repo);
    const before = new Map(context.store.files);
    await good('update', { ...note, trigger_type: 'architecture' });
    const path = 'banks/code/my-repo/doc/design.md';
    expect(context.store.files.get(path)).toContain('version: 2\nrelevance_score: 0.6\n---\n');
    before.delete(path);
    for (const [other, text] of before) expect(context.store.files.get(other)).toBe(text);
  });

  it('makes no commit of an edit that changes nothing', async () => {
    await good('activate', repo);
    await good('update', { ...note, operation: 'replace', content: 'Same.\n' });
    const commits = context.store.commits.length;
    expect(
      await good('update', { ...note, operation: 'replace', content: 'Same.\n' }),
    ).toMatchObject({ status: 'success', cache_updated: false });
    expect(context.store.commits).toHaveLength(commits);
  });

  it.each(['', '\n'])('appends nothing for %j: no commit', async (content) => {
    await good('activate', repo);
    context.store.files.set('banks/code/my-repo/empty.md', '');
    const files = new Map(context.store.files);
    for (const target_file of ['empty.md', 'doc/design.md']) {
      const answer = await good('update', { ...note, target_file, content });
      expect(answer).toMatchObject({ status: 'success', cache_updated: false });
    }
    expect(context.store.files).toEqual(files);
    expect(context.store.commits).toHaveLength(1);
  });

  it('takes the text as given, but for blank lines around it', async () => {
    await good('activate', repo);
    await good('update', { ...note, operation: 'replace', content: '# D\n\n## A\n\n- a\n' });
    const inserted = { ...note, operation: 'insert', position: 'A' };
    await good('update', { ...inserted, content: '  - nested\n' });
    for (const content of ['    code\n', '\nText\n\n']) await good('update', { ...note, content });
    expect(body(context.store, 'banks/code/my-repo/doc/design.md')).toBe(
      '# D\n\n## A\n\n- a\n  - nested\n\n    code\n\nText\n',
    );
  });

  it('edits no part of a text with conflict markers, and takes the whole text in its place', async () => {
    await good('activate', repo);
    const path = 'banks/code/my-repo/doc/design.md';
    const text = '## A\n\n- a\n<<<<<<< HEAD\n- b\n=======\n- c\n>>>>>>> branch\n';
    context.store.files.set(path, text);
    const inserted = { ...note, operation: 'insert', position: 'A' };
    for (const args of [note, inserted]) {
      expect(Object((await call('update', args)).body.error)).toMatchObject({
        code: 'conflict',
        message: expect.stringContaining(`${path}: a merge left conflict markers in line 4`),
      });
    }
    expect(context.store.files.get(path)).toBe(text);
    await good('update', { ...note, operation: 'replace', content: '## A\n\n- b\n- c\n' });
    await good('update', inserted);
    expect(body(context.store, path)).toBe('## A\n\n- b\n- c\n\nNew.\n');
  });

  it('makes a file that is missing, with the section when it inserts', async () => {
    await good('activate', repo);
    await good('update', {
      ...repo,
      target_file: 'doc/adr/0001-größe.md',
      operation: 'insert',
      position: 'Status',
      content: 'Accepted.',
    });
    expect(body(context.store, 'banks/code/my-repo/doc/adr/0001-größe.md')).toBe(
      '## Status\n\nAccepted.\n',
    );
  });

  it('keeps a body that begins with a rule or with front matter of its own', async () => {
    await good('activate', repo);
    for (const content of ['---\n\nText\n', '---\ntitle: Mine\n---\nText\n', '---\n---\n']) {
      await good('update', { ...note, operation: 'replace', content });
      expect(Object((await good('swap', repo)).content)['doc/design.md']).toBe(content);
    }
  });

  it('gives a file that a person made its front matter, and keeps what the person wrote there', async () => {
    const path = 'banks/code/my-repo/notes.md';
    context.store.files.set(path, 'By hand.\n');
    await good('update', { ...note, target_file: 'notes.md' });
    expect(context.store.files.get(path)).toMatch(/^---\n(.*\n){3}---\nBy hand\.\n\nNew\.\n$/);
    expect(context.store.files.get(path)).toContain('version: 1\n');

    context.store.files.set(path, '---\ntags: [a] # mine\nversion: 1.0.2\n---\nBy hand.\n');
    await good('update', { ...note, target_file: 'notes.md' });
    expect(context.store.files.get(path)).toContain('tags: [a] # mine\n');
    expect(body(context.store, path)).toBe('By hand.\n\nNew.\n');
  });

  it('names what is worth doing next', async () => {
    await good('activate', repo);
    await good('update', {
      ...repo,
      target_file: 'doc/api.md',
      operation: 'append',
      content: '## Token refresh\n\nSee `RefreshPolicy`.',
    });
    const { next_actions } = await good('update', {
      ...note,
      content: 'We decided to use short tokens; `RefreshPolicy` goes.',
    });
    expect(next_actions).toEqual([
      'Record the decision in doc/architecture.md, at "Decisions".',
      'Check doc/api.md: it also mentions "RefreshPolicy".',
    ]);
  });

  it('says that the cache was optimised once the bank has outgrown its budget', async () => {
    await good('activate', repo);
    const content = 'A sentence about the parser and its tokens. '.repeat(1000);
    expect(await good('update', { ...note, content })).toMatchObject({
      cache_updated: true,
      cache_optimized: true,
    });
  });

  it('says that nothing was cached when it could not be', async () => {
    await good('activate', repo);
    Object.assign(context.store.local, { set: async () => false });
    const content = 'A sentence about the parser and its tokens. '.repeat(1000);
    expect(await good('update', { ...note, content })).toMatchObject({
      status: 'success',
      cache_updated: false,
      cache_optimized: false,
    });
  });

  it.each([
    ['an unknown bank', { bank_id: 'nope' }, 'bank_not_found'],
    ['an unknown type', { bank_type: 'galaxy' }, 'invalid_bank_type'],
    ['an id that is a path', { bank_id: '../my-repo' }, 'invalid_bank_id'],
    ['an id with a backslash', { bank_id: 'a\\b' }, 'invalid_bank_id'],
    ['an id of dots', { bank_id: '..' }, 'invalid_bank_id'],
    ['an empty id', { bank_id: '' }, 'invalid_bank_id'],
    ['an id that is too long', { bank_id: 'x'.repeat(101) }, 'invalid_bank_id'],
    ['an id with a line break', { bank_id: 'a\nb' }, 'invalid_bank_id'],
    ['an unknown operation', { operation: 'delete' }, 'invalid_operation'],
    ['a missing position', { operation: 'insert' }, 'invalid_request'],
    ['a blank position', { operation: 'insert', position: ' ' }, 'invalid_request'],
    ['a file outside the bank', { target_file: '../readme.md' }, 'invalid_request'],
    ['an absolute file', { target_file: '/etc/passwd.md' }, 'invalid_request'],
    ['an encoded way out', { target_file: '%2e%2e/readme.md' }, 'invalid_request'],
    ['a NUL', { target_file: 'a\0.md' }, 'invalid_request'],
    ['the cache', { target_file: 'cache.json' }, 'invalid_request'],
    ['git in disguise', { target_file: 'GIT~1/hook.md' }, 'invalid_request'],
    ['a device of Windows', { target_file: 'doc/aux.md' }, 'invalid_request'],
    ['a file in other case', { target_file: 'Doc/Design.md' }, 'invalid_request'],
    ['a folder that is a file', { target_file: 'readme.md/x.md' }, 'invalid_request'],
    ['front matter', { content: '---\nversion: 9\n---\nx' }, 'invalid_request'],
    ['a fraction', { update_count: 1.5 }, 'invalid_request'],
    ['a negative count', { update_count: -1 }, 'invalid_request'],
    ['a count as text', { update_count: '3' }, 'invalid_request'],
    ['an unknown trigger', { trigger_type: 'whim' }, 'invalid_request'],
    ['half a character', { content: '\ud83d' }, 'invalid_request'],
    ['no content', { content: undefined }, 'invalid_request'],
    ['null', { content: null }, 'invalid_request'],
  ])('refuses %s', async (_what, wrong, expected) => {
    await good('activate', repo);
    const files = new Map(context.store.files);
    expect(await code('update', { ...note, ...wrong })).toBe(expected);
    expect(context.store.files).toEqual(files);
  });
});

describe('a bank over its budget', () => {
  const long = (topic: string) =>
    Array.from(
      { length: 200 },
      (_, i) =>
        `## ${topic} ${i}\n\nThe ${topic} number ${i} is made of parts. It has a ${topic}.\n`,
    ).join('\n');

  async function fill() {
    await good('activate', repo);
    for (const file of ['doc/api.md', 'structure.md', 'doc/design.md']) {
      const content = file === 'doc/design.md' ? 'The last change.\n' : long(file);
      await good('update', { ...repo, target_file: file, operation: 'replace', content });
    }
  }

  it('is answered as summaries with what changed last in full, within the stated size', async () => {
    await fill();
    const answer = await good('activate', repo);
    expect(Object(answer.content)['doc/design.md']).toBe('The last change.\n');
    const summaries = Object(answer.summaries);
    expect(Object.keys(summaries)).toContain('doc/api.md');
    expect(answer.get_whole).toContain('merge_files');
    expect(bytesOf(answer.content) + bytesOf(summaries)).toBeLessThanOrEqual(contentBudget);
    expect(bytesOf(answer.custom_instructions)).toBeLessThanOrEqual(4_000);
  });

  it('prefers what has mattered more to be whole, below what changed last', async () => {
    await good('activate', repo);
    for (const [file, trigger_type] of [
      ['doc/api.md', 'user_request'],
      ['structure.md', 'watchdog'],
      ['doc/design.md', 'watchdog'],
    ]) {
      const content = file === 'doc/design.md' ? 'Last.\n' : long(String(file));
      const change = { target_file: file, operation: 'replace', content, trigger_type };
      await good('update', { ...repo, ...change });
    }
    const { content } = await good('activate', repo);
    expect(content).toHaveProperty(['doc/design.md']);
    expect(content).toHaveProperty(['doc/api.md']);
    expect(content).not.toHaveProperty(['structure.md']);
  });

  it('gives each file whole by name', async () => {
    await fill();
    const answer = await good('swap', { ...repo, merge_files: ['doc/api.md'] });
    expect(answer.content).toEqual({ 'doc/api.md': long('doc/api.md') });
    expect(answer).not.toHaveProperty('summaries');
  });

  it('gives a single section by name', async () => {
    await fill();
    const names = ['structure.md#STRUCTURE.MD 7', 'structure.md#None', '#'];
    const answer = await good('swap', { ...repo, merge_files: names });
    expect(answer).toMatchObject({
      bank_info: { missing: names.slice(1) },
      content: {
        [String(names[0])]:
          '## structure.md 7\n\nThe structure.md number 7 is made of parts. It has a structure.md.\n\n',
      },
    });
  });

  it('takes a summary from the cache only while the document is unchanged', async () => {
    await fill();
    const key = 'banks/code/my-repo/summaries';
    const kept = Object(context.store.kept.get(key));
    kept['doc/api.md'].summary = 'Better words.';
    context.store.kept.set(key, kept);
    expect(Object((await good('swap', repo)).summaries)['doc/api.md']).toBe('Better words.');
    await good('update', {
      ...repo,
      target_file: 'doc/api.md',
      operation: 'append',
      content: 'x',
    });
    await good('update', {
      ...repo,
      target_file: 'doc/design.md',
      operation: 'append',
      content: 'x',
    });
    expect(Object((await good('swap', repo)).summaries)['doc/api.md']).not.toBe('Better words.');
  });

  describe('with a model', () => {
    /** What it was asked for, by file. */
    let asked: Map<string, { text: string; keep: (summary: string) => Promise<unknown> }>;

    beforeEach(() => {
      asked = new Map();
      context.summarizer = {
        model: 'm',
        request: ({ file, text }, keep) => asked.set(file, { text: text(), keep }),
      };
    });

    it('answers with its summaries once they are there, at most as long as ours', async () => {
      await fill();
      const summary = async () => Object((await good('activate', repo)).summaries)['doc/api.md'];
      expect(await summary()).toContain('The doc/api.md number 0 is made of parts.');
      expect([...asked.keys()].sort()).toEqual(['doc/api.md', 'structure.md']);
      const files = new Map(context.store.files);
      const api = asked.get('doc/api.md');
      await api?.keep('In the words of the model.');
      asked.clear();
      expect(await summary()).toBe('In the words of the model.');
      expect([...asked.keys()]).toEqual(['structure.md']);
      await api?.keep('This goes on. '.repeat(1_000));
      expect(await summary()).toMatch(/^This goes on\./);
      expect(bytesOf(await summary())).toBeLessThanOrEqual(1_200);
      expect(context.store.files).toEqual(files);
    });

    it('asks again when a text has changed, and not for a summary that another text has', async () => {
      await fill();
      const earlier = asked.get('doc/api.md');
      asked.clear();
      const change = { target_file: 'doc/api.md', operation: 'append', content: 'New.' };
      await good('update', { ...repo, ...change });
      expect(asked.get('doc/api.md')?.text).toContain('New.');
      await earlier?.keep('Of the earlier text.');
      expect(JSON.stringify(await good('activate', repo))).not.toContain('Of the earlier text.');
    });

    it('is asked for sources too, and for nothing of a bank that fits', async () => {
      context.project.files.set('README.md', `# Read me\n\n${'A part of it. '.repeat(2_000)}`);
      await good('activate', { bank_type: 'project', bank_id: 'small' });
      expect([...asked.keys()]).toEqual([]);
      await fill();
      expect([...asked.keys()].sort()).toEqual(['doc/api.md', 'source:README.md', 'structure.md']);
      await asked.get('source:README.md')?.keep('Read me, in short.');
      const { summaries } = await good('activate', repo);
      expect(Object(summaries)['source:README.md']).toBe('Read me, in short.');
    });

    it('is handed no more than 64 KiB of a text', async () => {
      await good('activate', repo);
      const content = Array.from({ length: 5_000 }, (_, i) => `Sentence ${i} of it.`).join('\n\n');
      const change = { target_file: 'notes.md', operation: 'append', content };
      await good('update', { ...repo, ...change });
      const { text = '' } = asked.get('notes.md') ?? {};
      expect(bytesOf(text)).toBeLessThanOrEqual(64 * 1024);
      expect(text).toContain('Sentence 0 of it.');
    });
  });

  deep('stays within its size however many files there are', async () => {
    for (let i = 0; i < 400; i++) {
      context.store.files.set(`banks/code/my-repo/notes/${'n'.repeat(60)}-${i}.md`, long('x'));
    }
    const answer = await good('activate', repo);
    expect(bytesOf(answer)).toBeLessThan(40_000);
    expect(Object(answer.bank_info).more_files).toBeGreaterThan(0);
  });

  it('names each of its files by pages of a stated size', async () => {
    context.project.files.set('README.md', 'Read me.');
    await good('activate', repo);
    const names = Array.from({ length: 1_000 }, (_, i) => `notes/${'n'.repeat(30)}-${i}.md`);
    for (const name of names) context.store.files.set(`banks/code/my-repo/${name}`, 'x\n');
    const answer = await good('activate', repo);
    expect(answer.get_whole).toContain('list with this bank_type and bank_id');
    const found: string[] = [];
    for (let skip: unknown = 0; skip !== undefined; ) {
      const page = await good('list', { ...repo, skip });
      expect(bytesOf(page)).toBeLessThan(24_000);
      const [{ id, files, total, next_skip }] = Object(page).code;
      expect({ id, total }).toEqual({ id: 'my-repo', total: 1_007 });
      found.push(...files);
      skip = next_skip;
    }
    expect(found).toEqual(found.toSorted());
    expect(found.filter((name) => name.startsWith('notes/')).sort()).toEqual(names.sort());
    expect(found).toContain('source:README.md');
    expect(found).toHaveLength(1_007);
    expect(Object(await good('list', { ...repo, skip: 9_999 })).code[0].files).toEqual([]);
    expect(await code('list', { bank_id: 'my-repo' })).toBe('invalid_bank_type');
    expect(await code('list', { ...repo, bank_id: 'nope' })).toBe('bank_not_found');
    expect(await code('list', { ...repo, skip: -1 })).toBe('invalid_request');
  });
});

describe('without a project', () => {
  class NoProject extends MemoryStore {
    override async list(): Promise<never> {
      throw new MemoryError('no_project', 'There is no project here.', { hint: 'Use --root.' });
    }
  }

  beforeEach(() => {
    Object.assign(context, { store: new NoProject() });
  });

  it('global banks are served in full', async () => {
    await good('activate', { bank_type: 'global', bank_id: 'general' });
    expect(
      await good('update', {
        bank_type: 'global',
        bank_id: 'general',
        target_file: 'preferences.md',
        operation: 'insert',
        position: 'Answers',
        content: '- Short.',
      }),
    ).toMatchObject({ status: 'success' });
    expect(await good('list')).toMatchObject({
      global: [{ id: 'general' }],
      projects: [],
      code: [],
      note: 'There is no project here. Use --root.',
    });
  });

  it('project and code banks say plainly what is missing', async () => {
    expect(await code('activate', repo)).toBe('no_project');
    expect(await code('list', { bank_type: 'project' })).toBe('no_project');
    expect(await code('swap', repo)).toBe('no_project');
  });
});

describe('a write after which nothing can be read', () => {
  it.each([
    ['activate', repo, { files: expect.arrayContaining(['readme.md']) }],
    [
      'update',
      { ...repo, target_file: 'readme.md', operation: 'append', content: 'More.\n' },
      undefined,
    ],
  ])('is answered by %s as committed', async (tool, args, bank_info) => {
    if (tool === 'update') await good('activate', repo);
    const { store, notes } = context;
    const { length } = store.commits;
    const fails = () => Promise.reject(new MemoryError('storage', 'The disk is gone.'));
    const change = store.change.bind(store);
    store.change = async (...given) => {
      const made = await change(...given);
      Object.assign(store, { get: fails, list: fails, similar: fails, cautions: fails });
      return made;
    };
    expect(await good(tool, args)).toMatchObject({
      status: 'success',
      ...(bank_info && { bank_info }),
    });
    expect(store.commits).toHaveLength(length + 1);
    expect(notes).toContainEqual(expect.stringMatching(/^The change is committed, but.*disk/));
  });
});
