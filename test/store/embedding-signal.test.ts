import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { openEmbedder } from '../../src/app/embeddings/embedding-settings.ts';
import type { Embedder } from '../../src/core/declarations/embedder.ts';
import { deep, sample } from '../support/depth.ts';
import { EmbeddingServer, sendVectors } from '../support/embeddings.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** Vectors of two dimensions: whether a text is about people, and whether it is about machines. */
const toVector = (text: string) => [
  /person|user/.test(text) ? 1 : 0.1,
  /engine/.test(text) ? 1 : 0.1,
];

const vectorsOf = (texts: readonly string[]) => texts.map(toVector);

async function project() {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  write(repo, 'a', 'a word about an engine');
  write(repo, 'b', 'a word about a person');
  write(repo, 'secret', 'a word: password = "hunter2-Xk93jfQ8slQpz"');
  const server = await EmbeddingServer.start((input, response) =>
    sendVectors(response, vectorsOf(input)),
  );
  cleanUp.push(() => server.stop());
  return { repo, server };
}

function write(repo: Repo, key: string, text: string): void {
  repo.write(`.memory-bank/notes/${key}.yaml`, `key: ${key}\ntags: []\ntext: '${text}'\n`);
}

async function serve(
  repo: Repo,
  { url }: EmbeddingServer,
  { learnAfter = 0, embedder = () => openEmbedder({ url, model: 'm', key: undefined }) } = {},
) {
  const warnings: string[] = [];
  const opened = await open(repo.root, [note], {
    learnAfter,
    table: () => undefined,
    embedder,
    warn: (message) => warnings.push(message),
  });
  cleanUp.push(() => opened.workspace.close());
  return { opened, warnings };
}

async function order({ call }: Opened, query = 'word user'): Promise<string[]> {
  const { hits } = await call.store.search({ query });
  return hits.map(({ key }) => key);
}

/** Searches until the model has changed the ranking; returns whether it has. */
async function ranks(opened: Opened, query = 'word user'): Promise<boolean> {
  for (let turn = 0; turn < 60; turn++) {
    const { hits } = await opened.call.store.search({ query, explain: true });
    if (hits.some(({ explanation }) => explanation?.signals.model)) return true;
    await setTimeout(5);
  }
  return false;
}

describe('the signal of an embedding model', () => {
  test('changes the ranking when the vectors are there, and is in the explanation', async () => {
    const { repo, server } = await project();
    const { opened, warnings } = await serve(repo, server);
    expect(await order(opened)).toEqual(['a', 'b', 'secret']);
    expect(await ranks(opened)).toBe(true);
    expect((await order(opened))[0]).toBe('b');
    expect(warnings).toEqual([]);
  });

  test('gets no text with a credential, neither of a record nor of a question', async () => {
    const { repo, server } = await project();
    const { opened } = await serve(repo, server);
    await ranks(opened);
    await order(opened, 'word password = "hunter2-Xk93jfQ8slQpz"');
    expect(server.texts.length).toBeGreaterThan(2);
    expect(server.texts.filter((text) => text.includes('hunter2'))).toEqual([]);
  });

  test('keeps the vectors by content for the next process', async () => {
    const { repo, server } = await project();
    const { opened: first } = await serve(repo, server);
    await ranks(first);
    await first.workspace.close();
    write(repo, 'c', 'a word about another engine');
    const before = server.texts.length;
    const { opened: next } = await serve(repo, server);
    expect((await order(next))[0]).toBe('b');
    const isAsked = () => server.texts.some((text) => text.includes('another engine'));
    await expect.poll(() => order(next).then(isAsked)).toBe(true);
    expect(server.texts.slice(before).filter((text) => text.includes('a person'))).toEqual([]);
  });

  deep('makes the vectors again when their file is damaged', async () => {
    const { repo, server } = await project();
    const { opened: first } = await serve(repo, server);
    await ranks(first);
    await first.workspace.close();
    const folder = repo.path('.git/memory-bank');
    const name = readdirSync(folder).find((name) => name.startsWith('vectors-')) ?? '';
    const bytes = readFileSync(join(folder, name));
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    writeFileSync(join(folder, name), bytes);
    const { opened: next } = await serve(repo, server);
    expect(await order(next)).toEqual(['a', 'b', 'secret']);
    expect(await ranks(next)).toBe(true);
  });

  const failing: [string, EmbeddingServer['answer']][] = [
    ['is down', (_input, response) => response.destroy()],
    ['refuses', (_input, response) => response.writeHead(500).end()],
    [
      'answers no numbers',
      (input, response) =>
        sendVectors(
          response,
          input.map(() => [null]),
        ),
    ],
    [
      'answers zeros',
      (input, response) =>
        sendVectors(
          response,
          input.map(() => [0, 0]),
        ),
    ],
    ['hangs', () => undefined],
  ];
  test.each(sample(failing, 2))('changes nothing when the endpoint %s', async (_name, answer) => {
    const { repo, server } = await project();
    server.answer = answer;
    const { opened, warnings } = await serve(repo, server);
    for (let turn = 0; turn < 3; turn++) {
      expect(await order(opened)).toEqual(['a', 'b', 'secret']);
      await setTimeout(10);
    }
    expect(warnings.length).toBeLessThanOrEqual(1);
  });

  deep('waits for a slow answer once, and uses it for the next search', async () => {
    const { repo, server } = await project();
    const { opened } = await serve(repo, server);
    await ranks(opened, 'word');
    let late: (() => void) | undefined;
    server.answer = (input, response) => {
      late = () => sendVectors(response, vectorsOf(input));
    };
    expect(await order(opened)).toEqual(['a', 'b', 'secret']);
    late?.();
    await expect.poll(() => order(opened)).toEqual(expect.arrayContaining(['b']));
    await expect.poll(async () => (await order(opened))[0]).toBe('b');
  });

  deep(
    'reports a model that changes the length of its vectors, and goes on without it',
    async () => {
      const { repo, server } = await project();
      const { opened, warnings } = await serve(repo, server);
      await ranks(opened);
      server.answer = (input, response) =>
        sendVectors(
          response,
          input.map(() => [1, 2, 3]),
        );
      write(repo, 'c', 'a word about something new');
      await expect.poll(() => order(opened, 'new word').then(() => warnings)).toHaveLength(1);
      expect(warnings[0]).toContain('changes the length of its vectors');
      expect((await order(opened))[0]).toBe('b');
    },
  );

  deep('reports a model that cannot be opened once', async () => {
    const { repo, server } = await project();
    const embedder = async (): Promise<Embedder> => {
      throw new Error('The endpoint for embeddings is odd.');
    };
    const { opened, warnings } = await serve(repo, server, { embedder });
    expect(await order(opened)).toEqual(['a', 'b', 'secret']);
    await order(opened);
    expect(warnings).toEqual(['The endpoint for embeddings is odd. The search works without it.']);
  });
});
