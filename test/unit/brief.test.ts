import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../src/core/memory/commit-log.ts';
import type { History } from '../../src/core/memory/history.ts';
import { writeLastCheck } from '../../src/core/memory/last-check.ts';
import { briefOf } from '../../src/toolsets/brief/toolset.ts';
import { feature, ticket } from '../../src/toolsets/graph/records.ts';
import { toolsets } from '../../src/toolsets/index.ts';
import { TestContext } from '../support/context.ts';

const types = toolsets.flatMap(({ records }) => records);
const day = '2026-01-02T10:00:00.000Z';

/** A context whose history has the given commits, newest first. */
class ProjectContext extends TestContext {
  entries: LogEntry[] = [];
  override readonly history: History = new Proxy({} as History, {
    get: () => async () => ({ entries: this.entries, total: this.entries.length, shallow: false }),
  });
}

function project(files: { readonly [path: string]: string }): ProjectContext {
  const [toolset] = toolsets;
  if (!toolset) throw new Error('There is no toolset.');
  const context = new ProjectContext({ ...toolset, records: types });
  context.project.id = 'id';
  for (const [path, text] of Object.entries(files)) context.store.files.set(path, text);
  return context;
}

function entry(category: string, key: string, value: string, at = day): string {
  return `---\ncategory: ${category}\nkey: ${key}\ncreated_at: ${at}\nupdated_at: ${at}\n---\n${value}\n`;
}

const id = 'abcdefghij12';
const own = { id, created_at: day, updated_at: day };
const login = feature.codec.encode({ ...own, slug: 'auth', name: 'Login', paths: ['src/auth/'] });
const ticketOf = (key: string) => ticket.codec.encode({ ...own, key, title: 'Log in' });

const brief = async (context: TestContext, more: object = {}) =>
  (await briefOf(context, types, { budget: 6000, ...more })).text;

describe('a brief', () => {
  it('first gets what others have pushed, except for a prompt', async () => {
    const context = project({});
    let caughtUp = 0;
    context.catchUp = async () => {
      caughtUp += 1;
    };
    await brief(context, { prompt: 'Rotate keys', onlyPrompt: true });
    expect(caughtUp).toBe(0);
    await brief(context);
    expect(caughtUp).toBe(1);
  });

  it('is empty without memory, and without anything to say', async () => {
    const context = project({});
    expect(await brief(context)).toBe('');
    context.project.id = undefined;
    context.store.files.set('activeContext.md', '## Ongoing Tasks\n\n- Work\n');
    expect(await brief(context)).toBe('');
  });

  it('has current work without finished items, and the newest decision first', async () => {
    const context = project({
      'activeContext.md': '# Now\n\n## Ongoing Tasks\n\n- [x] Old\n- [ ] Rotate keys\n',
      'knowledge/decisions/a.md': entry('decisions', 'a', 'older', '2026-01-01T10:00:00.000Z'),
      'knowledge/decisions/b.md': entry('decisions', 'b', 'newer'),
    });
    const text = await brief(context);
    expect(text).toContain('- activeContext.md: "Ongoing Tasks: Rotate keys"');
    expect(text).not.toContain('Old');
    expect(text.indexOf('b: newer')).toBeLessThan(text.indexOf('a: older'));
    expect(await brief(context)).toBe(text);
  });

  it('names only tools that the session is offered', async () => {
    const context = project({ 'knowledge/decisions/a.md': entry('decisions', 'a', 'text') });
    expect(await brief(context)).toMatch(/\n\nMore: search_memory finds records by words\.$/);
    context.offered = new Set(['log_decision']);
    expect(await brief(context)).not.toContain('More:');
  });

  it('has the records about the changed files, and no others', async () => {
    const context = project({
      'knowledge/patterns/a.md': entry('patterns', 'a', 'See ./src/auth.ts.'),
      'knowledge/patterns/b.md': entry('patterns', 'b', 'See src/cache.ts for pages'),
    });
    expect(await brief(context)).toBe('');
    context.project.branchWork = { base: 'main', committed: ['src/auth.ts'], edited: [] };
    const text = await brief(context);
    expect(text).toContain(
      'Records about the files of branch "main" (1 changed since main, 0 edited)',
    );
    expect(text).toContain('knowledge/patterns/a.md (2026-01-02): "a: See ./src/auth.ts."');
    expect(text).not.toContain('patterns/b.md');
  });

  it('names files that cannot be read', async () => {
    const text = await brief(project({ 'knowledge/patterns/a.md': 'no front matter' }));
    expect(text).toContain('knowledge/patterns/a.md: cannot be read (damaged)');
  });

  it('sums up what a check reports and is known without one', async () => {
    const context = project({
      'knowledge/patterns/a.md': 'no front matter',
      'knowledge/patterns/b.md': 'nor here',
    });
    context.project.isStopped = true;
    expect(await brief(context)).toContain(
      '## Needs attention\n- check: the settings in config.yaml cannot be used, so nothing is written; records: 2 not readable: run "memory-bank check"\n- knowledge/patterns/a.md: cannot be read (damaged)',
    );
    context.store.files.clear();
    context.project.isStopped = false;
    expect(await brief(context)).toBe('');
  });

  it('names the counts of the last check while the same commit is checked out', async () => {
    const context = project({});
    const commit = 'a'.repeat(40);
    context.project.headInfo = { branch: 'main', oid: commit };
    await writeLastCheck(context.store.local, { commit, errors: 0, warnings: 0 });
    expect(await brief(context)).toBe('');
    await writeLastCheck(context.store.local, { commit, errors: 1, warnings: 2 });
    expect(await brief(context)).toContain(
      '- check: the last check of this commit found 1 error, 2 warnings: run "memory-bank check"',
    );
    context.project.headInfo = { branch: 'main', oid: 'b'.repeat(40) };
    expect(await brief(context)).toBe('');
  });

  it('names the command that helps with conflict markers: a merge that is over merges nothing', async () => {
    const path = 'knowledge/patterns/a.md';
    const text = entry('patterns', 'a', 'text');
    const context = project({ [path]: `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> side\n` });
    const line = `- ${path}: cannot be read (conflict:`;
    expect(await brief(context)).toContain(
      `${line} "memory-bank edit ${path}" opens it to remove the markers)`,
    );
    context.project.unmerged = [path];
    expect(await brief(context)).toContain(`${line} "memory-bank resolve" merges it)`);
  });

  it('names records that may be out of date or are in conflict, and no superseded ones', async () => {
    const context = project({
      'knowledge/decisions/a.md': entry('decisions', 'a', 'text'),
      'knowledge/decisions/b.md': entry('decisions', 'b', 'past'),
    });
    const reasons = ['src/a.ts:4 was changed.'];
    context.store.doubted.set('knowledge/decisions/a.md', {
      reasons,
      superseded: false,
      files: [],
    });
    context.store.doubted.set('knowledge/decisions/b.md', { reasons, superseded: true, files: [] });
    context.project.unmerged = ['progress.md'];
    const text = await brief(context);
    expect(text).toContain(
      `## Needs attention
- progress.md: in conflict after a merge: "memory-bank resolve" merges it
- knowledge/decisions/a.md: may be out of date: "src/a.ts:4 was changed."`,
    );
    expect(text).not.toContain('b.md');
  });

  it('names the record in every line', async () => {
    const context = project({
      'activeContext.md': '## Ongoing Tasks\n\n- [ ] Rotate keys\n',
      'knowledge/decisions/a.md': entry('decisions', 'a', 'two\nlines\n\n## of text'),
      'knowledge/patterns/b.md': 'no front matter',
      'graph/features/auth.yaml': login,
    });
    context.project.branchWork = { base: 'main', committed: ['src/auth/key.ts'], edited: [] };
    const lines = (await brief(context)).split('\n').slice(1, -1);
    const statements = lines.filter((line) => line !== '' && !line.startsWith('## '));
    expect(statements.length).toBeGreaterThan(3);
    for (const line of statements) {
      const path = /^- ([^ :]+)/.exec(line)?.[1] ?? '';
      expect(['check', ...context.store.files.keys()]).toContain(path);
    }
  });

  it('has the features and tickets of the branch', async () => {
    const context = project({
      'graph/features/auth.yaml': login,
      'graph/tickets/ABC-12.yaml': ticketOf('ABC-12'),
      'graph/tickets/ABC-1.yaml': ticketOf('ABC-1'),
    });
    context.project.headInfo = { branch: 'fix/abc-12-login', oid: '1'.repeat(40) };
    context.project.branchWork = { base: 'main', committed: ['src/auth/key.ts'], edited: [] };
    const text = await brief(context);
    expect(text).toContain('graph/features/auth.yaml');
    expect(text).toContain('graph/tickets/ABC-12.yaml');
    expect(text).not.toContain('ABC-1.yaml');
  });

  it('stays within its budget and keeps a part of every section', async () => {
    const files = Array.from({ length: 100 }, (_, i): [string, string] => [
      `knowledge/decisions/k${i}.md`,
      entry('decisions', `k${i}`, 'word '.repeat(100)),
    ]);
    const work = '## Next Steps\n\n- Something to do\n'.concat('- More to do\n'.repeat(100));
    const context = project({ ...Object.fromEntries(files), 'activeContext.md': work });
    for (const budget of [800, 2000, 6000]) {
      const text = await brief(context, { budget });
      expect(text.length).toBeLessThanOrEqual(budget);
      expect(text).toContain('Something to do');
    }
    expect(await brief(context, { budget: 6000 })).toContain('knowledge/decisions/');
  });

  it('has the changes since the last commit of the same agent, or since a time', async () => {
    const context = project({});
    const commit = (at: string, agent: string): LogEntry => ({
      commit: { oid: at, at, author: 'Ada <a@example.org>', subject: `change at ${at}`, agent },
      changes: [{ change: 'changed', path: 'progress.md' }],
    });
    context.entries = [
      commit('2026-01-04T00:00:00Z', 'codex/1'),
      commit('2026-01-03T00:00:00Z', 'claude-code/2'),
      commit('2026-01-02T00:00:00Z', 'codex/1'),
    ];
    context.session.agent = 'claude-code/3';
    const text = await brief(context);
    expect(text).toContain('## Changed since you were last here');
    expect(text).toContain(
      '- progress.md: "change at 2026-01-04T00:00:00Z" by "Ada, codex/1", 2026-01-04',
    );
    expect(text).not.toContain('2026-01-03');
    expect(await brief(context, { since: '2026-01-02T12:00:00Z' })).toContain('2026-01-03');
    context.session.agent = 'cursor/1';
    expect(await brief(context)).toContain('## Last changes');
  });
});
