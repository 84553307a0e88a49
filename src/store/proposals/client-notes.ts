import { outline } from '../../core/markdown/sections.ts';
import type { ClientFile, ProposedEntry } from '../../core/memory/proposed-entry.ts';
import { agentRules } from './agent-rules.ts';
import { listItems } from './list-items.ts';
import { firstSentences, isUnfilled, keyFor, lineAt, plainLine, wordCount } from './source-text.ts';

type Category = ProposedEntry['category'];

/** The header of a note of Claude Code, and its text. */
const note = /^---\n([\s\S]{0,4000}?)\n---\n([\s\S]*)$/;
/** The kinds of notes of Claude Code; those about the person are not for a project. */
const noteKinds: ReadonlyMap<string, Category> = new Map([
  ['feedback', 'user-preferences'],
  ['project', 'project-learnings'],
  ['reference', 'project-learnings'],
]);
/** The sections of the memory of Codex, by a word of their headings. */
const sectionKinds: readonly (readonly [heading: RegExp, category: Category])[] = [
  [/\bpreferences\b/i, 'user-preferences'],
  [/\breusable knowledge\b/i, 'project-learnings'],
  [/\bfailures\b/i, 'corrections'],
];
/** The reference of an item to the tasks that it is from. */
const tasks = /(?:\s*\[Task \d+(?:,? ?(?:Task )?\d+)*\])+\s*\.?$/i;
/** A place on the machine of the person, which says nothing to others. */
const ownPlace = /\/(?:Users|home)\/|[A-Z]:\\Users\\|~\//;
const leastWords = 5;
const mostWords = 70;
/** Limit of the entries of one file. */
const maxEntries = 12;

/** The entries in what a client has remembered about a project by itself. */
export function clientNotes({ name, text }: ClientFile): ProposedEntry[] {
  const plain = text.replaceAll('\r\n', '\n');
  const [, header, body] = note.exec(plain) ?? [];
  if (header !== undefined && body !== undefined) return ofNote(name, header, body);
  const sections = ofSections(name, plain);
  return sections.length > 0 ? sections : agentRules(name, plain, false);
}

/** A note of Claude Code is one statement, with the reason and the use of it. */
function ofNote(name: string, header: string, body: string): ProposedEntry[] {
  const field = (key: string) =>
    new RegExp(`^[ \\t]*${key}:[ \\t]*["']?(.+?)["']?[ \\t]*$`, 'm').exec(header)?.[1];
  const category = noteKinds.get(field('type') ?? 'project');
  const [statement = '', ...rest] = body.trim().split(/\n[ \t]*\n(?=\*\*(?:Why|How to apply))/);
  const value = firstSentences(statement.replace(/^#+[ \t].*$/gm, ' '));
  const title = field('name') ?? field('description') ?? value;
  const isSaid = wordCount(value) >= leastWords && !isUnfilled(value) && !ownPlace.test(value);
  if (category === undefined || !isSaid) return [];
  const why = rest.find((part) => part.startsWith('**Why'));
  const reason = why && firstSentences(why.replace(/^\*\*Why[^*]*\*\*:?/, ''));
  return [
    {
      kind: 'client memory',
      category,
      key: keyFor(title),
      value,
      ...(reason && !ownPlace.test(reason) && { reason }),
      source: `${name}:1`,
      evidence: [],
    },
  ];
}

/** The items of those sections of the memory of Codex that hold for later tasks. */
function ofSections(name: string, text: string): ProposedEntry[] {
  const sections = outline(text).flatMap(({ heading, bodyStart, bodyEnd }) => {
    const [, category] = sectionKinds.find(([pattern]) => pattern.test(heading)) ?? [];
    return category ? [{ category, bodyStart, bodyEnd }] : [];
  });
  const found = sections.flatMap(({ category, bodyStart, bodyEnd }) => {
    return listItems(text, bodyStart, bodyEnd).flatMap(({ text: item, start }) => {
      const value = plainLine(item.trim().replace(tasks, ''));
      const count = wordCount(value);
      if (count < leastWords || count > mostWords) return [];
      if (isUnfilled(value) || ownPlace.test(value)) return [];
      return [{ category, value, start }];
    });
  });
  return found.slice(0, maxEntries).map(({ category, value, start }) => ({
    kind: 'client memory',
    category,
    key: keyFor(value.split(/[.;,(]\s/, 1)[0] ?? value),
    value,
    source: `${name}:${lineAt(text, start)}`,
    evidence: [],
  }));
}
