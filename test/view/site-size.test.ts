import { afterAll, expect, test } from 'vitest';
import { corpusMarkdown } from '../support/corpus-markdown.ts';
import { deep } from '../support/depth.ts';
import { Repo } from '../support/repo.ts';
import { partsOf, Sites } from '../support/site.ts';

const texts = corpusMarkdown().filter(({ text }) => text.trim() !== '');
const repo = Repo.create();
afterAll(() => repo.remove());

const measured = texts.length < 300 ? test.skip : deep;

measured('a copy of 300 records of public memory banks has at most two megabytes', async () => {
  for (const [i, { text }] of texts.slice(0, 300).entries()) {
    repo.write(`.memory-bank/banks/projects/bank-${i % 40}/${i}.md`, text);
  }
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'Add the banks');
  const sites = await Sites.of(repo);
  const files = await sites.files();
  expect(partsOf(files).base.records).toHaveLength(300);
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  expect(bytes).toBeLessThan(2_000_000);
  await sites.close();
});
