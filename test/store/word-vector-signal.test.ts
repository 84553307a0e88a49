import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { deep, sample } from '../support/depth.ts';
import { note } from '../support/note.ts';
import { type Opened, open } from '../support/open.ts';
import { Repo } from '../support/repo.ts';
import { topicTexts } from '../support/topics.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A project with notes about topics, and two notes that contain one word of the question. */
function project(count: number): Repo {
  const repo = Repo.create();
  cleanUp.push(() => repo.remove());
  for (const [at, text] of topicTexts(count).entries()) write(repo, `n${at}`, text);
  write(repo, 'parser', 'token lexer grammar');
  write(repo, 'session', 'token session cookie');
  return repo;
}

function write(repo: Repo, key: string, text: string): void {
  repo.write(`.memory-bank/notes/${key}.yaml`, `key: ${key}\ntags: []\ntext: ${text}\n`);
}

async function serve(repo: Repo, learnAfter = 0): Promise<Opened> {
  const opened = await open(repo.root, [note], { learnAfter, table: () => undefined });
  cleanUp.push(() => opened.workspace.close());
  return opened;
}

async function order({ call }: Opened): Promise<string[]> {
  const { hits } = await call.store.search({ query: 'token password', limit: 1000 });
  return hits.map(({ key }) => key).filter((key) => !/^n\d/.test(key));
}

/** Searches until words are learned; returns whether they were. */
async function learns(opened: Opened): Promise<boolean> {
  for (let turn = 0; turn < 20; turn++) {
    const request = { query: 'token password', explain: true };
    const { hits } = await opened.call.store.search(request);
    if (hits.some(({ explanation }) => explanation?.signals.learned)) return true;
    await setTimeout(5);
  }
  return false;
}

function fileOf(repo: Repo): string | undefined {
  const folder = repo.path('.git/memory-bank');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const name = names.find((name) => name.startsWith('words-'));
  return name && join(folder, name);
}

async function wordVectorFile(repo: Repo): Promise<string> {
  for (let turn = 0; turn < 200; turn++) {
    const file = fileOf(repo);
    if (file) return file;
    await setTimeout(5);
  }
  throw new Error('no file was written');
}

describe('the signal that is learned', () => {
  test('changes the ranking once it is learned, and the ranking of the next process', async () => {
    const repo = project(100);
    const opened = await serve(repo);
    expect(await order(opened)).toEqual(['parser', 'session']);
    expect(await learns(opened)).toBe(true);
    expect(await order(opened)).toEqual(['session', 'parser']);
    await wordVectorFile(repo);
    await opened.workspace.close();
    const next = await serve(repo, 60_000);
    expect(await order(next)).toEqual(['session', 'parser']);
  });

  test('is not trusted when its file is damaged, and is learned again', async () => {
    const repo = project(100);
    const opened = await serve(repo);
    await learns(opened);
    const file = await wordVectorFile(repo);
    await opened.workspace.close();
    const good = readFileSync(file);
    const places = [good.length - 1, 0, 33, 200, good.length >> 1];
    for (const at of sample(places, 1)) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ 1;
      writeFileSync(file, bad);
      const next = await serve(repo);
      expect(await order(next)).toEqual(['parser', 'session']);
      expect(await learns(next)).toBe(true);
    }
    writeFileSync(file, good.subarray(0, 40));
    expect(await order(await serve(repo, 60_000))).toEqual(['parser', 'session']);
  });

  deep('learns again after many changes', async () => {
    const repo = project(100);
    const opened = await serve(repo);
    await learns(opened);
    const file = await wordVectorFile(repo);
    const before = readFileSync(file);
    const changed = topicTexts(60, 2).map((text, at) =>
      at < 20 ? `${text} quince` : `${text} ${text}`,
    );
    for (const [at, text] of changed.entries()) write(repo, `n${at}`, text);
    for (let turn = 0; turn < 100 && before.equals(readFileSync(file)); turn++) {
      await order(opened);
      await setTimeout(5);
    }
    expect(readFileSync(file).includes('"quinc"')).toBe(true);
  });

  test('is learned after one search, also if the records are still being indexed then', async () => {
    const repo = project(100);
    const opened = await serve(repo);
    await order(opened);
    expect(await wordVectorFile(repo)).toContain('words-');
  });

  test('is off in a small memory of a project without other texts', async () => {
    const repo = project(20);
    expect(await learns(await serve(repo))).toBe(false);
    expect(fileOf(repo)).toBeUndefined();
  });

  test('is learned in a small memory from the documents and commits of the project', async () => {
    const repo = project(20);
    const texts = topicTexts(160).map((text) => `${text}.`);
    repo.write('docs/guide.md', texts.slice(0, 80).join('\n\n'));
    repo.git('add', 'docs');
    repo.git('commit', '-m', texts.slice(80).join('\n'));
    const opened = await serve(repo);
    expect(await learns(opened)).toBe(true);
    expect(await order(opened)).toEqual(['session', 'parser']);
  });
});
