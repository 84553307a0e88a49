import { outline } from '../../core/markdown/sections.ts';
import type { Bank } from './bank.ts';
import { contentBudget } from './budget.ts';
import { mentionsIn } from './mention.ts';
import { bytesOf } from './summary.ts';
import { defaultFiles } from './template.ts';

/** Maximum number of suggestions in an answer. */
const maxSuggestions = 5;

/** Maximum number of subjects that are searched for in the other documents. */
const maxSubjects = 50;

/** Phrases that state a decision. */
const decision =
  /\b(?:decided (?:to|on|against)|we(?:'ll| will) use|chose|opted for|settled on|instead of|architecture will be|switch(?:ed|ing)? to)\b/i;

/** An open item of a list. */
const openItem = /^\s*[-*+] \[ \] /m;

/** The text that an update has just written, and its place. */
export interface Written {
  readonly file: string;
  readonly content: string;
  readonly position?: string | undefined;
}

/**
 * Suggests what to do after an update, from the content of the bank only.
 *
 * A suggestion names another document about the same subject, a decision or task in the wrong document,
 * or a document that has become too large.
 */
export function followUps(bank: Bank, written: Written): string[] {
  const usual = defaultFiles(bank, []);
  const actions: string[] = [];
  const decisions = 'doc/architecture.md';
  if (usual.has(decisions) && written.file !== decisions && decision.test(written.content)) {
    actions.push(`Record the decision in ${decisions}, at "Decisions".`);
  }
  if (usual.has('tasks.md') && written.file !== 'tasks.md' && openItem.test(written.content)) {
    actions.push('Add the open items to tasks.md, at "Active" or "Next".');
  }
  const subjects = subjectsOf(written, usual);
  for (const { file, value } of bank.files) {
    if (file === written.file) continue;
    const shared = subjects.find(mentionsIn(value.body));
    if (shared !== undefined) actions.push(`Check ${file}: it also mentions "${shared}".`);
  }
  const body = bank.files.find(({ file }) => file === written.file)?.value.body ?? '';
  if (bytesOf(body) > contentBudget / 2) {
    actions.push(`Shorten ${written.file}: at this size, answers contain only a summary of it.`);
  }
  return actions.slice(0, maxSuggestions);
}

/**
 * Lists the subjects of an update: its section, headings, code spans and bold words, longest first.
 *
 * Headings that every bank of the type has are not subjects.
 */
function subjectsOf(
  { content, file, position }: Written,
  usual: ReadonlyMap<string, string>,
): string[] {
  const titles = (text: string) => outline(text).map(({ heading }) => heading);
  const common = new Set([...usual.values()].flatMap(titles).map((title) => title.toLowerCase()));
  const marked = [...content.matchAll(/`([^`\n]{4,60})`|\*\*([^*\n]{4,60})\*\*/g)];
  const subjects = [
    file,
    ...[position ?? '', ...titles(content)].filter((title) => !common.has(title.toLowerCase())),
    ...marked.map(([, code, bold]) => code ?? bold ?? ''),
  ];
  return [...new Set(subjects)]
    .filter((subject) => subject.length > 3)
    .sort((a, b) => b.length - a.length)
    .slice(0, maxSubjects);
}
