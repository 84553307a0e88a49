import * as z from 'zod';
import { type Context, timestamp } from '../../core/declarations/context.ts';
import { defineTool } from '../../core/declarations/tool.ts';
import { afterCommit } from '../../core/memory/after-commit.ts';
import {
  type Bank,
  type BankName,
  bankId,
  bankName,
  bankType,
  findBank,
  label,
  newFolder,
  openBank,
  storeOf,
  trueName,
} from './bank.ts';
import { activation, newActivation } from './bank-activation.ts';
import { bankDocument } from './bank-document.ts';
import { enter, noteUse } from './conversation.ts';
import { firstScore } from './summary-relevance.ts';
import { usualSources } from './summary-sources.ts';
import { defaultFiles } from './template.ts';

/** Opens a bank, and creates it first if it does not exist (seed 001, `activate`). */
export const activate = defineTool({
  name: 'activate',
  title: 'Activate a memory bank',
  description:
    'Use a bank of notes (global: for all projects; project; code) and the instructions to maintain it; create it if new. Use at the start of a conversation; swap changes to another one.',
  effect: 'write',
  idempotent: true,
  setsSession: true,
  input: z.object({
    bank_type: bankType,
    bank_id: bankId.describe('Project or repository name'),
  }),
  meta: {
    use_when: 'At the beginning of a conversation, to establish context',
    pairs_with: ['update', 'swap'],
    examples: [{ bank_type: 'code', bank_id: 'my-repo' }],
  },
  async handle(context, args) {
    const name = bankName(args);
    const found = await findBank(await storeOf(context, name.type), name);
    const bank = found ?? (await create(context, name));
    enter(context, name, { temporary: false });
    await noteUse(context, bank);
    const open = () => activation(context, bank);
    return found ? open() : afterCommit(context, open, newActivation(bank));
  },
});

async function create(context: Context, name: BankName): Promise<Bank> {
  const store = await storeOf(context, name.type);
  const sources = name.type === 'code' ? await usualSources(context) : [];
  const created = timestamp(context.now());
  return store.change({ subject: `create ${label(name)}` }, async (transaction) => {
    // Another session may have created the bank meanwhile.
    const { folder } = (await findBank(transaction, name)) ?? {
      folder: await newFolder(transaction, name),
    };
    for (const [file, body] of defaultFiles(name, sources)) {
      const key = `${folder}/${file}`;
      // If the mode hides the document, `get` refuses.
      if (await transaction.get(bankDocument, key)) continue;
      await transaction.put(bankDocument, {
        key,
        ...trueName({ folder, id: name.id }),
        last_updated: created,
        version: 1,
        relevance_score: firstScore,
        body,
      });
    }
    return openBank(transaction, name);
  });
}
