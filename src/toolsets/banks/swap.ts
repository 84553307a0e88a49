import * as z from 'zod';
import { defineTool } from '../../core/declarations/tool.ts';
import { bankId, bankName, bankType, openBank, storeOf } from './bank.ts';
import { activation } from './bank-activation.ts';
import { enter, noteUse } from './conversation.ts';

/** Changes to another bank that exists (seed 001, `swap`). */
export const swap = defineTool({
  name: 'swap',
  title: 'Swap to another memory bank',
  description:
    'Change to another bank that exists, or read single files of it, when the conversation moves to another project. activate creates one.',
  effect: 'read',
  setsSession: true,
  input: z.object({
    bank_type: bankType,
    bank_id: bankId,
    temporary: z.boolean().default(false).describe('Read only: no updates in this session'),
    merge_files: z
      .array(z.string().max(300))
      .max(50)
      .optional()
      .describe('Return only these files (doc/api.md) or sections (doc/api.md#Errors), whole'),
  }),
  meta: {
    use_when: 'The conversation moves to another project or context, or a file is needed whole',
    pairs_with: ['list', 'update'],
    examples: [{ bank_type: 'code', bank_id: 'my-repo', merge_files: ['doc/api.md'] }],
  },
  async handle(context, args) {
    const name = bankName(args);
    const bank = await openBank(await storeOf(context, name.type), name);
    enter(context, name, { temporary: args.temporary });
    await noteUse(context, bank);
    // Some clients send [] for an optional list: it means no restriction.
    return activation(context, bank, args.merge_files?.length ? args.merge_files : undefined);
  },
});
