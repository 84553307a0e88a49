import { expect, test } from 'vitest';
import { lookAtSystem } from '../../src/app/health/health.ts';

test.each([
  ['linux', 'x64', 'good'],
  ['win32', 'x64', 'good'],
  ['win32', 'arm64', 'note'],
  ['darwin', 'arm64', 'note'],
  ['freebsd', 'x64', 'note'],
] as const)('doctor says whether the program is tested on %s %s', (platform, arch, state) => {
  const { state: found, text } = lookAtSystem(platform, arch);
  expect(found).toBe(state);
  expect(text).toContain(`${process.versions.node} on ${platform}`);
  expect(text.includes('the tests do not run on this system')).toBe(state === 'note');
});
