import { writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type Served, serve } from '../support/http.ts';

let api: Served | undefined;

afterEach(() => api?.close());

test('requests that share a look at the disk see every edit that was made before they were sent', async () => {
  api = await serve();
  const served = api;
  const file = '/memory-bank/file/note.md';
  await served.ask('POST', '/memory-bank/file', {
    body: { filename: 'note.md', content: 'first' },
  });
  const path = served.repo.path('.memory-bank/note.md');
  const readers: Promise<void>[] = [];
  let written = 0;
  // The requests of several rounds are under way at the same time.
  for (let round = 1; round <= 20; round += 1) {
    writeFileSync(path, `round ${round}\n`);
    written = round;
    for (let i = 0; i < 10; i += 1) {
      const least = written;
      readers.push(
        served.ask('GET', file).then(({ body }) => {
          const [, seen] = /^round (\d+)$/m.exec(body.content) ?? [];
          expect(Number(seen)).toBeGreaterThanOrEqual(least);
        }),
      );
    }
    await new Promise(setImmediate);
  }
  await Promise.all(readers);
});

test('concurrent requests for the status see what was done before they were sent', async () => {
  api = await serve();
  const served = api;
  const statuses = async () => {
    const requests = Array.from({ length: 20 }, () => served.ask('GET', '/status'));
    return new Set(
      (await Promise.all(requests)).map(({ status, body }) => body.memoryBankStatus ?? status),
    );
  };
  expect(await statuses()).toEqual(new Set(['uninitialized']));
  const body = { filename: 'note.md', content: 'text' };
  await served.ask('POST', '/memory-bank/file', { body });
  expect(await statuses()).toEqual(new Set(['initialized']));
  served.repo.write('.memory-bank/config.yaml', 'format: 999\n');
  expect(await statuses()).toEqual(new Set([503]));
});
