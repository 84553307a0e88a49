import { describe, expect, it } from 'vitest';
import { withoutBlankEnds } from '../../src/core/markdown/line.ts';
import {
  type BankDocument,
  bankDocument,
  frontMatter,
} from '../../src/toolsets/banks/bank-document.ts';
import { bytesOf, summarize } from '../../src/toolsets/banks/summary.ts';
import { banks } from '../../src/toolsets/banks/toolset.ts';
import { callTool, TestContext } from '../support/context.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const line = fc.oneof(
  fc.constantFrom('# A', '## B', '### B', 'text', '- item', '```', '---', '', ' ', 'version: 3'),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const markdown = fc
  .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n', '\n\n'), fc.boolean())
  .map(([lines, end, last]) => lines.join(end) + (last ? end : ''));

const key = 'code/x/readme.md';
const document: fc.Arbitrary<BankDocument> = fc.record(
  {
    key: fc.constant(key),
    bank: fc.string({ minLength: 1, maxLength: 20 }),
    last_updated: fc.constantFrom('2026-01-01T00:00:00.000Z', '2025-12-31T23:59:59Z'),
    version: fc.nat(),
    relevance_score: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
    body: markdown,
  },
  { requiredKeys: ['key', 'body'] },
);
const path = 'banks/code/x/readme.md';

describe('bank documents', () => {
  const { codec } = bankDocument;

  it('decode to the encoded document', () => {
    fc.assert(
      fc.property(document, document, (value, before) => {
        expect(codec.decode(codec.encode(value), path)).toEqual(value);
        expect(codec.decode(codec.encode(value, codec.encode(before)), path)).toEqual(value);
      }),
      {
        examples: [
          [
            { key, body: '' },
            { key, relevance_score: 0, body: '' },
          ],
          [
            { key, body: '---\n---\n' },
            { key, body: '' },
          ],
        ],
      },
    );
  });

  it('keep their bytes without a change', () => {
    fc.assert(
      fc.property(
        markdown,
        fc.constantFrom('', '---\nversion: 1.0.2 # mine\n---\n'),
        (body, head) => {
          const text = head + body;
          let value: BankDocument;
          try {
            value = codec.decode(text, path);
          } catch {
            return;
          }
          expect(codec.encode(value, text)).toBe(text);
        },
      ),
    );
  });
});

describe('update', () => {
  it('changes exactly the requested bytes', async () => {
    await fc.assert(
      fc.asyncProperty(markdown, markdown, async (old, content) => {
        const context = new TestContext(banks);
        const bank = { bank_type: 'code', bank_id: 'x' };
        const target = { ...bank, target_file: 'a.md' };
        await callTool(banks, context, 'activate', bank);
        const write = async (operation: string, text: string, position?: string) => {
          const { isError } = await callTool(banks, context, 'update', {
            ...target,
            operation,
            content: text,
            position,
          });
          if (isError) return undefined;
          const { body } = await callTool(banks, context, 'swap', {
            ...bank,
            merge_files: ['a.md'],
          });
          return String(Object(body.content)['a.md']);
        };
        const given = await write('replace', old);
        // Only front matter of the server is refused.
        if (given === undefined) {
          expect(frontMatter(old)).toContain('version:');
          return;
        }
        expect(given).toBe(old);
        const longer = await write('append', content);
        if (longer === undefined) return;
        const added = unix(withoutBlankEnds(content));
        if (added === '') expect(longer).toBe(old);
        expect(isGrown(longer, old)).toBe(true);
        expect(unix(longer)).toContain(added);
        const inserted = String(await write('insert', content, 'B'));
        expect(isGrown(inserted, longer)).toBe(true);
        expect(unix(inserted)).toContain(added);
      }),
      { numRuns: runs(100) },
    );
  });
});

/** Whether one text is the other with a piece inserted in one place. */
function isGrown(text: string, before: string): boolean {
  let same = 0;
  while (same < before.length && text[same] === before[same]) same++;
  return text.endsWith(before.slice(same));
}

/** Makes line endings equal: an inserted piece gets those of the text around it. */
function unix(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

it('a summary is never larger than its limit', () => {
  fc.assert(
    fc.property(fc.array(markdown, { maxLength: 20 }), fc.nat(2000), (parts, limit) => {
      const text = parts.join('\n\n');
      const summary = summarize(text, limit);
      expect(bytesOf(summary)).toBeLessThanOrEqual(Math.max(limit, 2));
      expect(summarize(text, limit)).toBe(summary);
    }),
  );
});
