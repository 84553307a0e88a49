import { expect, test } from 'vitest';
import { besides } from '../../src/core/memory/hit-form.ts';
import { SearchIndex } from '../../src/store/search/index.ts';
import { runs } from '../support/depth.ts';
import fc from '../support/fc.ts';

const kinds = [
  'decision',
  'context',
  'alternatives',
  'consequences',
  'evidence',
  'status',
] as const;
type Kind = (typeof kinds)[number];

const names: { readonly [K in Kind]: readonly string[] } = {
  decision: ['Decision', 'Decision Outcome', 'Entscheidung', '决策', 'Décision'],
  context: ['Context', 'Context and Problem Statement', 'Rationale', 'Kontext', '背景'],
  alternatives: [
    'Alternatives Considered',
    'Rejected',
    'Alternativen',
    '备选方案',
    'Considered Options',
  ],
  consequences: ['Consequences', 'Folgen', 'Conséquences'],
  evidence: ['Evidence', 'References', 'Quellen', 'See also'],
  status: ['Status', 'Statut'],
};

/** A part of a decision; its words begin with its kind, so that a test sees where a text is from. */
interface Part {
  readonly kind: Kind;
  readonly name: string;
  readonly items: number;
  readonly shape: 'list' | 'prose' | 'paragraphs' | 'code' | 'rows' | 'sub-headings';
}

const part = (kind: Kind): fc.Arbitrary<Part> =>
  fc.record({
    kind: fc.constant(kind),
    name: fc.constantFrom(...names[kind]),
    items: fc.integer({ min: 1, max: 3 }),
    shape: fc.constantFrom('list', 'prose', 'paragraphs', 'code', 'rows', 'sub-headings'),
  });

/** Any parts in any order, some of them twice, with a decision among them. */
const parts = fc
  .tuple(part('decision'), fc.array(fc.constantFrom(...kinds).chain(part), { maxLength: 6 }))
  .chain(([decision, others]) => {
    return fc.shuffledSubarray([decision, ...others], { minLength: others.length + 1 });
  });

const forms = ['headings', 'bold labels', 'labels', 'list', 'table'] as const;
const decision = fc.record({ form: fc.constantFrom(...forms), parts });
const log = fc.array(decision, { minLength: 1, maxLength: 4 });

function wordOf(kind: Kind, at: number, item: number): string {
  return `${kind}word${at}n${item}z`;
}

function textOf({ kind, items, shape }: Part, at: number, depth: string): string {
  const lines = Array.from(
    { length: items },
    (_, item) => `The ${wordOf(kind, at, item)} is here.`,
  );
  if (kind === 'status') return lines[0] ?? '';
  if (shape === 'list') return lines.map((line) => `- ${line}`).join('\n');
  if (shape === 'prose') return lines.join(' ');
  if (shape === 'paragraphs') return lines.join('\n\n');
  if (shape === 'code') return `\`\`\`\n${lines.join('\n')}\n\`\`\``;
  if (shape === 'rows') {
    return ['| a | b |', '|---|---|', ...lines.map((line) => `| x | ${line} |`)].join('\n');
  }
  return lines.map((line, item) => `${depth} Option ${item}\n\n${line}`).join('\n\n');
}

function decisionText(form: (typeof forms)[number], parts: readonly Part[], at: number): string {
  const line = (one: Part) => textOf({ ...one, shape: 'prose' }, at, '');
  const heading = `## Topic ${at}`;
  if (form === 'headings') {
    const all = parts.map((one) => `### ${one.name}\n\n${textOf(one, at, '####')}`);
    return [heading, ...all].join('\n\n');
  }
  if (form === 'bold labels') {
    const all = parts.map((one) => {
      const isBlock = one.shape === 'list' || one.shape === 'paragraphs';
      return isBlock
        ? `**${one.name}:**\n\n${textOf(one, at, '')}`
        : `**${one.name}:** ${line(one)}`;
    });
    return [heading, ...all].join('\n\n');
  }
  if (form === 'labels') {
    return [heading, ...parts.map((one) => `${one.name}: ${line(one)}`)].join('\n\n');
  }
  if (form === 'list') {
    const all = parts.map((one) => {
      if (one.shape !== 'list') return `- **${one.name}:** ${line(one)}`;
      return `- **${one.name}:**\n${textOf(one, at, '').replace(/^/gm, '  ')}`;
    });
    return `${heading}\n\n${all.join('\n')}`;
  }
  const columns = [...new Map(parts.map((one) => [one.kind, one])).values()];
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const head = row(columns.map(({ name }) => name));
  return [heading, '', head, row(columns.map(() => '---')), row(columns.map(line))].join('\n');
}

test('what was not chosen is only shown as such, next to the decision, and bookkeeping never', () => {
  fc.assert(
    fc.property(log, fc.boolean(), (decisions, isFuzzy) => {
      const texts = decisions.map(({ form, parts }, at) => decisionText(form, parts, at));
      const body = `# Decision Log\n\n${texts.join('\n\n')}\n`;
      const index = new SearchIndex();
      index.upsert({ id: 'a.md', fields: { title: 'Decision Log', body, markdown: true } });
      for (const [at, { parts }] of decisions.entries()) {
        const asked = [`topic ${at}`, ...parts.map(({ kind }) => wordOf(kind, at, 0))];
        for (const query of asked) {
          const [hit] = index.search(query, { fuzzy: isFuzzy }).hits;
          if (!hit) continue;
          const shown = [hit.snippet, ...besides(hit)].join('\n');
          const about = `${query} in\n${body}shows\n${shown}`;
          expect(hit.snippet, about).not.toMatch(/alternativesword|contextword|consequencesword/);
          expect(shown, about).not.toMatch(/evidenceword|statusword/);
          expect(hit.reason?.text ?? '', about).not.toMatch(/alternativesword|decisionword/);
          expect(hit.rejected?.text ?? 'alternativesword', about).toMatch(/alternativesword/);
          expect(hit.rejected?.text ?? '', about).not.toMatch(/decisionword|contextword/);
          // Nothing is shown without the decision that it belongs to.
          const numbers = new Set(shown.match(/(?<=word)\d+/g));
          if (query.includes('word')) expect(numbers, about).toEqual(new Set([`${at}`]));
          expect(hit.snippet, about).toMatch(/decisionword/);
          expect(shown.length).toBeLessThan(700);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});
