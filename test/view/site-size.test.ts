import { afterAll, expect, test } from 'vitest';
import { corpusMarkdown } from '../support/corpus-markdown.ts';
import { deep } from '../support/depth.ts';
import { Repo } from '../support/repo.ts';
import { partsOf, Sites } from '../support/site.ts';

const texts = corpusMarkdown().filter(({ text }) => text.trim() !== '');
const repo = Repo.create();
afterAll(() => repo.remove());

const measured = texts.length < 300 ? test.skip : deep;

/** Returns a record as it was some changes before: some of its paragraphs were others. */
function earlier(number: number, before: number): string {
  const paragraphs = (texts[number]?.text ?? '').split('\n\n');
  const others = (texts[(number + before) % 300]?.text ?? '').split('\n\n');
  return paragraphs
    .map((own, i) => ((i + before) % 10 === 0 && before > 0 ? (others[i] ?? own) : own))
    .join('\n\n');
}

measured('a copy of 300 records with their history has at most two megabytes', async () => {
  for (let before = 4; before >= 0; before--) {
    for (let number = 0; number < 300; number++) {
      const path = `.memory-bank/banks/projects/bank-${number % 40}/${number}.md`;
      repo.write(path, earlier(number, before));
    }
    const at = `2026-01-${10 - before}T12:00:00Z`;
    repo.git('add', '-A');
    const env = { GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at };
    repo.gitWith({ env }, 'commit', '-qm', `Change the banks ${before}`);
  }
  const sites = await Sites.of(repo);
  const files = await sites.files();
  const parts = partsOf(files);
  expect(parts.base.records).toHaveLength(300);
  const bytes = [...files.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  expect(bytes).toBeLessThan(2_000_000);
  // The room that is left has the newest states of each record, and not all.
  expect(bytes).toBeGreaterThan(1_900_000);
  const counts = [0, 1, 2].flatMap((number) =>
    Object.entries(parts[`records-${number}`] ?? {}).map(([path, { log }]) => {
      const states = parts[`states-${number}`]?.[path] ?? [];
      expect(states.length).toBeGreaterThan(0);
      return { kept: states.length, all: log.total };
    }),
  );
  const sum = (name: 'kept' | 'all') => counts.reduce((found, one) => found + one[name], 0);
  expect(sum('kept')).toBeGreaterThan(300);
  expect(sum('kept')).toBeLessThan(sum('all'));
  await sites.close();
});
