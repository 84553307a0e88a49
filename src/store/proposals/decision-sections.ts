import { outline } from '../../core/markdown/sections.ts';
import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import { listItems } from './list-items.ts';
import {
  firstParagraphs,
  isUnfilled,
  keyFor,
  lineAt,
  plainLine,
  wordCount,
} from './source-text.ts';

const document =
  /^(?:(?:docs?|doc|\.github)\/)?(?:readme|contributing|architecture|design|hacking|development|developing|decisions?|design[-_]decisions|decision[-_]?log)(?:\.[a-z]{2})?\.(?:md|markdown)$/i;
const heading =
  /^(?:\d+[.)]\s*)?(?:(?:key|main|major|important|design|architect(?:ure|ural)|technical|technology|project|implementation|tooling)(?:\s*(?:and|&)\s*[a-z]+)?\s+)*(?:decisions?(?:\s+(?:log|made|taken))?|entscheidungen|architekturentscheidungen|décisions?|decisiones|decisões|решения|设计决策|技术决策|决策|設計判断)$/i;

/** Limit of the words of a decision that a list gives. */
const leastWords = 5;

/** Whether a document of the project can have a section with its decisions. */
export function mayListDecisions(path: string): boolean {
  return document.test(path);
}

/** The decisions that the sections of a document list, by its list items or by its headings. */
export function listedDecisions(path: string, text: string): ProposedEntry[] {
  const sections = outline(text);
  return sections.flatMap((section) => {
    if (!heading.test(plainLine(section.heading))) return [];
    const below = sections.filter(
      ({ level, start, end }) =>
        level === section.level + 1 && start > section.start && end <= section.end,
    );
    const found = below.map((one) => {
      const title = plainLine(one.heading).replace(/^[\d.)\s]+/, '');
      const said = firstParagraphs(text.slice(one.bodyStart, one.end));
      return { title, said, at: one.start };
    });
    const items = listItems(text, section.bodyStart, section.bodyEnd).map(
      ({ text: item, start }) => {
        const line = plainLine(item);
        const [, title = ''] = /^(.{3,80}?)(?:\s+[–—-]\s+|[:：]\s)/.exec(line) ?? [];
        return { title: title || line.split(/(?<=[.;])\s/)[0] || line, said: line, at: start };
      },
    );
    return [...found, ...items].flatMap(({ title, said, at }): ProposedEntry[] => {
      const value = said.startsWith(title) ? said : `${title}: ${said}`;
      if (wordCount(value) < leastWords || wordCount(said) < 3 || isUnfilled(value)) return [];
      return [
        {
          kind: 'decision section',
          category: 'decisions',
          key: keyFor(title),
          value,
          source: `${path}:${lineAt(text, at)}`,
          evidence: [path],
        },
      ];
    });
  });
}
