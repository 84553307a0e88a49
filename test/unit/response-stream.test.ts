import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import { afterEach, expect, test, vi } from 'vitest';
import { Backlog } from '../../src/server/http/server/backlog.ts';
import { ResponseStream } from '../../src/server/http/server/response-stream.ts';

afterEach(() => {
  vi.useRealTimers();
});

function opened() {
  vi.useFakeTimers();
  const response = new ServerResponse(new IncomingMessage(new Socket())) as Response;
  const written: string[] = [];
  vi.spyOn(response, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  return { response, written, stream: new ResponseStream(response, new Backlog(1_000)) };
}

test('a response on which nothing is sent shows that it is alive', () => {
  const { response, written } = opened();
  vi.advanceTimersByTime(14_000);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(20_000);
  // Lines that begin with a colon are comments in a stream of events.
  expect(written).toEqual([':\n\n', ':\n\n']);
  expect(response.getHeader('content-type')).toBe('text/event-stream');
  response.emit('close');
  vi.advanceTimersByTime(60_000);
  expect(written).toHaveLength(2);
});

test('a message is one event, whatever line ends it contains', () => {
  const { written, stream, response } = opened();
  stream.send({ text: 'a\nb\r\n' });
  expect(written).toEqual(['event: message\ndata: {"text":"a\\nb\\r\\n"}\n\n']);
  response.emit('close');
});
