import { outline } from '../../core/markdown/sections.ts';
import type { ProposedEntry } from '../../core/memory/proposed-entry.ts';
import { listItems } from './list-items.ts';
import { isUnfilled, keyFor, lineAt, plainLine, wordCount } from './source-text.ts';

/** Files for agents that hold for the whole project. */
const agentFile =
  /^(?:(?:CLAUDE|AGENTS|GEMINI|QWEN|WARP)\.md|\.claude\/CLAUDE\.md|\.claude\/rules\/.+\.md|\.cursorrules|\.windsurfrules|\.clinerules(?:\/[^/]+\.md)?|\.cursor\/rules\/[^/]+\.mdc?|\.windsurf\/rules\/[^/]+\.md|\.github\/copilot-instructions\.md|\.junie\/guidelines\.md|CONVENTIONS\.md)$/i;
/** Words of a rule. */
const rule =
  /\b(?:never|always|must(?: not|n't)?|do not|don't|prefer|avoid|only use|use [^.]{2,60} (?:instead of|not|over|rather than)|instead of|required to|forbidden|not allowed|immer|niemals?|nicht verwenden|toujours|jamais|siempre|nunca|sempre)\b|всегда|никогда|必须|禁止|不要|务必|必ず|してはいけない/i;
/** An item that says nothing without the one before it, or that asks for work. */
const fragment =
  /^(?:it|this|these|they|those|that|then|otherwise|also|and|or|but|so|if not|else|e\.g\.|i\.e\.|for example|example|see|note that it|the (?:above|following|latter)|same|above|below|good|bad|wrong|right|yes|no)\b|^[`([{<"'|]*$|[:：]$/i;
/** Instructions about how an agent speaks and works, not about the project. */
const manner =
  /\b(?:you are|your (?:response|answer|reply|output|task|job|role)|the user|ask (?:me|for|the)|apologi|emoji|be concise|step[- ]by[- ]step|think|session|context window|chain of thought|tool calls?|sub-?agents?|todo list|hallucinat|conversation)\b/i;
/** The section that `init` adds, about the memory itself. */
const ownSection = /<!-- memory-bank: begin -->[\s\S]*?<!-- memory-bank: end -->/g;
/** The note of a program that has written the file, at its beginning. */
const generated = /auto-?generated|@generated|\bgenerated (?:by|from)\b/i;
const noteLength = 300;
const leastWords = 6;
const mostWords = 60;
/** Limit of the rules of one file. */
const maxRules = 12;

/** Whether a file of the project has instructions for agents. */
export function isAgentFile(path: string): boolean {
  return agentFile.test(path);
}

/** The rules that the instructions of a client give for the project. */
export function agentRules(name: string, text: string, isOfProject: boolean): ProposedEntry[] {
  if (generated.test(text.slice(0, noteLength))) return [];
  const sections = outline(text);
  const own = text.replace(ownSection, (part) => part.replace(/[^\n]/g, ' '));
  const found = listItems(own, 0, own.length).flatMap(({ text: item, start }) => {
    const line = plainLine(item).replace(/^(?:\p{Extended_Pictographic}|\ufe0f|\s)+/u, '');
    const count = wordCount(line);
    if (count < leastWords || count > mostWords) return [];
    if (fragment.test(line) || manner.test(line) || isUnfilled(line) || !rule.test(line)) return [];
    // A rule names something of the project: code, a command, a file, or a word in capitals.
    if (
      !/`[^`]+`|\b[\w-]+\.(?:[a-z]{1,4})\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|\b[A-Z][a-z]+[A-Z]\w*/.test(
        line,
      )
    )
      return [];
    const around = sections.findLast((one) => one.bodyStart <= start && start < one.bodyEnd);
    if (
      around &&
      /\b(?:examples?|checklist|todo|bad|wrong|workflow for|personality|tone)\b/i.test(
        around.heading,
      )
    )
      return [];
    return [{ line, start, about: around ? plainLine(around.heading) : '' }];
  });
  return found.slice(0, maxRules).map(({ line, start, about }) => ({
    kind: 'client memory',
    category: 'user-preferences',
    key: keyFor(titleOf(line)),
    value: line,
    ...(about !== '' && { reason: `A rule of ${name}, section "${about}".` }),
    source: `${name}:${lineAt(text, start)}`,
    evidence: isOfProject ? [name] : [],
  }));
}

/** The first words of a rule: its label, or its first clause. */
function titleOf(line: string): string {
  const [, label] = /^(.{4,60}?)(?:[:：]\s|\s[–—-]\s)/.exec(line) ?? [];
  return label ?? line.split(/[.;,(]\s?/, 1)[0] ?? line;
}
