import { describe, expect, test } from 'vitest';
import { assignments } from '../../../src/store/secrets/assignment.ts';
import { forms } from '../../../src/store/secrets/forms.ts';
import { kinds } from '../../../src/store/secrets/kinds.ts';
import { findNamedSecret, findSecrets } from '../../../src/store/secrets/scan.ts';
import { credentials, nearMisses } from '../../support/credentials.ts';
import { isFull } from '../../support/depth.ts';
import fc from '../../support/fc.ts';
import { notOnWindows } from '../../support/windows.ts';

describe('a credential is found:', () => {
  test.each(credentials())('$name', ({ text }) => {
    expect(findSecrets(text)).toHaveLength(1);
    expect(findSecrets(`# Notes\n\nSome words. ${text}\n\nMore words.\n`)).toHaveLength(1);
  });
});

describe('no credential is found in:', () => {
  test.each(nearMisses())('$name', ({ text }) => {
    expect(findSecrets(text)).toEqual([]);
  });
});

const quick = [...assignments, ...forms].flatMap(({ pattern, needs }) =>
  needs ? [{ form: pattern.source.slice(0, 60), pattern, needs }] : [],
);

test.each(quick)('every match of $form has a text by which it is looked for', (kind) => {
  const { pattern, needs } = kind;
  const plain = pattern.source
    .replace(/\(\?<?[=!](?:[^()[\]\\]|\\.|\[[^\]]*\])*\)/g, '')
    .replace(/\\b/g, '');
  const matches = fc.stringMatching(new RegExp(plain.replaceAll('(?<secret>', '(?:')));
  const isFound = (text: string) => {
    const searched = pattern.ignoreCase ? text.toLowerCase() : text;
    return needs.some((one) => searched.includes(one));
  };
  fc.assert(fc.property(matches, isFound), { numRuns: 100 });
});

/** Ways to write a text with other bytes that looks or is read the same. */
const veils: readonly (readonly [name: string, veil: (text: string) => string])[] = [
  ['zero-width spaces', (text) => [...text].join('\u200b')],
  ['a soft hyphen', (text) => `${text.slice(0, 3)}\u00ad${text.slice(3)}`],
  ['a word joiner and a tag', (text) => `${text.slice(0, 5)}\u2060\u{e0041}${text.slice(5)}`],
  [
    'full-width forms',
    (text) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
  ],
  ['percent-encoding of signs', (text) => text.replace(/[^A-Za-z0-9\n ]/g, percent)],
  ['percent-encoding of everything', (text) => text.replace(/[^\n ]/g, percent)],
  ['it encoded twice', (text) => text.replace(/[_-]/g, (char) => `%25${percent(char).slice(1)}`)],
  [
    'a full-width percent sign',
    (text) => text.replace(/[_-]/g, (char) => percent(char).replace('%', '\uff05')),
  ],
  ['entities', (text) => text.replace(/[_-]/g, (char) => `&#${char.charCodeAt(0)};`)],
  ['escapes of JSON', (text) => text.replace(/[_-]/g, (char) => `\\u00${percent(char).slice(1)}`)],
  ['escapes of markdown', (text) => text.replace(/[_-]/g, '\\$&')],
  ['zero-width spaces as YAML writes them', (text) => text.replace(/_/g, '\\u200b_')],
];

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

describe.each(veils)('a credential is found behind %s:', (_, veil) => {
  const samples = credentials().filter(({ name }) =>
    /^(?:GitHub token|Stripe|Anthropic|AWS access)/.test(name),
  );
  test.each(samples)('$name', ({ text: sample }) => {
    const [plain] = findSecrets(sample);
    const veiled = veil(plain?.text ?? '');
    const text = `# Notes \u{1f600}\ufe0f\n\nÜber 100%: ${veiled} \n\nMore words.\n`;
    const found = findSecrets(text);
    const index = text.indexOf(veiled);
    expect(found).toEqual([{ ...plain, index, end: index + veiled.length, text: veiled }]);
  });
});

test.each([
  'See https://example.org/a%20b%2Fc%3Fd%3D1 and \u{1f468}\u200d\u{1f469}\u200d\u{1f467} 1\ufe0f\u20e3.',
  'C:\\_work\\u0041 ① ½ x² ™ \u200b',
])('no credential is found in %j', (text) => {
  expect(findSecrets(text)).toEqual([]);
});

test.each([
  ['openai-api-key', 'a key or token'],
  ['The password of the staging server', 'a password'],
  ['The pass\u00adword of the staging server', 'a password'],
])('a record named "%s" is %s if it has no other content', (title, kind) => {
  const body = 'q8ZrT2vN5xLk7WmP';
  const text = `---\nkey: ${title}\n---\n${body}\n`;
  expect(findNamedSecret({ title, body: `${body}\n` }, text)).toMatchObject([
    { kind, index: text.indexOf(body), text: body },
  ]);
  expect(findNamedSecret({ title, body: 'authenticated-by-the-vault' }, text)).toEqual([]);
  expect(findNamedSecret({ title, body: `See ${body}` }, text)).toEqual([]);
  expect(findNamedSecret({ title: 'build number', body }, text)).toEqual([]);
});

const timed = notOnWindows('it counts the time of a process in steps of 15 ms');

timed.runIf(isFull)('the time for a text is proportional to its length', () => {
  const spent = (unit: string) => {
    const text = unit.repeat(Math.ceil((isFull ? 40_000 : 2_000) / unit.length));
    const start = process.cpuUsage();
    findSecrets(text);
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  const benign = 'The quick brown fox jumps over the lazy dog, and over 42 lazy-bones.\n';
  const usual = Math.max(...[1, 2, 3, 4, 5].map(() => spent(benign)));
  const slow = [...kinds, ...assignments]
    .flatMap(({ pattern }) => pattern.source.match(/[A-Za-z0-9_./:-]{3,}/g) ?? [])
    .concat([
      '-',
      '=',
      'a',
      'a1B2',
      'eyJaaaaaaaa.',
      '://a:',
      'token for ',
      'auth-key for ',
      '\n',
      '%5F',
      '%25',
      '&amp;',
      '&#95;',
      '\\u005f',
      'x\u200b',
      '\uff41',
    ])
    .flatMap((unit) => [unit, `${unit} `, `${unit}a1B2c3D4e5F6g7H8`, `${unit}${'a'.repeat(37)}`])
    // A single slow run may be due to the machine.
    .filter((unit) => [1, 2, 3].every(() => spent(unit) > 40 * usual));
  expect(slow).toEqual([]);
});
