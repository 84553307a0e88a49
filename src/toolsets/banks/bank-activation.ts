import type { Context } from '../../core/declarations/context.ts';
import { readSection } from '../../core/markdown/section-argument.ts';
import { cautionField, namedCautions } from '../../core/memory/answer-fields.ts';
import { MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { type Bank, type BankDocumentFile, storeOf } from './bank.ts';
import { contentBudget, listed, namesWithin, withinBudget } from './budget.ts';
import { SummaryCache } from './cache.ts';
import { statusInSession } from './conversation.ts';
import { customInstructions } from './custom-instructions.ts';
import { movedSince } from './movement.ts';
import { namedSources, readSources, type Sources } from './summary-sources.ts';
import { defaultFiles } from './template.ts';

/** Maximum sizes of the lists of names in an answer, in bytes. */
const budgets = { files: 3_000, missing: 1_000, damaged: 2_000 };

/**
 * Makes the answer of `activate` and `swap`.
 *
 * It contains the bank's documents, how far the code has moved since the bank was written, and
 * instructions that keep the bank up to date.
 *
 * @param only names of documents to return whole, or of sections of them: `doc/api.md#Errors`. By
 *   default all documents, as far as they fit into the budget.
 */
export async function activation(
  context: Context,
  bank: Bank,
  only?: readonly string[],
): Promise<JsonObject> {
  const sources = await readSources(context, bank);
  const texts = textsOf(bank, sources);
  const asked = only ? passages(context, texts, only) : texts;
  const cache = await SummaryCache.open(context, bank, texts);
  const { content, summaries } = withinBudget(
    [...asked].map(([name, text]) => ({ name, text, summary: cache.summaryOf(name) })),
    only ? Number.POSITIVE_INFINITY : contentBudget,
  );
  cache.refine();
  const omitted = [...asked.keys()].filter((name) => !Object.hasOwn(content, name));
  const missing = [...sources.missing, ...(only ?? []).filter((name) => !asked.has(name))];
  const moved = await movedSince(context, bank);
  const files = namesWithin([...asked.keys()], budgets.files);
  const damages = bank.damaged.map(({ error }) => error.message.slice(0, 300));
  const updated = lastUpdated(bank) ?? moved?.since;
  const { temporary } = statusInSession(context, bank);
  const store = await storeOf(context, bank.type);
  const caution = namedCautions(await store.cautions(bank.files.map(({ path }) => path)));
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
    ...cautionField(caution),
    ...(omitted.length > 0
      ? {
          summaries,
          get_whole: `The bank is larger than one answer. Documents that are not in content are summarised or left out. To read one whole, call swap with this bank and merge_files [${JSON.stringify(omitted[0])}]; add # and a heading to read one section. To get all names, call list with this bank_type and bank_id.`,
        }
      : {}),
    ...(moved ? { git: moved.git } : {}),
    custom_instructions: customInstructions({
      type: bank.type,
      id: bank.id,
      files: bank.files.map(({ file }) => file),
      temporary,
      empty: isEmpty(bank),
      large: omitted.length > 0,
      days: daysBetween(updated, context.now()),
      moved: moved?.distance,
    }),
  };
}

/** Makes the answer about a bank that was just created, without what else would be read. */
export function newActivation({ type, id, files }: Bank): JsonObject {
  const names = files.map(({ file }) => file);
  const state = { temporary: false, empty: true, large: false, days: 0, moved: undefined };
  return {
    status: 'success',
    bank_info: { type, id, files: names, last_updated: files[0]?.value.last_updated ?? null },
    content: Object.fromEntries(files.map(({ file, value }) => [file, value.body])),
    custom_instructions: customInstructions({ type, id, files: names, ...state }),
  };
}

/** Returns the existing documents and sections with these names; a note says what is like the others. */
function passages(
  context: Context,
  texts: ReadonlyMap<string, string>,
  names: readonly string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of names) {
    const text = texts.get(name) ?? sectionOf(context, texts, name);
    if (text !== undefined) found.set(name, text);
  }
  return found;
}

function sectionOf(
  context: Context,
  texts: ReadonlyMap<string, string>,
  name: string,
): string | undefined {
  const [file = '', ...rest] = name.split('#');
  const text = texts.get(file);
  if (text === undefined || rest.length === 0) return undefined;
  try {
    return readSection(text, rest.join('#'));
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    context.note(`${file}: ${error.text}`);
    return undefined;
  }
}

/** Returns the texts of a bank by name: its documents by importance, then its sources. */
export function textsOf(bank: Bank, sources: Sources): ReadonlyMap<string, string> {
  const documents = byImportance(bank.files).map(({ file, value }) => [file, value.body] as const);
  return new Map([...documents, ...sources.found]);
}

/** Returns when the server last wrote to one of the documents, or undefined if it never did. */
export function lastUpdated(bank: Bank): string | undefined {
  return bank.files
    .flatMap(({ value }) => value.last_updated ?? [])
    .sort()
    .at(-1);
}

/** Sorts documents: the one that changed last, then the others by their relevance. */
function byImportance(files: readonly BankDocumentFile[]): BankDocumentFile[] {
  const time = ({ value }: BankDocumentFile) => Date.parse(value.last_updated ?? '') || 0;
  const score = ({ value }: BankDocumentFile) => value.relevance_score ?? 0;
  const [last, ...others] = files.toSorted((a, b) => time(b) - time(a));
  return last ? [last, ...others.sort((a, b) => score(b) - score(a))] : [];
}

/** Whether the bank contains only the headings that it was created with. */
function isEmpty(bank: Bank): boolean {
  const initial = defaultFiles(bank, namedSources(bank));
  const same = bank.files.every(({ file, value }) => initial.get(file) === value.body);
  return same && bank.files.length > 0;
}

function daysBetween(earlier: string | undefined, now: Date): number {
  const days = (now.getTime() - Date.parse(earlier ?? '')) / 86_400_000;
  return Number.isFinite(days) ? Math.floor(days) : 0;
}
