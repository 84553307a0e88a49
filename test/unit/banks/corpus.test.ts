import { expect, it } from 'vitest';
import { contentBudget } from '../../../src/toolsets/banks/budget.ts';
import { bytesOf } from '../../../src/toolsets/banks/summary.ts';
import { banks } from '../../../src/toolsets/banks/toolset.ts';
import { callTool, TestContext } from '../../support/context.ts';
import { corpusMarkdown } from '../../support/corpus-markdown.ts';

const files = corpusMarkdown();

it.skipIf(files.length === 0)('memory files of real projects are served as they are', async () => {
  const context = new TestContext(banks);
  const projects = new Map<string, Map<string, string>>();
  for (const [i, { name, text }] of files.entries()) {
    const id = name.split('/')[0] ?? '';
    const bank = projects.get(id) ?? new Map();
    projects.set(id, bank.set(`${i}.md`, text));
    context.store.files.set(`banks/projects/${id}/${i}.md`, text);
  }
  for (const [bank_id, texts] of projects) {
    const bank = { bank_type: 'project', bank_id };
    const { body, isError } = await callTool(banks, context, 'activate', bank);
    expect(isError).toBe(false);
    expect(body.bank_info).not.toHaveProperty('damaged');
    expect(bytesOf(body.content) + bytesOf(body.summaries ?? {})).toBeLessThan(contentBudget + 10);
    expect(bytesOf(body)).toBeLessThan(40_000);
    for (const [file, text] of Object.entries(Object(body.content))) {
      expect(texts.get(file)?.endsWith(String(text))).toBe(true);
    }
    for (const summary of Object.values(Object(body.summaries ?? {}))) expect(summary).not.toBe('');
  }
  expect(context.store.commits).toEqual([]);
});
