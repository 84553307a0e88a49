import { answerIn, decisionIn } from '../../core/declarations/answer-text.ts';
import { kindOf } from '../../core/declarations/part-kinds.ts';
import { saysNothing, withoutEmptySections } from '../../core/markdown/empty-sections.ts';
import { type NamedSection, namedSections } from '../../core/markdown/section-path.ts';
import { replacedSections } from '../../core/markdown/section-statements.ts';
import { titleOf } from '../../core/markdown/sections.ts';
import type { BriefPoint } from '../../core/record/record-type.ts';

/** Headings of the active context whose lists are current work. */
const current = ['ongoing tasks', 'known issues', 'next steps'];

/** Longest file that is searched for statements, in characters. */
const maxLength = 256 * 1024;

/** Returns the statements of a memory bank file: current work, or decisions with their dates. */
export function pointsOf(file: { path: string; content: string }): readonly BriefPoint[] {
  const { path, content } = file;
  if (content.length > maxLength) return [];
  if (path === 'activeContext.md' || path === 'active-context.md') return work(content);
  if (path === 'decisionLog.md' || path === 'decision-log.md') return decisions(path, content);
  const decision = decisionIn(content);
  const text =
    decision === undefined
      ? withoutEmptySections(content)
      : `${titleOf(content) ?? path}: ${decision}`;
  return [{ part: 'about', text }];
}

function work(content: string): BriefPoint[] {
  return namedSections(content)
    .filter(({ heading }) => current.includes(heading.trim().toLowerCase()))
    .flatMap((section) =>
      items(bodyOf(content, section)).map((item): BriefPoint => {
        const text = `${section.heading.trim()}: ${item}`;
        return { part: 'now', text, section: section.path };
      }),
    );
}

/** The decisions that no other one replaces, the last one of the file first. */
function decisions(path: string, content: string): BriefPoint[] {
  const sections = namedSections(content);
  const replaced = replacedSections(path, content);
  const points = sections.flatMap((section): BriefPoint[] => {
    // The template has a heading in brackets that only shows the form.
    if (section.level !== 2 || section.heading.startsWith('[')) return [];
    if (replaced.has(section.start)) return [];
    // Where each heading is a part of a decision, only the decisions are statements.
    const { role = 'answer' } = kindOf(section.heading) ?? {};
    if (role !== 'answer') return [];
    const body = answerIn(content.slice(section.bodyStart, section.end));
    const [, title = section.heading, at] =
      /^(.*?)(?:\s+-\s+(\d{4}-\d\d-\d\d))?\s*$/.exec(section.heading) ?? [];
    const text = body === '' ? title : `${title}: ${body}`;
    return [{ part: 'decision', text, section: section.path, ...(at !== undefined && { at }) }];
  });
  return points.reverse();
}

function bodyOf(content: string, { bodyStart, bodyEnd }: NamedSection): string {
  return content.slice(bodyStart, bodyEnd);
}

/** The items of the lists of a text, each with its first line; finished items are left out. */
function items(text: string): string[] {
  return text.split(/\r\n?|\n/).flatMap((line) => {
    const [, done, item] = /^(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(\S.*)$/.exec(line) ?? [];
    const isOpen = item !== undefined && done?.toLowerCase() !== 'x';
    return isOpen && !saysNothing(item) ? [item.trim()] : [];
  });
}
