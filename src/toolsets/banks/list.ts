import * as z from 'zod';
import type { Context } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { invalid, MemoryError } from '../../core/values/error.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { compareTexts } from '../../core/values/text-order.ts';
import {
  type Bank,
  type BankName,
  bankId,
  bankName,
  bankType,
  listBanks,
  openBank,
  storeOf,
} from './bank.ts';
import { lastUpdated, textsOf } from './bank-activation.ts';
import { type BankType, bankTypes, folders } from './bank-type.ts';
import { namesWithin } from './budget.ts';
import { lastUse, statusInSession } from './conversation.ts';
import { firstSentence } from './summary.ts';
import { readSources } from './summary-sources.ts';
import { mainFile, sourcesHeading } from './template.ts';

/** Descriptions of banks whose main document does not have one yet. */
const descriptions = {
  global: 'Memory of conversations outside of projects',
  project: 'Memory of a project',
  code: 'Memory of a codebase',
} as const;

/** Maximum size of the list of one bank's files, in bytes. */
export const filesBudget = 20_000;

/** Lists the existing banks (seed 001, `list`). */
export const list = defineTool({
  name: 'list',
  title: 'List memory banks',
  description: 'Which banks there are, last used first, or the files of one bank.',
  effect: 'read',
  input: z.object({
    bank_type: bankType.optional(),
    bank_id: bankId.optional(),
    skip: z.int().min(0).max(1_000_000).optional(),
  }),
  meta: {
    use_when: 'The user asks for the memory banks, or you do not know which one to use',
    pairs_with: ['activate', 'swap'],
    examples: [{}, { bank_type: 'code' }],
  },
  async handle(context, args) {
    const { bank_type, bank_id, skip = 0 } = args;
    if (bank_id !== undefined) {
      if (!bank_type) throw invalid(['bank_type'], 'is required with bank_id', 'missing');
      return oneBank(context, bankName({ bank_type, bank_id }), skip);
    }
    const answer: JsonObject = {};
    let note: string | undefined;
    for (const type of bank_type ? [bank_type] : bankTypes) {
      try {
        answer[folders[type]] = await entries(context, type);
      } catch (thrown) {
        // Without a project the global banks are still listed; only an explicit type fails.
        if (bank_type || !isNoProject(thrown)) throw thrown;
        answer[folders[type]] = [];
        note = thrown.text;
      }
    }
    return { ...answer, ...(note !== undefined && { note }) };
  },
});

/** Describes one bank with the sorted names of its files, as many as fit. */
async function oneBank(context: Context, name: BankName, skip: number): Promise<JsonObject> {
  const bank = await openBank(await storeOf(context, name.type), name);
  const names = [...textsOf(bank, await readSources(context, bank)).keys()].sort();
  const files = namesWithin(names.slice(skip), filesBudget);
  const next = skip + files.length;
  const more = next < names.length && { next_skip: next };
  const described = { ...(await entry(context, bank)), files, total: names.length, ...more };
  return { [folders[name.type]]: [described] };
}

async function entries(context: Context, type: BankType): Promise<JsonObject[]> {
  const banks = await listBanks(await storeOf(context, type), type);
  const found = await Promise.all(banks.map((bank) => entry(context, bank)));
  return found.sort(
    (a, b) => compareTexts(b.last_used ?? '', a.last_used ?? '') || compareTexts(a.id, b.id),
  );
}

async function entry(context: Context, bank: Bank) {
  const { active, temporary } = statusInSession(context, bank);
  return {
    id: bank.id,
    last_used: (await lastUse(context, bank)) ?? lastUpdated(bank) ?? null,
    description: describe(bank),
    ...(active ? { active } : {}),
    ...(temporary ? { temporary } : {}),
  };
}

/** Returns the first sentence of the bank's main document, above the list of its sources. */
function describe(bank: Bank): string {
  const text = bank.files.find(({ file }) => file === mainFile[bank.type])?.value.body ?? '';
  const [own = ''] = text.split(`\n## ${sourcesHeading}`);
  return firstSentence(own, 120) || descriptions[bank.type];
}

function isNoProject(thrown: unknown): thrown is MemoryError {
  return thrown instanceof MemoryError && thrown.code === 'no_project';
}
