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
