import { describe, expect, it } from 'vitest';
import { bankTypes } from '../../../src/toolsets/banks/bank-type.ts';
import {
  type BankState,
  customInstructions,
} from '../../../src/toolsets/banks/custom-instructions.ts';
import { bytesOf } from '../../../src/toolsets/banks/summary.ts';
import { defaultFiles } from '../../../src/toolsets/banks/template.ts';

function state(part: Partial<BankState>): BankState {
  return {
    type: 'code',
    id: 'my-repo',
    files: ['context.md', 'readme.md', 'doc/api.md'],
    temporary: false,
    empty: false,
    large: false,
    days: 0,
    moved: undefined,
    ...part,
  };
}

describe('customInstructions', () => {
  it.each(bankTypes)('have the shape of the seed for a %s bank', (type) => {
    const told = customInstructions(state({ type }));
    expect(told).toMatchObject({
      directives: expect.arrayContaining([
        expect.objectContaining({
          name: 'WATCHDOG',
          priority: 'SYSTEM CRITICAL',
          when: 'After every response',
          action: expect.stringContaining('Call update tool'),
        }),
      ]),
      prompts: [{ id: `${type}_default` }, { id: 'memory_bank_automation' }],
      examples: {
        trigger_patterns: expect.any(Array),
        verification: '// Update #[N] for conversation [id]',
      },
    });
    expect(JSON.stringify(told)).toContain('🔴');
  });

  it.each(bankTypes)('name only places that a %s bank has', (type) => {
    const files = defaultFiles({ type, id: 'x' }, []);
    const told = JSON.stringify(customInstructions(state({ type })));
    for (const [file] of told.matchAll(/[\w/]+\.md/g)) expect([...files.keys()]).toContain(file);
    for (const [, file, heading] of told.matchAll(/([\w/]+\.md) at \\"([^"]+)\\"/g)) {
      expect(files.get(String(file))).toContain(`## ${heading}\n`);
    }
    const { target_file, position } = Object(
      Object(customInstructions(state({ type }))).examples,
    ).update;
    expect(files.get(target_file)).toContain(`## ${position}\n`);
  });

  it('stay within 4,000 bytes in the worst state', () => {
    for (const type of bankTypes) {
      const worst = state({
        type,
        id: '"'.repeat(100),
        files: Array.from({ length: 50 }, (_, i) => `${i}${'"'.repeat(200)}.md`),
        large: true,
        moved: { commits: 100, doubtful: Array.from({ length: 20 }, () => '日'.repeat(200)) },
      });
      expect(bytesOf(customInstructions(worst))).toBeLessThanOrEqual(4_000);
    }
  });

  it('follow the state of the bank', () => {
    const role = (part: Partial<BankState>) =>
      Object(Object(customInstructions(state(part))).prompts)[0].text;
    expect(role({ empty: true })).toContain('new and empty');
    expect(role({ large: true })).toContain('large');
    expect(role({ moved: { commits: 1, doubtful: ['doc/api.md'] } })).toMatch(
      /moved by 1 commit since.*starting with doc\/api\.md/,
    );
    expect(role({ moved: { commits: 0, doubtful: [] } })).not.toContain('moved');
    expect(role({ days: 29 })).not.toContain('days ago');
    expect(role({ days: 30 })).toContain('30 days ago');
    expect(role({ temporary: true })).toContain('reading only');
  });

  it('ask for no update of a temporary bank', () => {
    const told = customInstructions(state({ temporary: true }));
    expect(told.directives).toEqual([]);
    expect(JSON.stringify(told)).not.toContain('WATCHDOG');
  });
});
