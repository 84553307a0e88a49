import { describe, expect, test } from 'vitest';
import { assignments } from '../../../src/store/secrets/assignment.ts';
import { kinds } from '../../../src/store/secrets/kinds.ts';
import { findNamedSecret, findSecrets } from '../../../src/store/secrets/scan.ts';
import { credentials, nearMisses } from '../../support/credentials.ts';

describe('a credential is found:', () => {
  test.each(credentials())('$name', ({ text }) => {
    expect(findSecrets(text)).toHaveLength(1);
    expect(findSecrets(`# Notes\n\nSome words. ${text}\n\nMore words.\n`)).toHaveLength(1);
  });
});

describe('no credential is seen in:', () => {
  test.each(nearMisses())('$name', ({ text }) => {
    expect(findSecrets(text)).toEqual([]);
  });
});

test.each([
  ['openai-api-key', 'a key or token'],
  ['The password of the staging server', 'a password'],
])('a record named "%s" is %s when it holds nothing else', (title, kind) => {
  const body = 'q8ZrT2vN5xLk7WmP';
  const text = `---\nkey: ${title}\n---\n${body}\n`;
  expect(findNamedSecret({ title, body: `${body}\n` }, text)).toMatchObject([
    { kind, index: text.indexOf(body), text: body },
  ]);
  expect(findNamedSecret({ title, body: 'authenticated-by-the-vault' }, text)).toEqual([]);
  expect(findNamedSecret({ title, body: `See ${body}` }, text)).toEqual([]);
  expect(findNamedSecret({ title: 'build number', body }, text)).toEqual([]);
});

test('no text takes time out of proportion to its length', () => {
  const spent = (unit: string) => {
    const text = unit.repeat(Math.ceil(40_000 / unit.length));
    const start = process.cpuUsage();
    findSecrets(text);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  const benign = 'The quick brown fox jumps over the lazy dog, and over 42 lazy-bones.\n';
  const usual = Math.max(...[1, 2, 3, 4, 5].map(() => spent(benign)));
  const slow = [...kinds, ...assignments]
    .flatMap(({ pattern }) => pattern.source.match(/[A-Za-z0-9_./:-]{3,}/g) ?? [])
    .concat(['-', '=', 'a', 'a1B2', 'eyJaaaaaaaa.', '://a:', 'token for ', 'auth-key for ', '\n'])
    .flatMap((unit) => [unit, `${unit} `, `${unit}a1B2c3D4e5F6g7H8`, `${unit}${'a'.repeat(37)}`])
    // Once may be the machine's fault.
    .filter((unit) => [1, 2, 3].every(() => spent(unit) > 40 * usual));
  expect(slow).toEqual([]);
});
