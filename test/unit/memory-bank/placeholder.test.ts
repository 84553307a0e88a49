import { expect, it } from 'vitest';
import { memoryFile } from '../../../src/toolsets/memory-bank/memory-file.ts';
import { withoutPlaceholders } from '../../../src/toolsets/memory-bank/placeholder.ts';

const pattern = '### [Pattern Name]\n\n#### Usage\n\n#### Implementation\n';
const patterns = `# System Patterns\n\n## Architecture Patterns\n\n${pattern}\n## Design Patterns\n\n${pattern}`;
const entry =
  '## [Decision Title] - [Date]\n\n### Context\n\n### Decision\n\n### Alternatives Considered\n\n### Consequences\n';

it.each([
  [patterns, '# System Patterns\n\n## Architecture Patterns\n\n## Design Patterns\n'],
  [`# Log\n\n${entry}\n## Use JWT\n`, '# Log\n\n## Use JWT\n'],
  [`# Log\n\n${entry.replace('Context\n', 'Context\n\nYes.\n')}`, undefined],
  [`# Log\n\n${entry}\nYes.\n`, undefined],
  [`# Log\n\n${pattern}\n#### More\n`, undefined],
  ['# Log\n\n## [Link](a.md)\n', undefined],
])('only an empty placeholder goes from %j', (text, rest = text) => {
  expect(withoutPlaceholders(text)).toBe(rest);
});

it('a placeholder is not searched', () => {
  const fields = memoryFile.search({ path: 'decisionLog.md', content: `# Log\n\n${entry}` });
  expect(Object.values(fields).join('\n')).not.toMatch(/Decision Title|Alternatives/);
});
