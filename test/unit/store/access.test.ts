import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/core/declarations/context.ts';
import { accessOf, expandPatterns } from '../../../src/store/modes/access.ts';

function mode(lists: Partial<Pick<Mode, 'filesToRead' | 'filesToUpdate' | 'umb'>>): Mode {
  return {
    name: 'code',
    source: 'test',
    instructions: [],
    umb: undefined,
    filesToRead: undefined,
    filesToUpdate: undefined,
    triggers: {},
    ...lists,
  };
}

function allowed(patterns: string[], path: string): boolean {
  return accessOf(mode({ filesToRead: patterns }), false).mayRead(path);
}

describe('the permissions of a mode', () => {
  it('allow everything without a mode and without a list', () => {
    for (const access of [accessOf(undefined, false), accessOf(mode({}), false)]) {
      expect(access.mayRead('graph/features/auth.yaml')).toBe(true);
      expect(access.mayWrite('activeContext.md')).toBe(true);
    }
  });

  it('allow nothing with an empty list', () => {
    const access = accessOf(mode({ filesToRead: [], filesToUpdate: [] }), false);
    expect(access.mayRead('activeContext.md')).toBe(false);
    expect(access.mayWrite('activeContext.md')).toBe(false);
  });

  it('follow each list separately', () => {
    const access = accessOf(mode({ filesToRead: ['**'], filesToUpdate: ['progress.md'] }), false);
    expect(access.mayRead('decisionLog.md')).toBe(true);
    expect(access.mayWrite('decisionLog.md')).toBe(false);
    expect(access.mayWrite('progress.md')).toBe(true);
  });

  it('are lifted for updates during "Update Memory Bank", if the mode says so', () => {
    const umb = { trigger: 'code', instructions: [], overrideFileRestrictions: true };
    const lists = { filesToRead: ['progress.md'], filesToUpdate: [] };
    expect(accessOf(mode({ ...lists, umb }), true).mayWrite('decisionLog.md')).toBe(true);
    expect(accessOf(mode({ ...lists, umb }), true).mayRead('decisionLog.md')).toBe(false);
    expect(accessOf(mode({ ...lists, umb }), false).mayWrite('decisionLog.md')).toBe(false);
    const kept = { ...umb, overrideFileRestrictions: false };
    expect(accessOf(mode({ ...lists, umb: kept }), true).mayWrite('decisionLog.md')).toBe(false);
    expect(accessOf(mode(lists), true).mayWrite('decisionLog.md')).toBe(false);
  });

  it.each([
    ['graph/**', 'graph/features/auth/oauth.yaml', true],
    ['graph/**', 'graphs/a.yaml', false],
    ['*.md', 'notes.md', true],
    ['*.md', 'design/notes.md', false],
    ['**/*.md', 'design/.drafts/notes.md', true],
    ['knowledge/{patterns,decisions}/*', 'knowledge/decisions/db.md', true],
    ['knowledge/{patterns,decisions}/*', 'knowledge/glossary/db.md', false],
    ['Notes.md', 'notes.md', false],
    ['#1.md', '#1.md', true],
    ['./progress.md', 'progress.md', true],
    ['.memory-bank/progress.md', 'progress.md', true],
    ['[a-c]?.md', 'b1.md', true],
    ['__proto__', '__proto__', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(allowed([pattern], path)).toBe(expected);
  });

  it('apply to a core file under either of its names, and to no other file', () => {
    expect(allowed(['activeContext.md'], 'active-context.md')).toBe(true);
    expect(allowed(['decision-log.md'], 'decisionLog.md')).toBe(true);
    expect(allowed(['progress.md'], 'active-context.md')).toBe(false);
    expect(allowed(['releaseNotes.md'], 'release-notes.md')).toBe(false);
    expect(allowed(['activeContext.md'], 'old/active-context.md')).toBe(false);
  });
});

describe('patterns', () => {
  it.each(['!secret.md', '!(a|b).md', '+(a).md', 'x/@(a|b)'])('%s is refused', (pattern) => {
    expect(() => expandPatterns([pattern])).toThrow(`"${pattern}"`);
  });

  it('are limited in length and number, after brace expansion', () => {
    expect(() => expandPatterns(['a'.repeat(257)])).toThrow('more than 256 characters');
    expect(() => expandPatterns(Array(201).fill('a'))).toThrow('more than 200 patterns');
    expect(expandPatterns(['{1..200}.md'])).toHaveLength(200);
    for (const bomb of ['{a,b}'.repeat(50), '{1..100000000}', '{a,b}/**/'.repeat(25)]) {
      expect(() => expandPatterns([bomb])).toThrow('more than 200 patterns');
    }
  });

  it('are matched quickly where a backtracking engine would never end', () => {
    const hostile = [
      '*a'.repeat(127),
      '**/'.repeat(80),
      '**/a/'.repeat(50),
      '**/*a*/'.repeat(36),
      '[a-z]*'.repeat(16),
      '?*'.repeat(127),
    ].map((pattern) => `${pattern}c`);
    const paths = [
      `${'a'.repeat(199)}b`,
      `${'a/'.repeat(99)}b`,
      `${'a'.repeat(99)}/${'a'.repeat(99)}b`,
    ];
    const list = Array.from({ length: 200 }, (_, i) => hostile[i % hostile.length] ?? '');
    for (const path of paths) expect(allowed(list, path)).toBe(false);
  });
});
