import { expect, it } from 'vitest';
import { redactText } from '../../../src/store/secrets/redaction.ts';

const lines = [
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj',
  'AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4',
  'Qw==',
];
const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');

it.each([
  ['as it is', key],
  ['indented', key.replace(/^/gm, '  ')],
  ['quoted', key.replace(/^/gm, '> ')],
  ['escaped', key.replaceAll('\n', '\\n')],
  ['without its end', key.split('\n').slice(0, -1).join('\n')],
  ['as removed lines', key.replace(/^/gm, '-')],
])('every line of a private key is replaced: %s', (_, text) => {
  const redacted = redactText(`Before.\n${text}\nAfter.`);
  expect(redacted).toContain('[a private key]');
  for (const line of lines.slice(0, 2)) expect(redacted).not.toContain(line);
  if (text.includes('END')) expect(redacted).not.toContain('Qw==');
  expect(redacted).toMatch(/^Before\.\n[\s\S]*\nAfter\.$/);
});

it('what follows a key that is the end of the text stays', () => {
  expect(redactText(`${key}\nThe next paragraph.`)).toMatch(/\nThe next paragraph\.$/);
});

it.each([
  ['signs after a key', `${key.split('\n').slice(0, 2).join('\n')}\n${'+'.repeat(200_000)}`],
  ['headers of a key', `-----BEGIN PRIVATE KEY-----\n${`${'-'.repeat(19)}a: b\n`.repeat(40)}!`],
])('a text of many %s is read at once', (_, text) => {
  expect(redactText(text)).not.toContain(lines[0]);
});
