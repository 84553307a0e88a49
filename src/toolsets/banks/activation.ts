import type { Context } from '../../core/context.ts';
import type { JsonObject } from '../../core/json.ts';
import { type Bank, storeOf } from './bank.ts';
import { type Fitted, withinBudget } from './budget.ts';
import { cachedSummaries } from './cache.ts';
import { standing } from './conversation.ts';
import { customInstructions } from './instructions.ts';
import { movedSince } from './movement.ts';
import { namedSources, readSources } from './source.ts';
import { bytesOf } from './summary.ts';
import { defaultFiles } from './template.ts';

/** How many bytes the names of a bank's documents may take in an answer. */
const namesBudget = 3_000;

/**
 * What `activate` and `swap` answer: the bank's documents within their budget, where the code stands,
 * and how to keep the bank up to date.
 *
 * @param only the documents to give, each of them whole; by default all, within the budget.
 */
export async function activation(
  context: Context,
  bank: Bank,
  only?: readonly string[],
): Promise<JsonObject> {
  const sources = await readSources(context, bank);
  const texts = new Map([
    ...[...bank.files].sort(byNews).map(({ file, value }) => [file, value.body] as const),
    ...sources.found,
  ]);
  const named = only === undefined ? texts : pick(texts, only);
  const { content, summaries } =
    only === undefined
      ? await select(context, bank, texts)
      : { content: Object.fromEntries(named), summaries: {} };
  const missing = [...sources.missing, ...(only ?? []).filter((name) => !texts.has(name))];
  const left = [...named.keys()].filter((name) => !Object.hasOwn(content, name));
  const moved = await movedSince(context, bank);
  const { temporary } = standing(context, bank);
  return {
    status: 'success',
    bank_info: {
      type: bank.type,
      id: bank.id,
      ...fitNames([...named.keys()]),
      last_updated: lastUpdated(bank) ?? moved?.since ?? null,
      ...(temporary ? { temporary } : {}),
      ...(missing.length > 0 ? { missing: missing.slice(0, 20) } : {}),
      ...(bank.damaged.length > 0
        ? { damaged: bank.damaged.slice(0, 10).map(({ error }) => error.message.slice(0, 300)) }
        : {}),
    },
    content,
    ...(left.length > 0
      ? {
          summaries,
          get_whole: `The bank is larger than one answer. Documents that are not in content are summarised or left out; swap to this bank with merge_files [${JSON.stringify(left[0])}] gives one whole.`,
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
      moved: moved?.distance,
    }),
  };
}

function pick(texts: ReadonlyMap<string, string>, names: readonly string[]): Map<string, string> {
  return new Map(
    names.flatMap((name) => {
      const text = texts.get(name);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
}

/** When the server last wrote to one of the documents, or undefined when it never did. */
export function lastUpdated(bank: Bank): string | undefined {
  return bank.files
    .flatMap(({ value }) => value.last_updated ?? [])
    .sort()
    .at(-1);
}

async function select(
  context: Context,
  bank: Bank,
  texts: ReadonlyMap<string, string>,
): Promise<Fitted> {
  const known = await cachedSummaries(storeOf(context, bank.type).local, bank);
  return withinBudget([...texts].map(([name, text]) => ({ name, text, summary: known.get(name) })));
}

/** What changed last comes first; among what was never written, what has mattered more. */
function byNews(a: Bank['files'][number], b: Bank['files'][number]): number {
  const [one, other] = [a.value.last_updated ?? '', b.value.last_updated ?? ''];
  if (one !== other) return one < other ? 1 : -1;
  const [score, rival] = [a.value.relevance_score ?? 0, b.value.relevance_score ?? 0];
  return rival - score || (a.file < b.file ? -1 : 1);
}

/** Whether the bank holds nothing but its first headings. */
function isEmpty(bank: Bank): boolean {
  const first = defaultFiles(bank, namedSources(bank));
  return bank.files.every(({ file, value }) => first.get(file) === value.body);
}

function fitNames(names: readonly string[]): JsonObject {
  const files: string[] = [];
  let left = namesBudget;
  for (const name of names) {
    left -= bytesOf(name) + 1;
    if (left < 0) break;
    files.push(name);
  }
  const more = names.length - files.length;
  return { files: files.sort(), ...(more > 0 ? { more_files: more } : {}) };
}
