import { afterAll, afterEach, expect, test } from 'vitest';
import { deep } from '../support/depth.ts';
import { EmbeddingServer, sendVectors } from '../support/embeddings.ts';
import { main, newFolder, RawClient } from '../support/process.ts';
import { runProgram } from '../support/program.ts';
import { Repo } from '../support/repo.ts';

const repo = Repo.create();
repo.write('.memory-bank/a.md', '# A\n\nA word about an engine.\n');
repo.write('.memory-bank/b.md', '# B\n\nA word about a person.\n');
const env = { PATH: process.env.PATH, HOME: newFolder() };
const clients: RawClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.child.kill('SIGKILL');
});
afterAll(() => repo.remove());

function search(settings: { readonly [name: string]: string }) {
  return runProgram(repo.root, ['search', 'word'], { env: { ...env, ...settings } });
}

test('a folder with a model is refused by name, and the search works without it', () => {
  const { status, stdout, stderr } = search({ MEMORY_BANK_EMBEDDINGS_FOLDER: env.HOME });
  expect(status).toBe(0);
  expect(stdout).toContain('a.md');
  expect(stderr).toContain('set MEMORY_BANK_EMBEDDINGS_URL and MEMORY_BANK_EMBEDDINGS_MODEL');
});

deep('an endpoint that is not named in full is reported', () => {
  const { status, stderr } = search({ MEMORY_BANK_EMBEDDINGS_URL: 'http://127.0.0.1:1/v1' });
  expect(status).toBe(0);
  expect(stderr).toContain('MEMORY_BANK_EMBEDDINGS_MODEL is not set');
});

deep('a server gives the texts of the records to the endpoint after a search', async () => {
  const server = await EmbeddingServer.start((input, response) =>
    sendVectors(
      response,
      input.map((text) => [text.includes('person') ? 1 : 0.1, 1]),
    ),
  );
  const settings = {
    MEMORY_BANK_EMBEDDINGS_URL: server.url,
    MEMORY_BANK_EMBEDDINGS_MODEL: 'm',
    MEMORY_BANK_EMBEDDINGS_KEY: 'secret-key',
  };
  const client = new RawClient([main], { cwd: repo.root, env: { HOME: env.HOME, ...settings } });
  clients.push(client);
  client.initialize().call(1, 'search_memory', { query: 'word' });
  await client.answer(1);
  await expect.poll(() => server.texts.join('\n'), { timeout: 10_000 }).toContain('a person');
  expect(server.headers[0]?.authorization).toBe('Bearer secret-key');
  await server.stop();
});
