import { describe, expect, it } from 'vitest';
import { sample } from '../../support/depth.ts';
import { hasEntries } from '../../support/test-layout.ts';
import { failure, open } from './open.ts';

const decision = {
  title: 'Authentication Method',
  context: 'We need to choose an authentication method for our API',
  decision: 'Use JWT for authentication',
};

/** The decision log of earlier versions before its first entry. */
const placeholder =
  '# Decision Log\n\n## [Decision Title] - [Date]\n\n### Context\n\n### Decision\n\n### Alternatives Considered\n\n### Consequences\n';

describe('track_progress', () => {
  it('keeps the newest 20 session notes, and what a person wrote', async () => {
    const { call, file } = open({
      'activeContext.md':
        '# Mine\n\n## Current Session Notes\n\n- remember the milk\n\n## End\n\ntext\n',
    });
    for (let i = 1; i <= 25; i++) {
      expect(
        (await call('track_progress', { action: 'Fix', description: `bug ${i}\n- part` })).body,
      ).toEqual({
        status: 'success',
        message: 'Progress tracked successfully',
      });
    }
    const notes = Array.from(
      { length: 20 },
      (_, i) => `- [2026-01-01] - Fix: bug ${25 - i}\n  \\- part\n`,
    );
    expect(file('activeContext.md')).toBe(
      `# Mine\n\n## Current Session Notes\n\nThe newest 20 notes; progress.md has the earlier ones.\n\n${notes.join('')}- remember the milk\n\n## End\n\ntext\n`,
    );
    expect(file('progress.md')?.match(/Fix: bug/g)).toHaveLength(25);
  });

  it('adds a line on top of the history and of the session notes, in one commit', async () => {
    const { call, file, context } = open();
    const args = { action: 'Implementation', description: 'Implemented feature X' };
    expect((await call('track_progress', args)).body).toEqual({
      status: 'success',
      message: 'Progress tracked successfully',
    });
    await call('track_progress', { ...args, description: 'Then Y' });
    const lines =
      '- [2026-01-01] - Implementation: Then Y\n- [2026-01-01] - Implementation: Implemented feature X\n';
    expect(file('progress.md')).toBe(
      `# Project Progress\n\n## Completed Milestones\n\n## Pending Milestones\n\n## Update History\n\n${lines}`,
    );
    expect(file('activeContext.md')).toMatch(`## Current Session Notes\n\n${lines}`);
    expect(context.store.commits.at(-1)).toEqual({
      subject: 'track progress: Then Y (Implementation)',
      reason: 'Then Y',
      paths: ['activeContext.md', 'progress.md'],
    });
  });

  // With entries as files, the notes of the active context are those of the progress.
  it.skipIf(hasEntries)('leaves the active context alone when told so', async () => {
    const { call, file, context } = open({ 'activeContext.md': 'mine' });
    await call('track_progress', { action: 'a', description: 'b', updateActiveContext: false });
    expect(file('activeContext.md')).toBe('mine');
    expect(context.store.commits[0]?.paths).toEqual(['progress.md']);
  });

  it('edits a core file under its older name', async () => {
    const { call, file, context } = open({ 'active-context.md': '# Mine\r\n' });
    await call('track_progress', { action: 'a', description: 'b' });
    expect(file('active-context.md')).toBe(
      '# Mine\r\n\r\n## Current Session Notes\r\n\r\n- [2026-01-01] - a: b\r\n',
    );
    expect(context.store.files.has('activeContext.md')).toBe(false);
  });

  it('writes nothing at all when a file would become too large', async () => {
    const large = `# T\n\n${'x'.repeat(1024 * 1024)}`;
    const { call, file, commits } = open({ 'activeContext.md': large });
    expect(await call('track_progress', { action: 'a', description: 'b' })).toEqual(
      failure('invalid_request', expect.stringContaining('activeContext.md has 1048581 bytes')),
    );
    expect(file('progress.md')).toBeUndefined();
    expect(commits()).toEqual([]);
  });

  it('refuses more text than anybody reads', async () => {
    const { call, commits } = open({});
    const args = { action: 'a', description: 'x'.repeat(10_000_000) };
    expect(await call('track_progress', args)).toEqual(
      failure('invalid_request', 'description: must have at most 100000 characters'),
    );
    expect(commits()).toEqual([]);
  });

  it.each([
    [{}, 'action: is required; description: is required'],
    [{ action: ' ', description: 'b' }, 'action: must not be blank'],
    [{ action: 'a', description: ['b'] }, 'description: expected string, received array'],
    [{ action: 'a', description: 'b', updateActiveContext: 'no' }, 'updateActiveContext: expected'],
  ])('refuses %j', async (args, message) => {
    const { call, commits } = open({});
    expect(await call('track_progress', args)).toEqual(
      failure('invalid_request', expect.stringContaining(message)),
    );
    expect(commits()).toEqual([]);
  });
});

describe('update_active_context', () => {
  const text =
    '# Current Context\n\n## Ongoing Tasks\n\nNow:\n\n- old\n\n## Known Issues\n- bug\n\n## Next Steps\n';

  it('replaces the lists that are given', async () => {
    const { call, file, commits } = open({ 'activeContext.md': text });
    const args = { tasks: ['Write tests', '# a\n## Known Issues\n- b'], nextSteps: ['c'] };
    expect((await call('update_active_context', args)).body).toEqual({
      status: 'success',
      message: 'Active context updated successfully',
    });
    expect(file('activeContext.md')).toBe(
      '# Current Context\n\n## Ongoing Tasks\n\nNow:\n\n' +
        '- Write tests\n- \\# a\n  \\## Known Issues\n  \\- b\n\n' +
        '## Known Issues\n- bug\n\n## Next Steps\n\n- c\n',
    );
    await call('update_active_context', args);
    expect(commits()).toEqual(['update active context: ongoing tasks, next steps']);
  });

  it('empties a list, and leaves one alone that is not given', async () => {
    const { call, file } = open({ 'activeContext.md': text });
    await call('update_active_context', { issues: [] });
    expect(file('activeContext.md')).toBe(text.replace('- bug\n', ''));
  });

  it('makes no commit when no list is given', async () => {
    const { call, commits, context } = open();
    expect((await call('update_active_context')).isError).toBe(false);
    expect(commits()).toEqual([]);
    expect(context.store.files.size).toBe(0);
  });

  it.each([
    [{ tasks: 'a' }, 'tasks: expected array, received string. The form of tasks is [string, …].'],
    [{ tasks: null }, 'tasks: must not be null. The form of tasks is [string, …].'],
    [{ issues: ['a', ' '] }, 'issues[1]: must not be blank'],
    [{ nextSteps: [1] }, 'nextSteps[0]: expected string, received number'],
  ])('refuses %j', async (args, message) => {
    const { call, commits } = open({ 'activeContext.md': text });
    expect(await call('update_active_context', args)).toEqual(failure('invalid_request', message));
    expect(commits()).toEqual([]);
  });
});

// With entries as files, the lists of such a text are read many times more.
describe.skipIf(hasEntries)('an edit of a file made to be slow', () => {
  const shapes: readonly [name: string, shape: string][] = [
    ['nested quotes', `${'> '.repeat(60)}a\n`],
    ['nested lists', `${'- '.repeat(60)}a\n`],
    ['a long list', '- a\n'],
    ['a long loose list', '- a\n\n'],
    ['many headings', '# a\n'],
    ['headings full of brackets', `# ${'[a]('.repeat(250)}\n`],
    ['one endless line', '* '],
    ['blank lines', '\n'],
    ['a paragraph of definitions', '[a]: b\n'],
    ['fences', '```\n'],
    ['conflicts in fences', '```\n<<<<<<< a\n>>>>>>> b\n```\n'],
    ['one fence of markers', '<<<<<<< a\n'],
  ];

  // A busy machine can slow one size more than the other, but not each time.
  it.each(sample(shapes, 1))('takes time in proportion to it: %s', { retry: 2 }, async (...one) => {
    const [name, shape] = one;
    const above = name === 'one fence of markers' ? '```\n' : '';
    const time = async (size: number) => {
      const text = `${above}${shape.repeat(size / shape.length)}${above}`;
      const times: number[] = [];
      for (let run = 0; run < 2; run++) {
        const { call } = open({ 'progress.md': text, 'activeContext.md': text });
        const start = process.cpuUsage();
        expect((await call('track_progress', { action: 'a', description: 'b' })).isError).toBe(
          false,
        );
        const { user, system } = process.cpuUsage(start);
        times.push(user + system);
      }
      return Math.min(...times);
    };
    // The edit of a shorter file parses only its beginning, so it is not in proportion.
    await time(100_000);
    // Of the processor, which other programs do not lengthen; a quadratic step would take 16 times.
    expect((await time(400_000)) / (await time(100_000))).toBeLessThan(12);
  });
});

describe('a file with conflict markers', () => {
  const conflict =
    '# Log\n\n## Ongoing Tasks\n\n- a\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> branch\n';
  const refusal = (path: string) =>
    failure(
      'invalid_format',
      expect.stringMatching(`^${path}: a merge left conflict markers in line 6\\. `),
    );

  it.each([
    ['progress.md', 'track_progress', { action: 'a', description: 'b' }],
    ['active-context.md', 'track_progress', { action: 'a', description: 'b' }],
    ['activeContext.md', 'update_active_context', { tasks: ['b'] }],
    ['activeContext.md', 'update_active_context', { tasks: [] }],
    ['decisionLog.md', 'log_decision', decision],
  ])('%s is refused by name by %s, until it is written whole', async (path, tool, args) => {
    const { call, file, commits } = open({ [path]: conflict });
    expect(await call(tool, args)).toEqual(refusal(path));
    expect(file(path)).toBe(conflict);
    expect(commits()).toEqual([]);
    const content = conflict.replace(/^[<=>]{7}.*\n/gm, '');
    await call('write_memory_bank_file', { filename: path, content });
    expect((await call(tool, args)).isError).toBe(false);
  });

  it('is not made by what is logged', async () => {
    const { call } = open({});
    const context = 'It ended like this:\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch';
    for (const _ of [1, 2]) {
      expect((await call('log_decision', { ...decision, context })).isError).toBe(false);
    }
  });
});

describe('log_decision', () => {
  it('adds the decision at the end, with its reason in the commit', async () => {
    const { call, file, context } = open({ 'decisionLog.md': '# Log\n' });
    const args = { ...decision, alternatives: ['OAuth 2.0', 'API keys'], consequences: [] };
    expect((await call('log_decision', args)).body).toEqual({
      status: 'success',
      message: 'Decision logged successfully',
    });
    expect(file('decisionLog.md')).toBe(
      '# Log\n\n## Authentication Method - 2026-01-01\n\n' +
        `### Context\n\n${decision.context}\n\n### Decision\n\n${decision.decision}\n\n` +
        '### Alternatives Considered\n\n- OAuth 2.0\n- API keys\n\n### Consequences\n\nNone\n',
    );
    expect(context.store.commits).toEqual([
      {
        subject: 'log decision "Authentication Method"',
        reason: `${decision.title}: ${decision.decision}\n\n${decision.context}`,
        paths: ['decisionLog.md'],
      },
    ]);
  });

  it.each(['\n', '\r\n'])('replaces the placeholder of an untouched old file', async (eol) => {
    const old = placeholder.replaceAll('\n', eol);
    const { call, file } = open({ 'decisionLog.md': old });
    await call('log_decision', decision);
    expect(file('decisionLog.md')?.split(eol).slice(0, 3)).toEqual([
      '# Decision Log',
      '',
      '## Authentication Method - 2026-01-01',
    ]);
    expect(file('decisionLog.md')).not.toContain('[Decision Title]');
  });

  it('keeps a placeholder in a file that somebody has changed', async () => {
    const { call, file } = open({ 'decisionLog.md': `${placeholder}\nWe all agreed.\n` });
    await call('log_decision', decision);
    expect(file('decisionLog.md')).toContain(`${placeholder}\nWe all agreed.\n\n## Auth`);
  });

  it('allows a decision twice', async () => {
    const { call, file, commits } = open({ 'decisionLog.md': '# Log\n' });
    await call('log_decision', decision);
    await call('log_decision', decision);
    expect(file('decisionLog.md')?.match(/^## /gm)).toHaveLength(2);
    expect(commits()).toHaveLength(2);
  });

  it('keeps lists and code in the texts and makes no other section of them', async () => {
    const { call, file } = open({ 'decisionLog.md': '# Log\n' });
    await call('log_decision', {
      title: 'A\n## B #',
      context: '- a\n- b\n\n## C\n\n```\n# comment\n```',
      decision: 'D\n===\n```\nopen',
    });
    expect(file('decisionLog.md')).toContain(
      '## A ## B # - 2026-01-01\n\n### Context\n\n' +
        '- a\n- b\n\n\\## C\n\n```\n# comment\n```\n\n### Decision\n\n' +
        'D\n\\===\n```\nopen\n```\n\n### Alternatives Considered\n\nNone\n\n',
    );
  });

  it.each([
    [{}, 'title: is required; context: is required; decision: is required'],
    [{ ...decision, title: '\n' }, 'title: must not be blank'],
    [
      { ...decision, alternatives: 'a' },
      'alternatives: expected array, received string. The form of alternatives is [string, …].',
    ],
    [{ ...decision, consequences: [''] }, 'consequences[0]: must not be blank'],
  ])('refuses %j', async (args, message) => {
    const { call, commits } = open({});
    expect(await call('log_decision', args)).toEqual(failure('invalid_request', message));
    expect(commits()).toEqual([]);
  });
});
