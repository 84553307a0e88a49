import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, expect, vi } from 'vitest';
import { deep } from '../support/depth.ts';
import { main, RawClient } from '../support/process.ts';
import { Repo } from '../support/repo.ts';

/** A server reads the memory before the first call; then it saves the index of one with so many records. */

const records = 600;
const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const step of cleanUp.splice(0).reverse()) step();
});

function project(): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  const folder = repo.path('.memory-bank/notes');
  mkdirSync(folder, { recursive: true });
  const time = Date.now() / 1000 - 60;
  for (let i = 0; i < records; i++) {
    const path = `${folder}/n${i}.md`;
    writeFileSync(path, `# Note ${i}\n\nThe queue number ${i} has a limit of its own.\n`);
    utimesSync(path, time, time);
  }
  return repo;
}

function serve(repo: Repo): RawClient {
  const client = new RawClient([main], { cwd: repo.root });
  cleanUp.push(() => client.child.kill('SIGKILL'));
  return client;
}

function hasIndex(repo: Repo): boolean {
  try {
    return readdirSync(repo.path('.git/memory-bank')).some((name) => name.startsWith('records-'));
  } catch {
    return false;
  }
}

deep('a client that calls no tool yet has its memory read', async () => {
  const repo = project();
  serve(repo).initialize();
  await vi.waitUntil(() => hasIndex(repo), { timeout: 60_000 });
  expect(repo.status()).toHaveLength(records);
});

deep('so has a client of the current revision', async () => {
  const repo = project();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const client = serve(repo).request(1, 'server/discover', { _meta });
  await client.answer(1);
  await vi.waitUntil(() => hasIndex(repo), { timeout: 60_000 });
});

deep('a client whose roots decide is not asked for them before a call', async () => {
  const repo = project();
  const client = serve(repo).initialize({ roots: {} }).request(2, 'tools/list');
  await client.answer(2);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(client.out).not.toContain('roots/list');
  expect(hasIndex(repo)).toBe(false);
});
