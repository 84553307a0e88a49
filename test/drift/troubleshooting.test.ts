import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const top = resolve(import.meta.dirname, '../..');

/** The sources, without line breaks inside of expressions. */
const sources = readdirSync(join(top, 'src'), { encoding: 'utf8', recursive: true })
  .filter((file) => /\.(?:ts|cjs)$/.test(file))
  .map((file) => readFileSync(join(top, 'src', file), 'utf8'));

/** The messages that headings quote, but not those of other programs. */
const messages = (
  readFileSync(join(top, 'docs/troubleshooting.md'), 'utf8').split(
    '\n## Messages of other programs\n',
  )[0] ?? ''
)
  .split('\n')
  .filter((line) => line.startsWith('### '));

/** Whether a source has all constant parts of a message, in their order. */
function prints(source: string, message: string): boolean {
  let from = 0;
  for (const part of message.split('…').filter((text) => /\w{2}/.test(text))) {
    const at = source.indexOf(part.trim().replace(/[.:;]$/, ''), from);
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

it('docs/troubleshooting.md has a heading for each of many messages', () => {
  expect(messages.length).toBeGreaterThan(30);
});

it.each(messages)('the program prints the message of %s', (heading) => {
  const message = /^### `(.+)`$/.exec(heading)?.[1];
  expect(message, 'the heading is one quoted message').toBeDefined();
  expect(sources.some((source) => prints(source, message ?? ''))).toBe(true);
});
