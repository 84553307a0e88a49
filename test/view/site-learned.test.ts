import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { copyAndServer } from '../support/copy-and-server.ts';
import { deep } from '../support/depth.ts';
import { Repo } from '../support/repo.ts';
import { Sites } from '../support/site.ts';

const repo = Repo.create();
afterAll(() => repo.remove());

/** The sections of the docs of this project: real texts about related things. */
const sections = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .sort()
  .flatMap((name) => readFileSync(join('docs', name), 'utf8').split(/\n(?=#{2,3} )/))
  .filter((text) => text.length > 200)
  .slice(0, 240);

/** Words of a text that are not next to each other, as a person remembers it. */
function rememberedOf(text: string, nth: number): string {
  const words = text.match(/\p{L}{5,}/gu) ?? [];
  return [0, 7, 19].map((step) => words[(nth + step) % words.length] ?? '').join(' ');
}

const questions = [
  'how do I keep credentials out of the memory',
  'two people edit one entry at the same time',
  'what happens when the power fails during a save',
  'make the assistant forget something wrong',
  'share facts between repositories',
  'why are old statements marked',
  'run it without a network',
  'who wrote this line',
  'undo the last step of an agent',
  'limit what an agent may touch',
];

deep(
  'a copy of a memory from which words are learned finds in the order of the server',
  async () => {
    expect(sections.length).toBeGreaterThan(150);
    for (const [i, text] of sections.entries()) {
      repo.write(`.memory-bank/banks/projects/bank-${i % 20}/${i}.md`, text);
    }
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'Add the banks');
    const sites = await Sites.of(repo);
    const { server, copy, parts, close } = await copyAndServer(repo, await sites.files());
    expect(parts.words.learned.length).toBeGreaterThan(1000);
    const queries = [
      ...questions,
      ...sections.flatMap((text, i) => (i % 8 === 0 ? [rememberedOf(text, i)] : [])),
    ];
    expect(queries.length).toBeGreaterThan(30);
    for (const query of queries) {
      const pathsOf = async (find: typeof server.find) => {
        const { hits, total } = await find({ query, limit: '10' });
        return {
          query,
          total,
          hits: hits.map(({ path, section, score }) => [path, section, score]),
        };
      };
      expect(await pathsOf(copy.find)).toEqual(await pathsOf(server.find));
    }
    await close();
    await sites.close();
  },
);
