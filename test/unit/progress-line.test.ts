import { WriteStream } from 'node:tty';
import { describe, expect, test } from 'vitest';
import { ProgressLine } from '../../src/cli/line/run-in-session.ts';

/** A stream that only remembers what was written to it. */
function stream(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  const fake = Object.assign(Object.create(WriteStream.prototype), { isTTY, columns: 50, write });
  return { line: new ProgressLine(fake), written };
}

describe('how far something is', () => {
  test('is one line of a terminal, and gone when it is done', () => {
    const { line, written } = stream(true);
    line.show(1, 3, 'Indexing\u001b[2J');
    expect(written.join('')).toBe('\rIndexing\\u{1b}[2J: 1 of 3\u001b[K');
    line.show(3, 3, 'Indexing');
    expect(written.at(-1)).toBe('\r\u001b[K');
    line.clear();
    expect(written).toHaveLength(2);
  });

  test('is gone too when the work fails', () => {
    const { line, written } = stream(true);
    line.show(1, 3, 'Indexing');
    line.clear();
    expect(written.at(-1)).toBe('\r\u001b[K');
  });

  test('is not in a pipe', () => {
    const { line, written } = stream(false);
    line.show(1, 3, 'Indexing');
    line.clear();
    expect(written).toEqual([]);
  });
});
