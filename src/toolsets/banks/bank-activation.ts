import type { Context } from '../../core/context.ts';
import type { JsonObject } from '../../core/json.ts';
import { outline } from '../../core/markdown/sections.ts';
import type { Bank, BankDocumentFile } from './bank.ts';
import { contentBudget, listed, namesWithin, withinBudget } from './budget.ts';
import { SummaryCache } from './cache.ts';
import { standing } from './conversation.ts';
import { customInstructions } from './custom-instructions.ts';
import { movedSince } from './movement.ts';
import { namedSources, readSources, type Sources } from './summary-sources.ts';
import { defaultFiles } from './template.ts';

/** How many bytes the lists of names in an answer may take. */
const budgets = { files: 3_000, missing: 1_000, damaged: 2_000 };

/**
 * What `activate` and `swap` answer: the bank's documents within their budget, where the code stands,
 * and how to keep the bank up to date.
 *
 * @param only the documents to give, each of them whole, or with `#` and a heading one section of it;
 *   by default all documents, within the budget.
 */
export async function activation(
  context: Context,
  bank: Bank,
  only?: readonly string[],
): Promise<JsonObject> {
  const sources = await readSources(context, bank);
  const texts = textsOf(bank, sources);
  const asked = only ? passages(texts, only) : texts;
  const cache = await SummaryCache.open(context, bank, texts);
  const { content, summaries } = withinBudget(
    [...asked].map(([name, text]) => ({ name, text, summary: cache.summaryOf(name) })),
    only ? Number.POSITIVE_INFINITY : contentBudget,
  );
  cache.refine();
  const left = [...asked.keys()].filter((name) => !Object.hasOwn(content, name));
  const missing = [...sources.missing, ...(only ?? []).filter((name) => !asked.has(name))];
  const moved = await movedSince(context, bank);
  const files = namesWithin([...asked.keys()], budgets.files);
  const damages = bank.damaged.map(({ error }) => error.message.slice(0, 300));
  const updated = lastUpdated(bank) ?? moved?.since;
  const { temporary } = standing(context, bank);
  return {
    status: 'success',
    bank_info: {
      type: bank.type,
      id: bank.id,
      files: files.sort(),
      ...(files.length < asked.size ? { more_files: asked.size - files.length } : {}),
      last_updated: updated ?? null,
      ...(temporary ? { temporary } : {}),
      ...(missing.length > 0 ? listed('missing', missing, budgets.missing) : {}),
      ...(sources.unread.length > 0 ? listed('unread', sources.unread, budgets.missing) : {}),
      ...(damages.length > 0 ? listed('damaged', damages, budgets.damaged) : {}),
    },
    content,
    ...(left.length > 0
      ? {
          summaries,
          get_whole: `The bank is larger than one answer. Documents that are not in content are summarised or left out; swap to this bank with merge_files [${JSON.stringify(left[0])}] gives one whole, and with # and a heading one section of it; list with this bank_type and bank_id names them all.`,
        }
      : {}),
    ...(moved ? { git: moved.git } : {}),
    custom_instructions: customInstructions({
      type: bank.type,
      id: bank.id,
      files: bank.files.map(({ file }) => file),
      temporary,
      empty: isEmpty(bank),
      large: left.length > 0,
      days: daysBetween(updated, context.now()),
      moved: moved?.distance,
    }),
  };
}

/** The documents and sections with these names, as far as there are such. */
function passages(
  texts: ReadonlyMap<string, string>,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of names) {
    const text = texts.get(name) ?? sectionOf(texts, name);
    if (text !== undefined) found.set(name, text);
  }
  return found;
}

function sectionOf(texts: ReadonlyMap<string, string>, name: string): string | undefined {
  const [file = '', ...rest] = name.split('#');
  const wanted = rest.join('#').trim().toLowerCase();
  const text = texts.get(file) ?? '';
  const section = outline(text).find(({ heading }) => heading.toLowerCase() === wanted);
  return section && text.slice(section.start, section.end);
}

/** The texts of a bank by name, the most telling first: its documents, then its sources. */
export function textsOf(bank: Bank, sources: Sources): ReadonlyMap<string, string> {
  const documents = byWorth(bank.files).map(({ file, value }) => [file, value.body] as const);
  return new Map([...documents, ...sources.found]);
}

/** When the server last wrote to one of the documents, or undefined when it never did. */
export function lastUpdated(bank: Bank): string | undefined {
  return bank.files
    .flatMap(({ value }) => value.last_updated ?? [])
    .sort()
    .at(-1);
}

/** What changed last comes first, then what has mattered most. */
function byWorth(files: readonly BankDocumentFile[]): BankDocumentFile[] {
  const time = ({ value }: BankDocumentFile) => Date.parse(value.last_updated ?? '') || 0;
  const score = ({ value }: BankDocumentFile) => value.relevance_score ?? 0;
  const [last, ...others] = files.toSorted((a, b) => time(b) - time(a));
  return last ? [last, ...others.sort((a, b) => score(b) - score(a))] : [];
}

/** Whether the bank holds nothing but its first headings. */
function isEmpty(bank: Bank): boolean {
  const first = defaultFiles(bank, namedSources(bank));
  const same = bank.files.every(({ file, value }) => first.get(file) === value.body);
  return same && bank.files.length > 0;
}

function daysBetween(earlier: string | undefined, now: Date): number {
  const days = (now.getTime() - Date.parse(earlier ?? '')) / 86_400_000;
  return Number.isFinite(days) ? Math.floor(days) : 0;
}
