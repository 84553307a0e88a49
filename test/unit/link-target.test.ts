import { expect, test } from 'vitest';
import { decodePath, targetOf } from '../../src/server/page/link-target.ts';

const from = 'knowledge/a b/one.md';

test.each([
  ['two.md', 'knowledge/a b/two.md', ''],
  ['../c/two.md', 'knowledge/c/two.md', ''],
  ['../../decisionLog.md#use-%C3%BC', 'decisionLog.md', 'use-ü'],
  ['../../graph/tasks/x%23y.yaml', 'graph/tasks/x#y.yaml', ''],
  ['#own', from, 'own'],
  // Not UTF-8: it cannot be decoded, and names no record.
  ['%FF.md', 'knowledge/a b/%FF.md', ''],
  ['#%FF', from, '%FF'],
])('the link %s leads to %s', (link, path, anchor) => {
  expect(targetOf(link, from)).toEqual({ path, anchor });
});

test.each(['', '#', '/etc/x.md', '//evil.example/x.md', 'https://a.example/x.md', 'x.png', '%zz'])(
  'the link "%s" leads to no record',
  (link) => expect(targetOf(link, from)).toBeUndefined(),
);

test('a part of an address that cannot be decoded stays as it is', () => {
  expect(decodePath('a%20b/%FF/%zz')).toBe('a b/%FF/%zz');
});
