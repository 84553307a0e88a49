import { describe, expect, test } from 'vitest';
import { type ChangeRules, planChange } from '../../../src/store/records/change-plan.ts';
import { SecretGuard } from '../../../src/store/secrets/guard.ts';
import { note } from '../../support/note.ts';

const rules: ChangeRules = {
  why: () => ({ subject: 'write notes', reason: 'They were asked for.' }),
  actor: { tool: 'note_write', agent: 'tester/1', session: '01TEST', mode: undefined },
  guard: new SecretGuard([], '.memory-bank/config.yaml'),
  folder: 'packages/a/.memory-bank',
  typeOf: (path) => (note.owns(path) ? note : undefined),
};
const [added, changed, removed] = ['notes/a.yaml', 'notes/b.yaml', 'notes/c.yaml'] as const;

describe('the plan of a change', () => {
  test('is the message and the files of its commit', () => {
    const plan = planChange(
      [
        { path: 'config.yaml', before: undefined, after: 'format: 1\n' },
        { path: added, before: undefined, after: 'text: ä\n' },
        { path: changed, before: 'text: old\n', after: 'text: new\n' },
        { path: removed, before: 'text: gone\n', after: undefined },
      ],
      rules,
    );
    expect(plan?.message).toBe(
      [
        'memory: write notes',
        '',
        'They were asked for.',
        '',
        'Memory-Tool: note_write',
        ...[added, changed, removed].map((path) => `Memory-Record: ${path}`),
        'Memory-Agent: tester/1',
        'Memory-Session: 01TEST',
        '',
      ].join('\n'),
    );
    const files = plan?.changes.map(({ path, bytes, seen }) => [
      path,
      seen && `${seen}`,
      bytes && `${bytes}`,
    ]);
    expect(files).toEqual([
      ['packages/a/.memory-bank/config.yaml', undefined, 'format: 1\n'],
      [`packages/a/.memory-bank/${added}`, undefined, 'text: ä\n'],
      [`packages/a/.memory-bank/${changed}`, 'text: old\n', 'text: new\n'],
      [`packages/a/.memory-bank/${removed}`, 'text: gone\n', undefined],
    ]);
  });

  test('names its files where none is a record, also in a folder that is the top', () => {
    const plan = planChange([{ path: 'config.yaml', before: undefined, after: 'format: 1\n' }], {
      ...rules,
      folder: '',
    });
    expect(plan?.message).toContain('Memory-Record: config.yaml\n');
    expect(plan?.changes.map(({ path }) => path)).toEqual(['config.yaml']);
  });

  test('does not exist where nothing changes, and its reason is not asked for', () => {
    const why = () => {
      throw new Error('asked');
    };
    expect(planChange([], { ...rules, why })).toBeUndefined();
  });

  test('is refused with a credential in a file or in the reason', () => {
    const secret = `ghp_${'qJ3vT8xZ1b'.repeat(3)}kW5m9R`;
    const edit = { path: added, before: undefined, after: `text: ${secret}\n` };
    expect(() => planChange([edit], rules)).toThrow(expect.objectContaining({ code: 'secret' }));
    const why = () => ({ subject: 'write notes', reason: secret });
    const plain = { ...edit, after: 'text: plain\n' };
    expect(() => planChange([plain], { ...rules, why })).toThrow(
      expect.objectContaining({ code: 'secret' }),
    );
  });
});
