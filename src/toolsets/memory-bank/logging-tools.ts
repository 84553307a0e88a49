import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import {
  historyHeading,
  maxNotes,
  notesHeading,
  notesNotice,
} from '../../core/declarations/progress-log.ts';
import { reportSimilar } from '../../core/declarations/similar-note.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { evidenceArgument, formatInline } from '../../core/evidence/annotations.ts';
import { sectionNamesOf } from '../../core/markdown/section-names.ts';
import { Sections } from '../../core/markdown/section-statements.ts';
import {
  appendSection,
  prependToList,
  removeItems,
  replaceList,
} from '../../core/markdown/sections.ts';
import { headingText, listText, prose } from '../../core/markdown/text.ts';
import type { Transaction } from '../../core/memory/store.ts';
import { linkedTo, supersede } from '../../core/memory/supersede.ts';
import { edit } from './core-file.ts';
import { memoryFile } from './memory-file.ts';

const text = z.string().regex(/\S/, 'must not be blank').max(100_000);
const texts = z.array(text).max(1000);
/** An item as track_progress writes it; other items of the list stay. */
const isNote = /^\S+ \[\d{4}-\d\d-\d\d\] - /;

export const trackProgress = defineTool({
  name: 'track_progress',
  title: 'Track progress',
  description:
    'Log what you have finished, after each piece of work: in progress.md and as a session note. A choice and its reason: log_decision. What comes next: update_active_context.',
  effect: 'write',
  input: z.object({
    action: text.describe('Implementation, Bug fix, …'),
    description: text,
    updateActiveContext: z.boolean().default(true).describe('Also add a session note'),
  }),
  async handle(context, { action, description, updateActiveContext }) {
    const item = `[${today(context)}] - ${action.trim()}: ${description.trim()}`;
    const why = {
      subject: `track progress: ${firstLine(description)} (${firstLine(action)})`,
      reason: description,
    };
    await context.store.change(why, async (transaction) => {
      await edit(transaction, 'progress.md', (text) => prependToList(text, historyHeading, item));
      if (!updateActiveContext) return;
      await edit(transaction, 'activeContext.md', (text) =>
        withNewestNotes(prependToList(text, notesHeading, item)),
      );
    });
    return { message: 'Progress tracked successfully' };
  },
});

export const updateActiveContext = defineTool({
  name: 'update_active_context',
  title: 'Update the active context',
  description:
    'Set the current tasks, issues or next steps: each list replaces the one in activeContext.md; an omitted one stays, [] clears it. Finished work: track_progress.',
  effect: 'write',
  idempotent: true,
  input: z.object({
    tasks: texts.optional(),
    issues: texts.optional(),
    nextSteps: texts.optional(),
  }),
  async handle(context, { tasks, issues, nextSteps }) {
    const lists = [
      ['Ongoing Tasks', tasks],
      ['Known Issues', issues],
      ['Next Steps', nextSteps],
    ] as const;
    const message = 'Active context updated successfully';
    if (lists.every(([, items]) => items === undefined)) return { message };
    const changed = lists.flatMap(([heading, items]) => (items ? [heading.toLowerCase()] : []));
    const why = { subject: `update active context: ${changed.join(', ')}` };
    await context.store.change(why, (transaction) =>
      edit(transaction, 'activeContext.md', (text) =>
        lists.reduce(
          (edited, [heading, items]) => (items ? replaceList(edited, heading, items) : edited),
          text,
        ),
      ),
    );
    return { message };
  },
});

export const logDecision = defineTool({
  name: 'log_decision',
  title: 'Log a decision',
  description:
    'Write down or record a decision that was made: why, and which alternatives we had. For facts and preferences, memory_write.',
  effect: 'write',
  input: z.object({
    title: text,
    context: text.describe('Why it was needed'),
    decision: text,
    alternatives: texts.optional(),
    consequences: texts.optional(),
    evidence: evidenceArgument,
    supersedes: texts.optional().describe('Titles of decisions it replaces'),
  }),
  async handle(context, args) {
    const evidence = await context.project.cite(args.evidence ?? []);
    const section = [
      `## ${headingText(`${args.title} - ${today(context)}`)}`,
      '### Context',
      prose(args.context),
      '### Decision',
      prose(args.decision),
      '### Alternatives Considered',
      listOrNone(args.alternatives),
      '### Consequences',
      listOrNone(args.consequences),
      ...(evidence.length > 0 ? ['### Evidence', listText(evidence.map(formatInline))] : []),
    ].join('\n\n');
    const why = {
      subject: `log decision "${firstLine(args.title)}"`,
      // The subject has room for one line only.
      reason: `${args.title.trim()}: ${args.decision.trim()}\n\n${args.context}`,
    };
    let replaced: readonly string[] = [];
    const log = await context.store.change(why, async (transaction) => {
      let earlier = '';
      const path = await edit(transaction, 'decisionLog.md', (text) => {
        earlier = text;
        return appendSection(text, section);
      });
      if (args.supersedes) {
        const old = addressesIn(new Sections(path, earlier), args.supersedes);
        replaced = await replace(transaction, path, old);
      }
      return transaction.get(memoryFile, path);
    });
    const sections = sectionNamesOf(log?.value.content ?? '');
    const added = sections.all.findLast(({ level }) => level === 2)?.path;
    const linked = await linkedTo(context, replaced);
    return {
      message: 'Decision logged successfully',
      ...(log && (await reportSimilar(context, memoryFile, log, added))),
      ...(linked.length > 0 && { linked: [...linked] }),
    };
  },
});

/**
 * The addresses of decisions by their titles; a path names another record.
 *
 * @param earlier the log without the new decision, which can have the title of the one that it replaces.
 */
function addressesIn(earlier: Sections, titles: readonly string[]): readonly string[] {
  return titles.map((one) =>
    /\.(?:md|yaml)(?:#|$)/.test(one) ? one : earlier.addressOf(earlier.at(one)),
  );
}

/** Marks decisions as replaced by the last one of the log. */
async function replace(
  transaction: Transaction,
  path: string,
  old: readonly string[],
): Promise<readonly string[]> {
  const file = await transaction.get(memoryFile, path);
  const sections = new Sections(path, file?.value.content ?? '');
  const last = sections.all.findLast(({ level }) => level === 2);
  return last ? supersede(transaction, sections.addressOf(last), old) : [];
}

/** Removes the session notes that track_progress has added, except for the newest ones. */
function withNewestNotes(text: string): string {
  // The first item is the new note.
  let notes = 1;
  const isOld = (item: string) => isNote.test(item) && ++notes > maxNotes;
  return removeItems(text, notesHeading, isOld, notesNotice);
}

function listOrNone(items: readonly string[] = []): string {
  return items.length === 0 ? 'None' : listText(items);
}

/** The first line of a text, for the subject of a commit. */
function firstLine(text: string): string {
  return text.trim().split(/[\r\n]/, 1)[0] ?? '';
}

function today(context: Context): string {
  return context.now().toISOString().slice(0, 10);
}
