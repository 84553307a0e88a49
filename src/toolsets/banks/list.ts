import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { MemoryError } from '../../core/error.ts';
import type { JsonObject } from '../../core/json.ts';
import { defineTool } from '../../core/tool.ts';
import { lastUpdated } from './activation.ts';
import { type Bank, bankType, listBanks, storeOf } from './bank.ts';
import { type BankType, bankTypes, folders } from './bank-type.ts';
import { lastUse, standing } from './conversation.ts';
import { firstSentence } from './summary.ts';
import { mainFile, sourcesHeading } from './template.ts';

/** How a bank is described that does not yet describe itself. */
const descriptions = {
  global: 'Memory of conversations outside of projects',
  project: 'Memory of a project',
  code: 'Memory of a codebase',
} as const;

/** Tells which banks there are (seed 001, `list`; 1.19). */
export const list = defineTool({
  name: 'list',
  title: 'List memory banks',
  description: 'List the memory banks, last used first. Use to choose one or when the user asks.',
  effect: 'read',
  input: z.object({ bank_type: bankType.optional() }),
  meta: {
    use_when: 'The user wants to see the memory banks, or it is open which one to use',
    pairs_with: ['activate', 'swap'],
    examples: [{}, { bank_type: 'code' }],
  },
  async handle(context, args) {
    const answer: JsonObject = {};
    let note: string | undefined;
    for (const type of args.bank_type ? [args.bank_type] : bankTypes) {
      try {
        answer[folders[type]] = await entries(context, type);
      } catch (thrown) {
        // Without a project the global banks are still served: only what was asked for by name fails.
        if (args.bank_type || !isNoProject(thrown)) throw thrown;
        answer[folders[type]] = [];
        note = thrown.text;
      }
    }
    return { ...answer, ...(note !== undefined && { note }) };
  },
});

async function entries(context: Context, type: BankType): Promise<JsonObject[]> {
  const banks = await listBanks(storeOf(context, type), type);
  const told = await Promise.all(
    banks.map(async (bank) => {
      const { active, temporary } = standing(context, bank);
      return {
        id: bank.id,
        last_used: (await lastUse(context, bank)) ?? lastUpdated(bank) ?? null,
        description: describe(bank),
        ...(active ? { active } : {}),
        ...(temporary ? { temporary } : {}),
      };
    }),
  );
  return told.sort((a, b) => compare(b.last_used ?? '', a.last_used ?? '') || compare(a.id, b.id));
}

/** What the bank's main document says first, above the list of its sources. */
function describe(bank: Bank): string {
  const text = bank.files.find(({ file }) => file === mainFile[bank.type])?.value.body ?? '';
  const [own = ''] = text.split(`\n## ${sourcesHeading}`);
  return firstSentence(own, 120) || descriptions[bank.type];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isNoProject(thrown: unknown): thrown is MemoryError {
  return thrown instanceof MemoryError && thrown.code === 'no_project';
}
