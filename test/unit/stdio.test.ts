import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { JsonLines, maxMessageBytes } from '../../src/server/mcp/stdio.ts';
import { deep } from '../support/depth.ts';

/** Sends the chunks as input; returns the values read and the answers written. */
async function feed(...chunks: (string | Buffer)[]) {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines = new JsonLines(input, output);
  const values: unknown[] = [];
  lines.onvalue = (value) => values.push(value);
  const ended = new Promise<void>((resolve) => {
    lines.onend = resolve;
  });
  lines.start();
  for (const chunk of chunks)
    if (!input.write(chunk)) await new Promise((next) => input.once('drain', next));
  input.end();
  await ended;
  const text = String(output.read() ?? '');
  const answers = text.split('\n').filter((line) => line !== '');
  return { values, answers: answers.map((line) => JSON.parse(line)) };
}

const tooLong = 'x'.repeat(maxMessageBytes);

describe('reading', () => {
  test('one value on each line, with either line end, and the last one without', async () => {
    expect((await feed('{"a":1}\r\n\n[2]\n \n"three"')).values).toEqual([{ a: 1 }, [2], 'three']);
  });

  test('a byte order mark at the start is not part of the message', async () => {
    expect((await feed('\uFEFF{"a":1}\n')).values).toEqual([{ a: 1 }]);
  });

  test('characters that are divided between chunks', async () => {
    const bytes = Buffer.from('"zażółć 🧠 記憶"\n"next"\n');
    const single = Array.from(bytes, (byte) => Buffer.from([byte]));
    expect((await feed(...single)).values).toEqual(['zażółć 🧠 記憶', 'next']);
  });

  test.each([
    ['text that is not JSON', '{"a":\n'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22, 0x0a])],
  ])('%s is answered, and the next line is read', async (_, line) => {
    const { values, answers } = await feed(line, '1\n');
    expect(answers).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code: -32700 } }]);
    expect(values).toEqual([1]);
  });

  deep.each([
    ['at the end', `{"method":"m","params":{"id":3,"x":"${tooLong}"},"jsonrpc":"2.0","id":7}`, 7],
    ['after the version', `{"jsonrpc":"2.0","id":"é","x":"${tooLong}"}`, null],
    ['at the start', `{"id":"a-1","x":"${tooLong}"}`, 'a-1'],
    ['further inside', `{"x":"${tooLong}","params":{"id":7}}`, null],
    ['in a text', `{"x":"${tooLong},\\"id\\":7}"}`, null],
    ['nowhere', `${tooLong}x`, null],
  ])('a line that is too long is refused by its id: %s', async (_, line, id) => {
    const { values, answers } = await feed(`${line}\n`, '1\n');
    expect(answers).toMatchObject([{ id, error: { code: -32600 } }]);
    expect(values).toEqual([1]);
  });

  deep('the longest line that is allowed is read', async () => {
    const line = JSON.stringify('x'.repeat(maxMessageBytes - 2));
    expect((await feed(`${line}\n`)).values).toHaveLength(1);
  });
});

describe('writing', () => {
  test('requests of a client that does not read the answers are not read', async () => {
    const input = new PassThrough();
    const held: (() => void)[] = [];
    const output = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => void held.push(done),
    });
    const lines = new JsonLines(input, output);
    lines.start();
    void lines.send({ answer: 1 });
    expect(input.isPaused()).toBe(true);
    const drained = new Promise((resolve) => output.once('drain', resolve));
    held.shift()?.();
    await drained;
    expect(input.isPaused()).toBe(false);
  });

  test('a broken output ends the reading once, and later values are dropped', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const lines = new JsonLines(input, output);
    let ends = 0;
    const ended = new Promise<void>((resolve) => {
      lines.onend = () => {
        ends += 1;
        resolve();
      };
    });
    lines.start();
    output.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await ended;
    await lines.send({ late: true });
    lines.stop();
    expect(ends).toBe(1);
    expect(input.destroyed).toBe(true);
  });
});
