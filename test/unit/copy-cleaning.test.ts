import { expect, test } from 'vitest';
import { CopyCleaning } from '../../src/app/exchange/copy-cleaning.ts';

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj', 'AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4'];
const key = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----`;

test('a credential is replaced wherever it is, and everything else stays', () => {
  const cleaning = new CopyCleaning([]);
  const given = {
    text: `The token is ${token}.`,
    log: [{ subject: `Rotate ${token}`, at: 7, none: null }],
    [token]: true,
  };
  cleaning.look(given);
  expect(cleaning.clean(given)).toEqual({
    text: 'The token is [a GitHub token].',
    log: [{ subject: 'Rotate [a GitHub token]', at: 7, none: null }],
    '[a GitHub token]': true,
  });
});

test('all lines of a private key go, also where only a part of it is shown', () => {
  const cleaning = new CopyCleaning([]);
  const removed = `@@ -1,4 +1,1 @@\n${key.replace(/^/gm, '-')}\n+No key.`;
  cleaning.look([removed]);
  const [clean, part] = cleaning.clean([removed, ` ${lines[1]}\n+Another line.`]);
  for (const line of lines) expect(clean).not.toContain(line);
  expect(clean).toContain('+No key.');
  expect(part).toBe(' [a private key]\n+Another line.');
});

test('a value is a credential where its name says so', () => {
  const cleaning = new CopyCleaning([]);
  cleaning.lookAt('password', 'xK9#mPq2vL!7');
  cleaning.lookAt('note', 'harmless');
  expect(cleaning.clean('xK9#mPq2vL!7 is harmless')).not.toContain('xK9#mPq2vL!7');
  expect(cleaning.clean('harmless')).toBe('harmless');
});

test('folders of the machine are named by what they are, the longest first', () => {
  const cleaning = new CopyCleaning([
    ['/home/ada', '~'],
    ['/home/ada/shop', '.'],
    ['C:\\Users\\ada', '~'],
    ['/', '/'],
  ]);
  expect(
    cleaning.clean([
      '(/home/ada/shop/src/a.ts)',
      '/home/ada/x',
      'C:/Users/ada/y',
      'C:\\Users\\ada',
      'src/home/ada/z',
      '/home/adam',
    ]),
  ).toEqual(['(./src/a.ts)', '~/x', '~/y', '~', 'src/home/ada/z', '/home/adam']);
});
